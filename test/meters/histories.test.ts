/**
 * Guarantee: whatever is asked of a meter, by whichever process, however often a request is repeated and wherever a process dies, the
 * answers and the counts are those of a model that only adds up.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findMeters, listLines } from '../../projections/meters/queries.ts'
import { readMeterPoints } from '../../projections/meters/use-queries.ts'
import { createCounting } from '../../src/commands/meters/counting.ts'
import {
  addCredit,
  commitHold,
  consume,
  correctUse,
  meterOfLicense,
  placeHold,
  releaseHold,
} from '../../src/commands/meters/meters.ts'
import { amountOf } from '../../src/domain/meters/amount.ts'
import { MeterTerms } from '../../src/domain/meters/terms.ts'
import { meterView } from '../../src/domain/meters/view.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import type { AllPorts } from '../../src/ports.ts'
import { beginning, openTestLedger, origin, type TestLedger } from '../harness/ledger.ts'
import { testMs } from '../harness/time-limits.ts'
import { wholeVariable } from '../harness/variables.ts'
import { Killed } from '../sales/mortal.ts'

/** `KEYLEDGER_TEST_METERS=10000` for the long run. */
const histories = wholeVariable('KEYLEDGER_TEST_METERS', 40)

let ledger: TestLedger
beforeAll(async () => {
  ledger = await openTestLedger()
})
afterAll(() => ledger.close())

const step = fc.record({
  do: fc.constantFrom(
    ...(['use', 'use', 'use', 'hold', 'commit', 'release', 'credit', 'correct', 'again', 'wait'] as const),
  ),
  amount: fc.bigInt({ min: 1n, max: 12_000_000n }),
  which: fc.nat(3),
  process: fc.nat(2),
  /** Before, after or not at the append; then it is repeated, perhaps by another process. */
  dies: fc.constantFrom('no', 'no', 'no', 'before', 'after'),
  isVisible: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer Of> ? Of : never

const periods = ['license', 'day'] as const
const included = 30_000_000n

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

const day = 86_400_000

test.each(periods)(
  `${histories} random histories by a %s agree with a model to the last digit`,
  { timeout: testMs * Math.max(1, histories / 40) },
  async (period) => {
    let number = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) =>
        runHistory(period, `lic_${period}${++number}`, steps),
      ),
      { numRuns: histories },
    )
  },
)

async function runHistory(period: (typeof periods)[number], licenseId: string, steps: readonly Step[]) {
  const { clock, db, readModels } = ledger
  clock.set(beginning)
  const place = { tenantId: 'acme', productId: 'api', licenseId }
  const moments = { issuedAt: beginning, purchasedAt: beginning }
  const base = { meter: 'calls', unit: 'calls', included: '30', overage: 'block', rollover: false }
  const terms = MeterTerms.parse({ ...base, period })
  const meter = meterOfLicense({ ...place, moments, meters: [terms] }, 'calls')
  if (!meter) throw new Error('no meter')
  const model = createModel()
  const processes = [0, 1, 2].map(() => createProcess())
  const now = () => clock.now().getTime()
  const present = () => (period === 'license' ? 'all' : String(Math.floor(now() / day)))
  const sent: { step: Step; index: number; isCounted: boolean; at: string }[] = []
  const holdIds: string[] = []

  /** Sends a request until a process lives to answer it. */
  async function answered<T>(each: Step, ask: (ports: AllPorts) => Promise<T>): Promise<T | Refusal> {
    let dies = each.dies
    for (let sends = 0; ; sends++) {
      const process = processes[(each.process + sends) % processes.length]
      if (!process) throw new Error('no process')
      try {
        return await ask(process.ports(dies))
      } catch (error) {
        if (error instanceof Refusal) return error
        if (!(error instanceof Killed)) throw error
        processes[(each.process + sends) % processes.length] = createProcess()
        dies = 'no'
      }
    }
  }

  for (const [index, each] of steps.entries()) {
    const { amount, which } = each
    const keyed = { key: `key-${index}`, amount }
    if (each.do === 'wait') clock.advance(Number(amount) * 5)
    if (each.do === 'use') {
      const isAllowed = amount <= model.remaining(present(), now())
      if (isAllowed) model.add(present(), amount)
      const answer = await answered(each, (ports) =>
        consume(ports, meter, { ...keyed, usedAt: undefined }, origin),
      )
      expect(answer).toMatchObject({
        allowed: isAllowed,
        remaining: model.remaining(present(), now()),
        overage: 0n,
      })
      sent.push({ step: each, index, isCounted: isAllowed, at: present() })
    }
    if (each.do === 'again') {
      const before = sent.at(-1 - which)
      // What was not counted may be, once there is room.
      if (!before?.isCounted) continue
      const repeated = { key: `key-${before.index}`, amount: before.step.amount, usedAt: undefined }
      const answer = await answered(each, (ports) => consume(ports, meter, repeated, origin))
      expect(answer).toMatchObject({ allowed: true, remaining: model.remaining(before.at, now()) })
      const other = await answered(each, (ports) =>
        consume(ports, meter, { ...repeated, amount: repeated.amount + 1n }, origin),
      )
      expect(other).toMatchObject({ code: 'meter_key_reused' })
    }
    if (each.do === 'hold') {
      const isAllowed = amount <= model.remaining(present(), now())
      const answer = await answered(each, (ports) =>
        placeHold(ports, meter, { ...keyed, seconds: 30 }, origin),
      )
      if (answer instanceof Refusal) throw answer
      expect(answer.hold !== null).toBe(isAllowed)
      if (answer.hold) {
        holdIds.push(answer.hold.holdId)
        const held = { period: present(), amount, endsAt: now() + 30_000 }
        model.holds.set(answer.hold.holdId, held)
      }
      expect(answer.remaining).toBe(model.remaining(present(), now()))
    }
    if (each.do === 'commit') {
      const holdId = holdIds.at(-1 - which) ?? 'none'
      const held = model.holds.get(holdId)
      const isGood = held && held.endsAt > now() && amount <= held.amount
      const answer = await answered(each, (ports) => commitHold(ports, { ...place, holdId, amount }, origin))
      if (!isGood) expect(answer).toBeInstanceOf(Refusal)
      else {
        expect(answer).toBeUndefined()
        model.add(held.period, amount)
        model.holds.delete(holdId)
        holdIds.splice(holdIds.indexOf(holdId), 1)
      }
    }
    if (each.do === 'release') {
      const holdId = holdIds.at(-1 - which)
      if (holdId === undefined) continue
      expect(
        await answered(each, (ports) => releaseHold(ports, { ...place, holdId }, origin)),
      ).toBeUndefined()
      model.holds.delete(holdId)
      holdIds.splice(holdIds.indexOf(holdId), 1)
    }
    if (each.do === 'credit' && period === 'license') {
      model.credit(amount)
      const credit = { ...keyed, endsAt: null, order: null }
      const answer = await answered(each, (ports) => addCredit(ports, meter, credit, origin))
      expect(answer).not.toBeInstanceOf(Refusal)
    }
    if (each.do === 'correct') {
      const isGood = amount <= model.usedIn(present())
      if (isGood) model.add(present(), -amount)
      const answer = await answered(each, (ports) =>
        correctUse(ports, meter, { ...keyed, reason: 'r' }, origin),
      )
      expect(answer instanceof Refusal).toBe(!isGood)
    }
    if (each.isVisible) await readModels.catchUp()
  }

  await readModels.catchUp()
  const state = (await findMeters(db, place.tenantId, licenseId)).get('calls')
  const view = meterView(state, meter.allowance, clock.now().toISOString())
  expect(amountOf(view.used)).toBe(model.usedIn(present()))
  expect(amountOf(view.remaining)).toBe(model.remaining(present(), now()))
  await expectLines(licenseId, sent)
  for (const granularity of ['hour', 'day'] as const) await expectSums(licenseId, granularity, model.used)
}

/** The hours and the days of a period add up to what was counted in it. */
async function expectSums(
  licenseId: string,
  granularity: 'hour' | 'day',
  used: ReadonlyMap<string, bigint>,
): Promise<void> {
  const range = { from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z', granularity }
  const points = await readMeterPoints(ledger.db, { tenantId: 'acme', licenseId }, range)
  const sums = new Map<string, bigint>()
  for (const point of points) {
    const period = used.has('all') ? 'all' : String(Math.floor(Date.parse(point.at) / day))
    sums.set(period, (sums.get(period) ?? 0n) + point.used)
  }
  expect([...sums].toSorted()).toStrictEqual([...used].toSorted())
}

/** Each key is in one line, and only where it was counted. */
async function expectLines(
  licenseId: string,
  sent: readonly { index: number; isCounted: boolean }[],
): Promise<void> {
  const { items } = await listLines(ledger.db, licenseId, 'calls', { after: undefined, limit: 1000 })
  const keys = items.flatMap(({ kind, key }) => (kind === 'use' ? [key] : []))
  const counted = sent.filter(({ isCounted }) => isCounted).map(({ index }) => `key-${index}`)
  expect(keys.toSorted()).toStrictEqual(counted.toSorted())
}

/** A process with a cache of its own. */
function createProcess() {
  let dies: Step['dies'] = 'no'
  const mortal: AllPorts['ledger'] = {
    ...ledger.ports.ledger,
    async append(...args) {
      if (dies === 'before') throw new Killed()
      const outcome = await ledger.ports.ledger.append(...args)
      if (dies === 'after') throw new Killed()
      return outcome
    },
  }
  const counting = createCounting({ ...ledger.ports, ledger: mortal })
  return {
    ports(when: Step['dies']): AllPorts {
      dies = when
      return { ...ledger.ports, counting }
    },
  }
}
