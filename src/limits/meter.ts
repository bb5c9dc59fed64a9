import { type Gcra, gcraOf, type Rate, spent, waitMs } from './gcra.ts'

/** What a process tells of one bucket: what it has admitted since it last told, and how many wait for an answer. */
export type Report = {
  key: string
  /** The state that this process was told last; null when it has never been told. */
  expected: number | null
  /** The state as it is if nobody else has admitted anything since then. */
  mine: number
  /** When the first of what is told was admitted. */
  since: number
  admitted: number
  waiting: number
}

/** What comes back: the state with everything told by everybody, and how many of those that wait may go. */
export type Settlement = { key: string; tat: number; granted: number }

const mustWait = -1

/** Told 0 when it may go, else the milliseconds until it is worth trying again. */
type Waiter = (waitMs: number) => void

type Bucket = {
  /** As far as this process knows, with all that it has admitted. */
  tat: number
  told: number | null
  since: number
  admitted: number
  waiters: Waiter[]
  /** Told, and not answered yet. */
  telling: { admitted: number; since: number; waiters: Waiter[] } | undefined
}

/**
 * Of the burst, what all processes together may have admitted without having told: so much more than the limit can
 * get through at worst.
 */
const untoldShare = 0.04
/** What a share of one unit each may come to. */
const mostUntoldShare = 0.05

/**
 * One process's part in a limit that several share. It admits at once on what it knows, and tells afterwards, in
 * batches; only when it has admitted its allowance without an answer, callers wait for one. Alone it is exact, and
 * nobody ever waits. It has no clock and sends nothing: see `limiter.ts`.
 */
export class Meter {
  readonly #rate: Rate
  readonly #gcra: Gcra
  readonly #buckets = new Map<string, Bucket>()
  /** Those with something to tell. */
  #changed = new Set<string>()
  #urgent = false
  #alone = true
  #heard = true
  #allowance: number

  constructor(rate: Rate) {
    this.#rate = rate
    this.#gcra = gcraOf(rate)
    this.#allowance = Math.floor(rate.burst * untoldShare)
  }

  /** Whether something should be told at once rather than with the next round. Nothing is while nobody listens. */
  get isUrgent(): boolean {
    return this.#urgent && this.#heard
  }

  get size(): number {
    return this.#buckets.size
  }

  /** @returns 0: go. Negative: it has to be told first, see `wait`. Else the milliseconds until one is free */
  admit(key: string, now: number): number {
    const bucket = this.#bucket(key)
    if (this.#alone || !this.#heard || untold(bucket) < this.#allowance) return this.#decide(key, bucket, now)
    return waitMs(this.#gcra, bucket.tat, now) || mustWait
  }

  /** Queues a caller that `admit` could not answer at once. */
  wait(key: string, waiter: Waiter): void {
    this.#bucket(key).waiters.push(waiter)
    this.#changed.add(key)
    this.#urgent = true
  }

  /** What there is to tell now; it is answered by `settle` or `fail` before the next. */
  report(): Report[] {
    const changed = [...this.#changed]
    this.#changed = new Set()
    this.#urgent = false
    return changed.map((key) => {
      const bucket = this.#bucket(key)
      const { tat: mine, told: expected, admitted, waiters } = bucket
      // Nothing was admitted at no time.
      const since = admitted > 0 ? bucket.since : -1
      bucket.telling = { admitted, since, waiters }
      bucket.admitted = 0
      bucket.waiters = []
      return { key, expected, mine, since, admitted, waiting: waiters.length }
    })
  }

  settle(settlements: readonly Settlement[], now: number): void {
    this.#heard = true
    for (const settlement of settlements) this.#settleOne(settlement, now)
  }

  /** Nobody heard it. It is told again, and meanwhile this process decides alone. */
  fail(now: number): void {
    for (const [key, bucket] of this.#buckets) {
      if (!bucket.telling) continue
      const { admitted, since, waiters } = bucket.telling
      bucket.telling = undefined
      bucket.waiters.unshift(...waiters)
      if (admitted === 0) continue
      bucket.since = since
      bucket.admitted += admitted
      this.#changed.add(key)
    }
    this.giveUp(now)
  }

  /** Those that have waited long enough are answered on what is known here, as others are until it is heard again. */
  giveUp(now: number): void {
    this.#heard = false
    for (const [key, bucket] of this.#buckets) {
      const waiters = [...(bucket.telling?.waiters.splice(0) ?? []), ...bucket.waiters.splice(0)]
      for (const waiter of waiters) waiter(this.#decide(key, bucket, now))
    }
  }

  setProcesses(count: number): void {
    const { burst } = this.#rate
    const share = Math.floor((burst * untoldShare) / count)
    this.#alone = count <= 1
    // A small limit shared by many has no room for anything untold: everybody waits to be told.
    this.#allowance = share >= 1 ? share : count <= burst * mostUntoldShare ? 1 : 0
  }

  /** Forgets buckets that are full, which is what unknown ones are. */
  forget(now: number): void {
    for (const [key, { tat, admitted, waiters, telling }] of this.#buckets) {
      if (tat <= now && admitted === 0 && waiters.length === 0 && !telling) this.#buckets.delete(key)
    }
  }

  #bucket(key: string): Bucket {
    const known = this.#buckets.get(key)
    if (known !== undefined) return known
    const full: Bucket = { tat: 0, told: null, since: 0, admitted: 0, waiters: [], telling: undefined }
    this.#buckets.set(key, full)
    return full
  }

  /** As if there were nobody else. */
  #decide(key: string, bucket: Bucket, now: number): number {
    const wait = waitMs(this.#gcra, bucket.tat, now)
    if (wait > 0) return wait
    bucket.tat = spent(this.#gcra, bucket.tat, now)
    if (bucket.admitted === 0) bucket.since = now
    bucket.admitted++
    this.#changed.add(key)
    if (bucket.admitted * 2 >= this.#allowance) this.#urgent = true
    return 0
  }

  #settleOne({ key, tat, granted }: Settlement, now: number): void {
    const bucket = this.#buckets.get(key)
    if (!bucket?.telling) return
    const { waiters } = bucket.telling
    bucket.telling = undefined
    const { intervalMs } = this.#gcra
    const own = granted > 0 ? Math.max(bucket.tat, now) + granted * intervalMs : bucket.tat
    bucket.tat = Math.max(own, tat + bucket.admitted * intervalMs)
    bucket.told = tat
    // At least a moment: whoever was not granted a unit has to come again.
    const wait = Math.max(1, waitMs(this.#gcra, bucket.tat, now))
    for (const [index, waiter] of waiters.entries()) waiter(index < granted ? 0 : wait)
  }
}

const untold = ({ admitted, telling }: Bucket): number => admitted + (telling?.admitted ?? 0)
