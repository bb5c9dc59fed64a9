/** A process's report on one bucket: what it admitted since its last report, and how many callers wait. */
export type Report = {
  key: string
  /** The last shared state that this process received; null before the first. */
  expected: number | null
  /** The new state, if no other process has admitted anything since. */
  mine: number
  /** When the first reported unit was admitted. */
  since: number
  admitted: number
  waiting: number
}

/**
 * The answer to a report: the state with the admissions of all processes, and how many waiting callers are
 * admitted.
 */
export type Settlement = { key: string; tat: number; granted: number }

/** What a bucket holds now. */
export type Left = {
  units: number
  /** When it is full again, in milliseconds from now. */
  fullInMs: number
}

const mustWait = -1

/** Called with 0 when the caller is admitted, else with the milliseconds until a retry is worthwhile. */
type Waiter = (waitMs: number) => void

type Bucket = {
  /** As this process knows it, including its own admissions. */
  tat: number
  reported: number | null
  since: number
  admitted: number
  waiters: Waiter[]
  /** A report that is not answered yet. */
  inFlight: { admitted: number; since: number; waiters: Waiter[] } | undefined
}

/**
 * The share of the burst that all processes together may admit without a report: at worst the limit is exceeded
 * by this.
 */
const unreportedShare = 0.04
/** For a small burst, the largest excess when each process has one unreported unit. */
const maxExcessShare = 0.05
/** For a small burst, the largest share that may be held back to stay within that excess. */
const maxHeldBackShare = 0.1

export type MeterOptions = {
  /** The most buckets that are kept: addresses can be made up faster than buckets expire. */
  maxBuckets?: number
}
const defaultMaxBuckets = 100_000
/** The share of buckets to drop at once, because dropping one takes as much work as dropping many. */
const roomShare = 0.1

/**
 * One process's part in a shared limit. It admits calls on its own knowledge and reports them in batches. Only
 * when it has used its allowance without an answer, callers wait for one. When it is the only process it is
 * exact, no caller waits, and it need not report admissions within its allowance. It has no clock and sends
 * nothing: see `limiter.ts`.
 */
export class Meter {
  readonly #rate: Rate
  readonly #maxBuckets: number
  #gcra: Gcra
  readonly #buckets = new Map<string, Bucket>()
  /** Buckets with something to report. */
  readonly #changed = new Set<string>()
  /** Buckets whose few admissions need no report while this is the only process. */
  readonly #kept = new Set<string>()
  #urgent = false
  #processes = 1
  #alone = true
  #connected = true
  #allowance: number

  constructor(rate: Rate, { maxBuckets = defaultMaxBuckets }: MeterOptions = {}) {
    this.#rate = rate
    this.#maxBuckets = maxBuckets
    this.#gcra = gcraOf(rate)
    this.#allowance = aloneAllowance(rate.burst)
  }

  /** The rate that buckets are settled with now. */
  get gcra(): Gcra {
    return this.#gcra
  }

  /**
   * Whether a report should be sent at once instead of with the next batch. Never while the shared buckets are
   * unreachable.
   */
  get isUrgent(): boolean {
    return this.#urgent && this.#connected
  }

  get size(): number {
    return this.#buckets.size
  }

  /**
   * @param counted whether the other processes leave this one its share; without it, only the shared state decides
   * @returns 0 when the call is admitted; a negative number when the shared state is needed, see `wait`; else
   *   the milliseconds until a unit is free
   */
  admit(key: string, now: number, counted = true): number {
    const bucket = this.#bucket(key, now)
    const ownShare = counted && (this.#alone || unreported(bucket) < this.#allowance)
    if (ownShare || !this.#connected) return this.#decide(key, bucket, now)
    return waitMs(this.#gcra, bucket.tat, now) || mustWait
  }

  /** What is left in a bucket, as far as this process knows. */
  left(key: string, now: number): Left {
    const { intervalMs, toleranceMs } = this.#gcra
    const fullInMs = Math.max(0, (this.#buckets.get(key)?.tat ?? 0) - now)
    const units = Math.floor((toleranceMs - fullInMs + roundingMs) / intervalMs)
    return { units: Math.max(0, units), fullInMs }
  }

  /** Queues a caller that `admit` could not decide at once. */
  wait(key: string, waiter: Waiter): void {
    this.#buckets.get(key)?.waiters.push(waiter)
    this.#changed.add(key)
    this.#urgent = true
  }

  /**
   * Takes what there is to report; `settle` or `fail` must follow before the next report.
   * @param all includes admissions that need no report while this is the only process
   */
  report(all = !this.#alone): Report[] {
    if (all) this.#reportKept()
    const reports: Report[] = []
    for (const key of this.#changed) {
      const bucket = this.#buckets.get(key)
      if (!bucket) continue
      const { tat: mine, reported: expected, admitted, waiters } = bucket
      // Nothing was admitted, so there is no time.
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

  /** The report failed: it is sent again, and until then this process decides alone. */
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

  /** Decides for the waiting callers by what this process knows, until the shared buckets answer again. */
  giveUp(now: number): void {
    this.#connected = false
    for (const [key, bucket] of this.#buckets) {
      const waiters = [...(bucket.inFlight?.waiters.splice(0) ?? []), ...bucket.waiters.splice(0)]
      for (const waiter of waiters) waiter(this.#decide(key, bucket, now))
    }
  }

  /** Starts from the shared state of earlier processes. */
  resume(states: readonly Pick<Settlement, 'key' | 'tat'>[]): void {
    for (const { key, tat } of states) {
      if (this.#buckets.has(key)) continue
      this.#buckets.set(key, { tat, reported: tat, since: 0, admitted: 0, waiters: [], inFlight: undefined })
    }
  }

  /** @returns whether it is another number than before */
  setProcesses(count: number): boolean {
    if (count === this.#processes) return false
    this.#processes = count
    const { perMinute, burst } = this.#rate
    this.#alone = count <= 1
    const share = Math.floor((burst * unreportedShare) / count)
    // With a small burst, each process may leave one unit unreported if the others' possible units are held
    // back.
    const heldBack = this.#alone || share >= 1 ? 0 : Math.max(0, count - burst * maxExcessShare)
    const oneEach = heldBack <= burst * maxHeldBackShare
    this.#gcra = gcraOf({ perMinute, burst: oneEach ? burst - heldBack : burst })
    // A very small burst, or one shared by many processes, has no room for unreported units: every caller waits
    // for the shared state.
    this.#allowance = this.#alone ? aloneAllowance(burst) : share >= 1 ? share : oneEach ? 1 : 0
    return true
  }

  #reportKept(): void {
    for (const key of this.#kept) this.#changed.add(key)
    this.#kept.clear()
  }

  /**
   * Drops full buckets, which are the same as unknown ones. Their unreported admissions may matter to other
   * processes, but not to this one.
   */
  forget(now: number): void {
    for (const [key, bucket] of this.#buckets) {
      if (bucket.tat > now || !isIdle(bucket) || (bucket.admitted > 0 && !this.#alone)) continue
      this.#drop(key)
    }
  }

  /**
   * Drops the oldest buckets when there are too many: a caller with that many addresses gains nothing from
   * another full bucket.
   */
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

  /**
   * Whether this many admissions should be reported soon: more than half of the allowance, or more than all of
   * it when it is 0 or 1.
   */
  #isMuch(admitted: number): boolean {
    return admitted > (this.#allowance > 1 ? (this.#allowance - 1) / 2 : this.#allowance)
  }

  /** Decides without the other processes. */
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
    // At least 1 ms, because a caller that was not admitted has to retry.
    const wait = Math.max(1, waitMs(this.#gcra, bucket.tat, now))
    for (const [index, waiter] of waiters.entries()) waiter(index < granted ? 0 : wait)
  }
}

/** The units lost when the only process is killed: no more than several processes may exceed the limit by. */
const aloneAllowance = (burst: number): number => Math.floor(burst * maxExcessShare)
const isIdle = ({ waiters, inFlight }: Bucket): boolean => waiters.length === 0 && !inFlight
const unreported = ({ admitted, inFlight }: Bucket): number => admitted + (inFlight?.admitted ?? 0)

/** `perMinute` sustained, and up to `burst` at once after a pause. */
export type Rate = { perMinute: number; burst: number }

/** A rate in the algorithm's terms, in milliseconds. */
export type Gcra = {
  /** A unit becomes free after each interval. */
  intervalMs: number
  /** How far ahead of the current time a bucket may be used. */
  toleranceMs: number
}

export function gcraOf({ perMinute, burst }: Rate): Gcra {
  const intervalMs = 60_000 / perMinute
  return { intervalMs, toleranceMs: burst * intervalMs }
}

/** Rounding errors of fractional intervals stay below this, and must not cost a caller a unit. */
export const roundingMs = 0.05

/**
 * The generic cell rate algorithm: a token bucket whose only state is the time at which it will be full again.
 * @param tat that time in milliseconds, the theoretical arrival time; in the past for a full bucket
 * @returns 0 when a unit is free now, else the milliseconds until one is
 * @see https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm
 */
export function waitMs({ intervalMs, toleranceMs }: Gcra, tat: number, now: number): number {
  const over = Math.max(tat, now) + intervalMs - toleranceMs - now
  return over > roundingMs ? over : 0
}

/** The clocks of processes that share a limit differ by less than this. */
const clocksDifferMs = 300_000

/**
 * The latest valid time at which a bucket can be full again. A later one was written by a process whose clock
 * was ahead, and is ignored.
 */
export const latestTat = ({ toleranceMs }: Gcra, now: number): number =>
  now + 2 * toleranceMs + clocksDifferMs

/** The state after taking a unit now. */
export const spent = ({ intervalMs }: Gcra, tat: number, now: number): number =>
  Math.max(tat, now) + intervalMs
