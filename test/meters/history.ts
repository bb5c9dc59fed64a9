import fc from 'fast-check'
import { expect } from 'vitest'

/** One request about a meter, or one about an earlier one. */
export const steps = fc.array(
  fc.record({
    do: fc.constantFrom(
      ...(['use', 'use', 'use', 'hold', 'commit', 'release', 'credit', 'correct', 'again', 'wait'] as const),
      ...(['allow', 'allow', 'report', 'report', 'report', 'giveBack'] as const),
    ),
    amount: fc.bigInt({ min: 1n, max: 12_000_000n }),
    which: fc.nat(3),
    process: fc.nat(2),
    /** Before, after or not at the append; then it is repeated, perhaps by another process. */
    dies: fc.constantFrom('no', 'no', 'no', 'before', 'after'),
    isVisible: fc.boolean(),
    /** Whether a device reports what it used before its allowance ended, or what it uses now. */
    isEarlier: fc.boolean(),
  }),
  // Few that are long find more than many that are short: what a step depends on came before.
  { minLength: 1, maxLength: 25, size: 'medium' },
)
type Steps = typeof steps extends fc.Arbitrary<infer Of> ? Of : never
export type Step = Steps[number]

/** How much a period includes, in millionths. */
export const included = 30_000_000n

type Keyed = { key: string; amount: bigint }
type Standing = { remaining: bigint; overage: bigint }
/** @param usedAt undefined for now */
type Reported = Keyed & { allowanceId: string; usedAt: number | undefined }

/** The meter of one license, asked until it answers, whatever dies meanwhile. */
export type Asked = {
  /** @returns undefined for a key that was counted with another amount */
  use(step: Step, keyed: Keyed): Promise<(Standing & { allowed: boolean }) | undefined>
  /** @returns the hold; null when there is not enough for it */
  hold(step: Step, keyed: Keyed): Promise<{ holdId: string | null; remaining: bigint }>
  /** @returns whether it is counted */
  commit(step: Step, holdId: string, amount: bigint): Promise<boolean>
  release(step: Step, holdId: string): Promise<void>
  credit(step: Step, keyed: Keyed): Promise<void>
  /** @returns whether it is taken off */
  correct(step: Step, keyed: Keyed): Promise<boolean>
  /** Keeps an amount for the device. @returns the id, of which a signed lease says the same; or why there is none */
  allow(step: Step, keyed: Keyed): Promise<{ allowanceId: string; remaining: bigint } | { reason: string }>
  /** The device reports a use under its allowance. */
  report(step: Step, use: Reported): Promise<{ allowed: boolean; remaining: bigint }>
  giveBack(step: Step, allowanceId: string): Promise<void>
  /** In the end, with the keys of the uses. */
  standing(): Promise<{ used: bigint; remaining: bigint; keys: (string | null)[] }>
  /** What the hours and what the days add up to in the end, by period. */
  overTime?(): Promise<ReadonlyMap<string, bigint>[]>
  /** What passes between two steps; undefined where all of a history is at one moment and in one period. */
  time?: Time
  /** Lets the read models see what was counted. */
  catchUp?(): Promise<void>
}

type Time = {
  now(): number
  wait(ms: number): void
  holdMs: number
  allowanceMs: number
  periodOf(at: number): string
  /** Infinity for one that does not end. */
  endOf(period: string): number
}

/** All of a history is at one moment. */
const oneMoment: Time = {
  now: () => 0,
  wait: () => undefined,
  holdMs: 1,
  allowanceMs: 1,
  periodOf: () => 'all',
  endOf: () => Number.POSITIVE_INFINITY,
}

/** For how long after its end uses are counted in a period, and out of an allowance. */
const lateMs = 7 * 86_400_000
/** How many allowances a device has at most. */
const mostAllowances = 5

/** Only sums: what was used and corrected, by the start of the period, what was credited in all, and what is held until when. */
function createModel() {
  const used = new Map<string, bigint>()
  const holds = new Map<string, { period: string; amount: bigint; endsAt: number }>()
  let credited = 0n
  const usedIn = (period: string) => used.get(period) ?? 0n
  const remaining = (period: string, now: number) => {
    let left = included + credited - usedIn(period)
    for (const hold of holds.values()) if (hold.period === period && hold.endsAt > now) left -= hold.amount
    return left
  }
  return {
    used,
    usedIn,
    remaining,
    holds,
    add: (period: string, amount: bigint) => used.set(period, usedIn(period) + amount),
    credit: (amount: bigint) => {
      credited += amount
    },
  }
}

/** Goes through a history, and compares each answer and what is left in the end with a model that only adds up. */
export async function runHistory(asked: Asked, history: readonly Step[]): Promise<void> {
  const run = createRun(asked)
  for (const [index, step] of history.entries()) {
    await run.steps[step.do](step, index)
    if (step.isVisible) await asked.catchUp?.()
  }
  await asked.catchUp?.()
  const { used, remaining, keys } = await asked.standing()
  expect(used).toBe(run.used())
  expect(remaining).toBe(run.remaining())
  for (const sums of (await asked.overTime?.()) ?? [])
    expect([...sums].toSorted()).toStrictEqual([...run.byPeriod()].toSorted())
  // Each key is in one line, and only where it was counted.
  expect(keys.toSorted()).toStrictEqual(run.counted().toSorted())
}

/** A use that was asked about; a device `reported` it, or another asked. */
type Sent = Keyed & { isCounted: boolean; period: string; reported?: Reported }

const keyOf = (index: number) => `key-${index}`

type AllowanceStep = 'allow' | 'report' | 'giveBack'
type Does<Name extends Step['do']> = Record<Name, (step: Step, index: number) => Promise<void>>

function createRun(asked: Asked) {
  const model = createModel()
  const time = asked.time ?? oneMoment
  const { now } = time
  const present = () => time.periodOf(now())
  const left = (period = present()) => model.remaining(period, now())
  const sent: Sent[] = []
  const holdIds: string[] = []
  const does: Does<Exclude<Step['do'], AllowanceStep>> = {
    async wait({ amount, which }) {
      // After the longer ones, an allowance is not kept any more.
      time.wait(Number(amount) * (which === 3 ? 50 : 5))
    },
    async use(step, index) {
      const { amount } = step
      const key = keyOf(index)
      const isCounted = amount <= left()
      if (isCounted) model.add(present(), amount)
      const answer = await asked.use(step, { key, amount })
      expect(answer).toMatchObject({ allowed: isCounted, remaining: left(), overage: 0n })
      sent.push({ key, amount, isCounted, period: present() })
    },
    async again(step) {
      const before = sent.at(-1 - step.which)
      // What was not counted may be, once there is room.
      if (!before?.isCounted) return
      const { key, amount, period, reported } = before
      const answer = await (reported ? asked.report(step, reported) : asked.use(step, { key, amount }))
      expect(answer).toMatchObject({ allowed: true, remaining: left(period) })
      expect(await asked.use(step, { key, amount: amount + 1n })).toBeUndefined()
    },
    async hold(step, index) {
      const { amount } = step
      const isAllowed = amount <= left()
      const { holdId, remaining } = await asked.hold(step, { key: keyOf(index), amount })
      expect(holdId !== null).toBe(isAllowed)
      if (holdId !== null) {
        holdIds.push(holdId)
        const endsAt = now() + time.holdMs
        model.holds.set(holdId, { period: present(), amount, endsAt })
      }
      expect(remaining).toBe(left())
    },
    async commit(step) {
      const { amount, which } = step
      const holdId = holdIds.at(-1 - which) ?? 'none'
      const held = model.holds.get(holdId)
      const isGood = held !== undefined && held.endsAt > now() && amount <= held.amount
      expect(await asked.commit(step, holdId, amount)).toBe(isGood)
      if (!isGood) return
      model.add(held.period, amount)
      model.holds.delete(holdId)
      holdIds.splice(holdIds.indexOf(holdId), 1)
    },
    async release(step) {
      const holdId = holdIds.at(-1 - step.which)
      if (holdId === undefined) return
      await asked.release(step, holdId)
      model.holds.delete(holdId)
      holdIds.splice(holdIds.indexOf(holdId), 1)
    },
    async credit(step, index) {
      // A credit is spent in one of the periods, which would take more than sums.
      if (present() !== 'all') return
      model.credit(step.amount)
      await asked.credit(step, { key: keyOf(index), amount: step.amount })
    },
    async correct(step, index) {
      const { amount } = step
      const isGood = amount <= model.usedIn(present())
      if (isGood) model.add(present(), -amount)
      expect(await asked.correct(step, { key: keyOf(index), amount })).toBe(isGood)
    },
  }
  return {
    steps: { ...does, ...allowanceSteps(asked, { model, time, sent }) },
    used: () => model.usedIn(present()),
    byPeriod: (): ReadonlyMap<string, bigint> => model.used,
    remaining: () => left(),
    counted: () => sent.flatMap(({ key, isCounted }) => (isCounted ? [key] : [])),
  }
}

/** What a device does that has no network at times. */
function allowanceSteps(
  asked: Asked,
  { model, time, sent }: { model: ReturnType<typeof createModel>; time: Time; sent: Sent[] },
): Does<AllowanceStep> {
  /** The period of each, and until when the device may spend it. */
  const granted: { allowanceId: string; period: string; endsAt: number }[] = []
  const isKept = (allowanceId: string) => (model.holds.get(allowanceId)?.endsAt ?? 0) > time.now()

  /** Where a use counts; the period is undefined when there is no room for it. */
  function placeOf({ amount, allowanceId, usedAt }: Reported, [own, endsAt]: [string, number]) {
    const now = time.now()
    const moment = usedAt ?? now
    const held = model.holds.get(allowanceId)
    if (held && isKept(allowanceId) && moment <= endsAt && amount <= held.amount) return { own, held }
    const before = time.periodOf(moment)
    const isOpen = now < time.endOf(before) + lateMs
    const periods = [...(isOpen ? [before] : []), time.periodOf(now)]
    return { own: periods.find((period) => amount <= model.remaining(period, now)), held: undefined }
  }

  const does: Does<AllowanceStep> = {
    async allow(step, index) {
      const { amount } = step
      const [now, period] = [time.now(), time.periodOf(time.now())]
      const kept = granted.filter(({ allowanceId }) => isKept(allowanceId))
      const isEnough = amount <= model.remaining(period, now)
      const answer = await asked.allow(step, { key: keyOf(index), amount })
      if (kept.length >= mostAllowances)
        return expect(answer).toStrictEqual({ reason: 'allowance_limit_reached' })
      if (!isEnough) return expect(answer).toStrictEqual({ reason: 'meter_exhausted' })
      const allowanceId = 'allowanceId' in answer ? answer.allowanceId : 'none'
      const endsAt = Math.min(now + time.allowanceMs, time.endOf(period))
      granted.push({ allowanceId, period, endsAt })
      model.holds.set(allowanceId, { period, amount, endsAt: endsAt + lateMs })
      expect(answer).toStrictEqual({ allowanceId, remaining: model.remaining(period, now) })
    },
    async report(step, index) {
      const allowance = granted.at(-1 - step.which) ?? granted.at(-1)
      if (!allowance) return does.allow(step, index)
      const { allowanceId, period, endsAt } = allowance
      // Several of them fit into an allowance.
      const amount = 1n + step.amount / 4n
      const usedAt = step.isEarlier && asked.time ? Math.min(time.now(), endsAt) : undefined
      const use = { key: keyOf(index), amount, allowanceId, usedAt }
      const { own, held } = placeOf(use, [period, endsAt])
      if (own !== undefined) model.add(own, amount)
      if (held) held.amount -= amount
      // What is spent makes room for another.
      if (held?.amount === 0n) model.holds.delete(allowanceId)
      const counts = own ?? time.periodOf(time.now())
      const remaining = model.remaining(counts, time.now())
      expect(await asked.report(step, use)).toMatchObject({ allowed: own !== undefined, remaining })
      sent.push({ key: use.key, amount, isCounted: own !== undefined, period: counts, reported: use })
    },
    async giveBack(step) {
      const allowance = granted.at(-1 - step.which)
      if (!allowance) return
      await asked.giveBack(step, allowance.allowanceId)
      model.holds.delete(allowance.allowanceId)
    },
  }
  return does
}
