import type { Place } from '../keyset.ts'
import { type Facts, factsFrom, newFacts, textOf } from './facts.ts'
import { type Look, type Notice, noticesOf } from './notices.ts'
import type { Clock, Storage } from './ports.ts'
import { noticeSeconds, randomId } from './ports.ts'
import { type Circumstances, stateOf } from './state.ts'
import { endOf, type State } from './states.ts'
import { notice } from './take.ts'

/** Holds the facts, stores them, and says which state follows. */
export type Keeper = {
  /** Reads the storage; another window or process may have written to it. */
  load(): Promise<Facts>
  /** Stores what a step makes of the facts. @returns whether the storage has them */
  change(step: (facts: Facts, now: number) => Facts): Promise<boolean>
  /** Notes whether the last attempt reached the server. */
  reached(successful: boolean): void
  state(): State
  now(): number
  subscribe(listener: (state: State) => void): () => void
  onNotice(listener: (notice: Notice) => void): () => void
  /** Calls the listeners when the state has changed, also by itself, as when a lease ends. @returns the end of the state */
  announce(): number | undefined
}

type Settings = {
  place: Place
  storage: Storage
  clock: Clock
  keys: Facts['keys']
  circumstances: () => Circumstances
  /** How many days before its end a license ends soon. */
  expiringDays: number
  /** Called when the storage fails; the app goes on with what it has in memory. */
  onStorageError: (error: unknown) => void
}

export function createKeeper({
  place,
  storage,
  clock,
  keys,
  circumstances,
  expiringDays,
  onStorageError,
}: Settings): Keeper {
  const listeners = createListeners<State>()
  const noticed = createListeners<Notice>()
  let facts: Facts | undefined
  /** What the storage is known to hold; another text is of another window or process. */
  let known: string | undefined
  let failing = false
  let announced = ''
  let last: Look | undefined

  const now = () => Math.floor(clock.now() / 1000)
  let storedSeen = 0
  const state = () => {
    if (facts) facts = notice(facts, now())
    // Otherwise a program that is ended and started again would not know the time that it has seen.
    if (facts && facts.seen >= storedSeen + noticeSeconds) {
      void store(facts)
    }
    return stateOf(facts, now(), { ...circumstances(), failing })
  }
  const announce = () => {
    const present = state()
    const text = JSON.stringify(present)
    if (text !== announced) {
      announced = text
      listeners.tell(present)
    }
    const look = { state: present, at: now() }
    const notices = noticesOf(last ?? starting, look, expiringDays)
    last = look
    for (const one of notices) noticed.tell(one)
    return endOf(present)
  }
  const attempt = async <T>(step: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await step()
    } catch (error) {
      onStorageError(error)
      return undefined
    }
  }
  let writing = Promise.resolve(true)
  /** One write after another, each of the newest facts. */
  const store = (next: Facts): Promise<boolean> => {
    facts = next
    storedSeen = next.seen
    writing = writing.then(async () => {
      const text = textOf(facts ?? next)
      if (text === known) return true
      const written = await attempt(async () => {
        await storage.write(text)
        known = text
        return true
      })
      return written ?? false
    })
    return writing
  }

  return {
    async load() {
      await writing
      const text = await attempt(() => storage.read())
      if (!facts || (text !== undefined && text !== known)) {
        const stored = factsFrom(text, place, keys)
        facts = stored ? together(stored, facts) : (facts ?? newFacts(randomId(), keys))
        known = text
        announce()
      }
      return facts
    },
    async change(step) {
      const stored = await store(notice(step(facts ?? newFacts(randomId(), keys), now()), now()))
      announce()
      return stored
    },
    reached(successful) {
      failing = !successful
      announce()
    },
    state,
    now,
    subscribe: listeners.add,
    onNotice: noticed.add,
    announce,
  }
}

/** What another window has stored, with the times that this one has seen; after a newer proof they begin anew. */
const together = (stored: Facts, own: Facts | undefined): Facts =>
  own && own.signedAt >= stored.signedAt ? { ...stored, seen: Math.max(stored.seen, own.seen) } : stored

/** Before anything was looked at. */
const starting: Look = { state: { status: 'starting', clockSetBack: false }, at: 0 }

type Listener<Told> = (told: Told) => void

function createListeners<Told>() {
  const listeners = new Set<Listener<Told>>()
  return {
    /** @returns what takes the listener away */
    add(listener: Listener<Told>): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    tell(told: Told): void {
      for (const listener of [...listeners]) call(() => listener(told))
    },
  }
}

/** A listener that throws must not end a call; its error is reported like that of an event handler. */
function call(listener: () => void): void {
  try {
    listener()
  } catch (error) {
    setTimeout(() => {
      throw error
    })
  }
}
