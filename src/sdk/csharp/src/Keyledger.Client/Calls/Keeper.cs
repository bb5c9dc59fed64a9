using System;
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
    private readonly Listeners listeners = new(options.OnError);
    private Known? known;
    /// <summary>What the storage is known to hold; another text is of another process.</summary>
    private string? stored;
    private long storedSeen;
    private bool isFailing;
    private string told = "";
    private Look last = Look.Starting;

    public long Now => clock.Now.ToUnixTimeSeconds();

    /// <summary>The present state. It waits neither for a network nor for another write.</summary>
    public State State()
    {
        Look look;
        lock (gate) look = Present();
        StoreTime();
        return look.State;
    }

    /// <summary>Reads the storage; another process may have written to it.</summary>
    public Known Load()
    {
        lock (writing)
        {
            var text = Attempt(options.Storage.Read);
            lock (gate)
            {
                if (known is not null && (text is null || text == stored)) return known;
                var read = KnownText.Read(text, options.Place, options.Keys);
                known = read is not null ? Together(read, known) : known ?? NewFacts();
                stored = text;
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

    /// <summary>Calls the listener with each new <see cref="State"/>, or each <see cref="Notice"/>, until the result is disposed.</summary>
    public IDisposable Subscribe<T>(Action<T> listener) => listeners.Add(listener);

    /// <summary>Calls the listeners when the state has changed, also by itself, as when a lease ends. The present state.</summary>
    public State Announce()
    {
        Look look;
        lock (gate)
        {
            look = Present();
            var text = look.State.ToString();
            if (text != told) listeners.Later(look.State);
            foreach (var notice in NoticesOf.Looks(last, look, options.ExpiringDays)) listeners.Later(notice);
            (told, last) = (text, look);
        }
        StoreTime();
        listeners.Tell();
        return look.State;
    }

    /// <summary>Looks at the state. Only called by whoever has the gate.</summary>
    private Look Present()
    {
        var now = Now;
        known = known?.Notice(now);
        var around = new Circumstances(isFailing, device(), options.AppBuiltAt?.ToUnixTimeSeconds(), options.DefaultTrialDays);
        return new Look(StateOf.Facts(known, now, around), now);
    }

    /// <summary>Otherwise a program that is ended and started again would not know the time that it has seen.</summary>
    private void StoreTime()
    {
        lock (gate)
            if (known is null || known.Seen < storedSeen + NoticeSeconds) return;
        if (!Monitor.TryEnter(writing)) return;
        try
        {
            Store();
        }
        finally
        {
            Monitor.Exit(writing);
        }
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
}
