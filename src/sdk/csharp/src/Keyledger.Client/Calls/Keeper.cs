using System;
using System.Collections.Generic;
using System.Threading;
using Keyledger.Client.Facts;
using Keyledger.Client.Signed;
using Keyledger.Client.Text;

namespace Keyledger.Client.Calls;

/// <summary>Holds the facts, stores them, and says which state follows. All of it may be called from any thread.</summary>
internal sealed class Keeper(ClientOptions options, IClock clock, Func<LeasedDevice?> device)
{
    /// <summary>How far the clock goes on before its time is stored.</summary>
    private const long NoticeSeconds = 60;

    private readonly object gate = new();
    private readonly object writing = new();
    private readonly List<Action<State>> listeners = new();
    private readonly Queue<State> toTell = new();
    private Known? known;
    /// <summary>What the storage is known to hold; another text is of another process.</summary>
    private string? stored;
    private long storedSeen;
    private bool isFailing;
    private bool isTelling;
    private string told = "";

    public long Now => clock.Now.ToUnixTimeSeconds();

    /// <summary>The present state. It waits neither for a network nor for another write.</summary>
    public State State()
    {
        State state;
        bool isDue;
        lock (gate)
        {
            var now = Now;
            known = known?.Notice(now);
            state = StateOf.Facts(
                known, now, new Circumstances(isFailing, device(), options.AppBuiltAt?.ToUnixTimeSeconds(), options.DefaultTrialDays));
            // Otherwise a program that is ended and started again would not know the time that it has seen.
            isDue = known is not null && known.Seen >= storedSeen + NoticeSeconds;
        }
        if (isDue && Monitor.TryEnter(writing))
        {
            try
            {
                Store();
            }
            finally
            {
                Monitor.Exit(writing);
            }
        }
        return state;
    }

    /// <summary>Reads the storage; another process may have written to it.</summary>
    public Known Load()
    {
        lock (writing)
        {
            var text = Attempt(options.Storage.Read);
            lock (gate)
            {
                if (known is null || (text is not null && text != stored))
                {
                    var read = KnownText.Read(text, options.Place, options.Keys);
                    known = read is not null ? Together(read, known) : known ?? NewFacts();
                    stored = text;
                }
            }
        }
        Announce();
        lock (gate) return known!;
    }

    /// <summary>Stores what a step makes of the facts; false when the storage fails.</summary>
    public bool Change(Func<Known, long, Known> step)
    {
        bool isStored;
        lock (writing)
        {
            lock (gate)
            {
                var now = Now;
                known = step(known ?? NewFacts(), now).Notice(now);
            }
            isStored = Store();
        }
        Announce();
        return isStored;
    }

    /// <summary>Takes what an answer or a text says. What became of it, or why it is not taken.</summary>
    public string Take(Func<Known, long, Taken> step)
    {
        var taken = Facts.Taken.Stale;
        Change((facts, now) =>
        {
            var result = step(facts, now);
            taken = result.As;
            return taken is Facts.Taken.Fresh or Facts.Taken.Same or Facts.Taken.Stale ? result.Known : facts;
        });
        return taken;
    }

    /// <summary>Notes whether the last attempt reached the server.</summary>
    public void Reached(bool isReached)
    {
        lock (gate) isFailing = !isReached;
        Announce();
    }

    /// <summary>Calls the listener with each new state, until the result is disposed.</summary>
    public IDisposable Subscribe(Action<State> listener)
    {
        lock (gate) listeners.Add(listener);
        return new Subscription(() =>
        {
            lock (gate) listeners.Remove(listener);
        });
    }

    /// <summary>Calls the listeners when the state has changed, also by itself, as when a lease ends. The present state.</summary>
    public State Announce()
    {
        var state = State();
        var text = state.ToString();
        lock (gate)
        {
            if (text == told) return state;
            told = text;
            toTell.Enqueue(state);
            // In their order, and without a lock that a listener could wait for.
            if (isTelling) return state;
            isTelling = true;
        }
        while (Next(out var next, out var all))
            foreach (var listener in all) Attempt(() => Call(listener, next));
        return state;
    }

    private bool Next(out State next, out Action<State>[] all)
    {
        lock (gate)
        {
            all = listeners.ToArray();
            isTelling = toTell.Count > 0;
            next = isTelling ? toTell.Dequeue() : null!;
            return isTelling;
        }
    }

    private static string? Call(Action<State> listener, State state)
    {
        listener(state);
        return null;
    }

    /// <summary>Writes the newest facts. Only called by whoever is the one to write.</summary>
    private bool Store()
    {
        Known newest;
        lock (gate)
        {
            newest = known!;
            storedSeen = newest.Seen;
        }
        var text = KnownText.Of(newest);
        if (text == stored) return true;
        var written = Attempt(() =>
        {
            options.Storage.Write(text);
            return text;
        });
        if (written is null) return false;
        stored = written;
        return true;
    }

    private string? Attempt(Func<string?> step)
    {
        try
        {
            return step();
        }
        catch (Exception error)
        {
            options.OnError?.Invoke(error);
            return null;
        }
    }

    private Known NewFacts() => new(Hex.Random(16), options.Keys);

    /// <summary>What another process has stored, with the times that this one has seen; after a newer proof they begin anew.</summary>
    private static Known Together(Known read, Known? own) =>
        own is not null && own.SignedAt >= read.SignedAt ? read with { Seen = Math.Max(read.Seen, own.Seen) } : read;

    private sealed class Subscription(Action end) : IDisposable
    {
        public void Dispose() => end();
    }
}
