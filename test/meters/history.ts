import fc from 'fast-check'
import { expect } from 'vitest'

/** One request about a meter, or one about an earlier one. */
export const steps = fc.array(
  fc.record({
    do: fc.constantFrom(
      ...(['use', 'use', 'use', 'hold', 'commit', 'release', 'credit', 'correct', 'again', 'wait'] as const),
    ),
    amount: fc.bigInt({ min: 1n, max: 12_000_000n }),
    which: fc.nat(3),
    process: fc.nat(2),
    /** Before, after or not at the append; then it is repeated, perhaps by another process. */
    dies: fc.constantFrom('no', 'no', 'no', 'before', 'after'),
    isVisible: fc.boolean(),
  }),
  { minLength: 1, maxLength: 25 },
)
type Steps = typeof steps extends fc.Arbitrary<infer Of> ? Of : never
export type Step = Steps[number]

/** How much a period includes, in millionths. */
export const included = 30_000_000n

type Keyed = { key: string; amount: bigint }
type Standing = { remaining: bigint; overage: bigint }

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
  /** In the end, with the keys of the uses. */
  standing(): Promise<{ used: bigint; remaining: bigint; keys: (string | null)[] }>
  /** What the hours and what the days add up to in the end, by period. */
  overTime?(): Promise<ReadonlyMap<string, bigint>[]>
  /** What passes between two steps; undefined where all of a history is at one moment and in one period. */
  time?: { now(): number; wait(ms: number): void; holdMs: number; period(): string }
  /** Lets the read models see what was counted. */
  catchUp?(): Promise<void>
}

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

function createRun(asked: Asked) {
  const model = createModel()
  const now = () => asked.time?.now() ?? 0
  const present = () => asked.time?.period() ?? 'all'
  const left = (period = present()) => model.remaining(period, now())
  const sent: { key: string; amount: bigint; isCounted: boolean; period: string }[] = []
  const holdIds: string[] = []
  const keyOf = (index: number) => `key-${index}`

  const does: Record<Step['do'], (step: Step, index: number) => Promise<void>> = {
    async wait({ amount }) {
      asked.time?.wait(Number(amount) * 5)
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
      const { key, amount, period } = before
      const answer = await asked.use(step, { key, amount })
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
        const endsAt = now() + (asked.time?.holdMs ?? 1)
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
    steps: does,
    used: () => model.usedIn(present()),
    byPeriod: (): ReadonlyMap<string, bigint> => model.used,
    remaining: () => left(),
    counted: () => sent.flatMap(({ key, isCounted }) => (isCounted ? [key] : [])),
  }
}
