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
  reported: number | null
  since: number
  admitted: number
  waiters: Waiter[]
  /** Told, and not answered yet. */
  inFlight: { admitted: number; since: number; waiters: Waiter[] } | undefined
}

/**
 * Of the burst, what all processes together may have admitted without having told: so much more than the limit can
 * get through at worst.
 */
const unreportedShare = 0.04
/** Of a small burst, how much more may get through at worst when each process has one unit untold. */
const maxExcessShare = 0.05
/** Of a small burst, what may be held back so that it does not come to more than that. */
const maxHeldBackShare = 0.1

export type MeterOptions = {
  /** How many buckets are kept at most: addresses are made up faster than they can be forgotten. */
  maxBuckets?: number
}
const defaultMaxBuckets = 100_000
/** Making room for one is as much work as making room for many. */
const roomShare = 0.1

/**
 * One process's part in a limit that several share. It admits at once on what it knows, and tells afterwards, in
 * batches; only when it has admitted its allowance without an answer, callers wait for one. Alone it is exact, nobody
 * ever waits, and what it would be allowed to keep to itself it does not tell. It has no clock and sends nothing: see
 * `limiter.ts`.
 */
export class Meter {
  readonly #rate: Rate
  readonly #maxBuckets: number
  #gcra: Gcra
  readonly #buckets = new Map<string, Bucket>()
  /** Those with something to tell. */
  readonly #changed = new Set<string>()
  /** Those with so little to tell that it matters to nobody as long as this process is alone, and lives. */
  readonly #kept = new Set<string>()
  #urgent = false
  #alone = true
  #connected = true
  #allowance: number

  constructor(rate: Rate, { maxBuckets = defaultMaxBuckets }: MeterOptions = {}) {
    this.#rate = rate
    this.#maxBuckets = maxBuckets
    this.#gcra = gcraOf(rate)
    this.#allowance = aloneAllowance(rate.burst)
  }

  /** The rate by which buckets are settled now. */
  get gcra(): Gcra {
    return this.#gcra
  }

  /** Whether something should be told at once rather than with the next round. Nothing is while nobody listens. */
  get isUrgent(): boolean {
    return this.#urgent && this.#connected
  }

  get size(): number {
    return this.#buckets.size
  }

  /** @returns 0: go. Negative: it has to be told first, see `wait`. Else the milliseconds until one is free */
  admit(key: string, now: number): number {
    const bucket = this.#bucket(key, now)
    if (this.#alone || !this.#connected || unreported(bucket) < this.#allowance)
      return this.#decide(key, bucket, now)
    return waitMs(this.#gcra, bucket.tat, now) || mustWait
  }

  /** Queues a caller that `admit` could not answer at once. */
  wait(key: string, waiter: Waiter): void {
    this.#buckets.get(key)?.waiters.push(waiter)
    this.#changed.add(key)
    this.#urgent = true
  }

  /**
   * What there is to tell now; it is answered by `settle` or `fail` before the next.
   * @param all also what may be kept to itself as long as it is alone
   */
  report(all = !this.#alone): Report[] {
    if (all) this.#reportKept()
    const reports: Report[] = []
    for (const key of this.#changed) {
      const bucket = this.#buckets.get(key)
      if (!bucket) continue
      const { tat: mine, reported: expected, admitted, waiters } = bucket
      // Nothing was admitted at no time.
      const since = admitted > 0 ? bucket.since : -1
      bucket.inFlight = { admitted, since, waiters }
      bucket.admitted = 0
      bucket.waiters = []
      reports.push({ key, expected, mine, since, admitted, waiting: waiters.length })
    }
    this.#changed.clear()
    this.#urgent = false
    return reports
  }

  settle(settlements: readonly Settlement[], now: number): void {
    this.#connected = true
    for (const settlement of settlements) this.#settleOne(settlement, now)
  }

  /** Nobody heard it. It is told again, and meanwhile this process decides alone. */
  fail(now: number): void {
    for (const [key, bucket] of this.#buckets) {
      if (!bucket.inFlight) continue
      const { admitted, since, waiters } = bucket.inFlight
      bucket.inFlight = undefined
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
    this.#connected = false
    for (const [key, bucket] of this.#buckets) {
      const waiters = [...(bucket.inFlight?.waiters.splice(0) ?? []), ...bucket.waiters.splice(0)]
      for (const waiter of waiters) waiter(this.#decide(key, bucket, now))
    }
  }

  /** Goes on from what processes before this one have told. */
  resume(told: readonly Pick<Settlement, 'key' | 'tat'>[]): void {
    for (const { key, tat } of told) {
      if (this.#buckets.has(key)) continue
      this.#buckets.set(key, { tat, reported: tat, since: 0, admitted: 0, waiters: [], inFlight: undefined })
    }
  }

  setProcesses(count: number): void {
    const { perMinute, burst } = this.#rate
    this.#alone = count <= 1
    const share = Math.floor((burst * unreportedShare) / count)
    // Of a small burst each may keep one unit to itself, if what the others may have admitted meanwhile is held back.
    const heldBack = this.#alone || share >= 1 ? 0 : Math.max(0, count - burst * maxExcessShare)
    const oneEach = heldBack <= burst * maxHeldBackShare
    this.#gcra = gcraOf({ perMinute, burst: oneEach ? burst - heldBack : burst })
    // A very small one, or one shared by many, has no room for anything untold: everybody waits to be told.
    this.#allowance = this.#alone ? aloneAllowance(burst) : share >= 1 ? share : oneEach ? 1 : 0
  }

  #reportKept(): void {
    for (const key of this.#kept) this.#changed.add(key)
    this.#kept.clear()
  }

  /**
   * Forgets buckets that are full, which is what unknown ones are. What was admitted from them and not told may still
   * matter to others, but not to this process.
   */
  forget(now: number): void {
    for (const [key, bucket] of this.#buckets) {
      if (bucket.tat > now || !isIdle(bucket) || (bucket.admitted > 0 && !this.#alone)) continue
      this.#drop(key)
    }
  }

  /** The oldest go when there are too many: whoever has so many addresses has no need of another full bucket. */
  #makeRoom(now: number): void {
    this.forget(now)
    const enough = this.#maxBuckets * (1 - roomShare)
    for (const [key, bucket] of this.#buckets) {
      if (this.#buckets.size <= enough) return
      if (isIdle(bucket)) this.#drop(key)
    }
  }

  #drop(key: string): void {
    this.#buckets.delete(key)
    this.#changed.delete(key)
    this.#kept.delete(key)
  }

  #bucket(key: string, now: number): Bucket {
    const known = this.#buckets.get(key)
    if (known !== undefined) return known
    if (this.#buckets.size >= this.#maxBuckets) this.#makeRoom(now)
    const full: Bucket = { tat: 0, reported: null, since: 0, admitted: 0, waiters: [], inFlight: undefined }
    this.#buckets.set(key, full)
    return full
  }

  /** Whether so much is better told soon: half of the allowance, or more than it when that is nothing or one. */
  #isMuch(admitted: number): boolean {
    return admitted > (this.#allowance > 1 ? (this.#allowance - 1) / 2 : this.#allowance)
  }

  /** As if there were nobody else. */
  #decide(key: string, bucket: Bucket, now: number): number {
    const wait = waitMs(this.#gcra, bucket.tat, now)
    if (wait > 0) return wait
    bucket.tat = spent(this.#gcra, bucket.tat, now)
    if (bucket.admitted === 0) bucket.since = now
    bucket.admitted++
    const much = this.#isMuch(bucket.admitted)
    if (much) this.#urgent = true
    if (much || !this.#alone) this.#changed.add(key)
    else this.#kept.add(key)
    return 0
  }

  #settleOne({ key, tat, granted }: Settlement, now: number): void {
    const bucket = this.#buckets.get(key)
    if (!bucket?.inFlight) return
    const { waiters } = bucket.inFlight
    bucket.inFlight = undefined
    const { intervalMs } = this.#gcra
    const own = granted > 0 ? Math.max(bucket.tat, now) + granted * intervalMs : bucket.tat
    bucket.tat = Math.max(own, tat + bucket.admitted * intervalMs)
    bucket.reported = tat
    // At least a moment: whoever was not granted a unit has to come again.
    const wait = Math.max(1, waitMs(this.#gcra, bucket.tat, now))
    for (const [index, waiter] of waiters.entries()) waiter(index < granted ? 0 : wait)
  }
}

/** What is lost when a process that was alone is killed: not more than several may pass the limit by. */
const aloneAllowance = (burst: number): number => Math.floor(burst * maxExcessShare)
const isIdle = ({ waiters, inFlight }: Bucket): boolean => waiters.length === 0 && !inFlight
const unreported = ({ admitted, inFlight }: Bucket): number => admitted + (inFlight?.admitted ?? 0)
