using System;
using System.Collections.Generic;

namespace Keyledger.Client.Calls;

/// <summary>
/// Those who listen to states and to notices. They are called one after another, in the order in which things happened, and without a lock
/// that a listener could wait for.
/// </summary>
internal sealed class Listeners(Action<Exception>? onError)
{
    private readonly object gate = new();
    private readonly List<object> all = new();
    private readonly Queue<Action> toTell = new();
    private bool isTelling;

    /// <summary>Calls the listener with whatever of its type is told, until the result is disposed.</summary>
    public IDisposable Add<T>(Action<T> listener)
    {
        lock (gate) all.Add(listener);
        return new Subscription(() =>
        {
            lock (gate) all.Remove(listener);
        });
    }

    /// <summary>Puts something at the end of what is to be told; <see cref="Tell"/> tells it.</summary>
    public void Later<T>(T told)
    {
        lock (gate) toTell.Enqueue(() => Call(told));
    }

    /// <summary>Tells what is to be told, unless another thread, or a caller of this one, is about to.</summary>
    public void Tell()
    {
        lock (gate)
        {
            if (isTelling) return;
            isTelling = true;
        }
        try
        {
            while (Next() is { } tell) tell();
        }
        catch
        {
            // What an app does with errors has thrown: that ends its call, and not those after it.
            lock (gate) isTelling = false;
            throw;
        }
    }

    private Action? Next()
    {
        lock (gate)
        {
            isTelling = toTell.Count > 0;
            return isTelling ? toTell.Dequeue() : null;
        }
    }

    private void Call<T>(T told)
    {
        object[] present;
        lock (gate) present = all.ToArray();
        foreach (var one in present)
        {
            if (one is not Action<T> listener) continue;
            try
            {
                listener(told);
            }
            catch (Exception error)
            {
                onError?.Invoke(error);
            }
        }
    }

    private sealed class Subscription(Action end) : IDisposable
    {
        public void Dispose() => end();
    }
}
