/**
 * Guarantee: whatever is asked of a meter, by whichever process, however often a request is repeated and wherever a process dies, the
 * answers and the counts are those of a model that only adds up.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, test } from 'vitest'
import { findMeters, listLines } from '../../projections/meters/queries.ts'
import { readMeterPoints } from '../../projections/meters/use-queries.ts'
import { grantAllowance } from '../../src/commands/meters/allowances.ts'
import { createCounting } from '../../src/commands/meters/counting.ts'
import {
  addCredit,
  commitHold,
  consume,
  correctUse,
  meterIdOf,
  meterOfLicense,
  placeHold,
  releaseHold,
} from '../../src/commands/meters/meters.ts'
import { giveAllowanceBack, reportUse } from '../../src/commands/meters/report.ts'
import { amountOf, amountText } from '../../src/domain/meters/amount.ts'
import { ownerIdOf } from '../../src/domain/meters/meter.ts'
import { MeterTerms } from '../../src/domain/meters/terms.ts'
import { meterView } from '../../src/domain/meters/view.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import type { AllPorts } from '../../src/ports.ts'
import { beginning, openTestLedger, origin, type TestLedger } from '../harness/ledger.ts'
import { testMs } from '../harness/time-limits.ts'
import { wholeVariable } from '../harness/variables.ts'
import { Killed } from '../sales/mortal.ts'
import { type Asked, included, runHistory, type Step, steps } from './history.ts'

/** `KEYLEDGER_TEST_METERS=10000` for the long run. */
const histories = wholeVariable('KEYLEDGER_TEST_METERS', 18)

let ledger: TestLedger
beforeAll(async () => {
  ledger = await openTestLedger()
})
afterAll(() => ledger.close())

const day = 86_400_000
const allowanceSeconds = 6 * 3600

test.each([
  ['license', 'its own'],
  ['day', 'its own'],
  ['license', 'shared'],
] as const)(
  `${histories} random histories by a %s of a meter that is %s agree with a model to the last digit`,
  { timeout: testMs * Math.max(1, histories / 40) },
  async (period, whose) => {
    let number = 0
    await fc.assert(
      fc.asyncProperty(steps, (history) =>
        runHistory(askedHere(period, whose, `lic_${period}${whose.length}${++number}`), history),
      ),
      { numRuns: histories },
    )
  },
)

/** A meter that three processes count under, each with a cache of its own. @param whose a shared one is that of a customer with one license */
function askedHere(period: 'license' | 'day', whose: 'its own' | 'shared', licenseId: string): Asked {
  const { clock, db, readModels } = ledger
  clock.set(beginning)
  const place = { tenantId: 'acme', productId: 'api', licenseId }
  const moments = { issuedAt: beginning, purchasedAt: beginning }
  const base = { meter: 'calls', unit: 'calls', overage: 'block', rollover: false }
  const terms = MeterTerms.parse({ ...base, included: amountText(included), period })
  const customerId = licenseId.replace('lic_', 'cus_')
  const ofAll = { tenantId: place.tenantId, customerId, meters: [{ ...terms, since: beginning }] }
  const shared = whose === 'shared' ? ofAll : undefined
  const meter = meterOfLicense({ ...place, moments, meters: [terms], shared }, 'calls')
  if (!meter) throw new Error('no meter')
  const reporter = { ...place, instanceId: 'ins_1' }
  const processes = [0, 1, 2].map(() => createProcess())

  /** Sends a request until a process lives to answer it. */
  async function answered<T>(step: Step, ask: (ports: AllPorts) => Promise<T>): Promise<T | Refusal> {
    let dies = step.dies
    for (let sends = step.process; ; sends++) {
      const process = processes[sends % processes.length]
      if (!process) throw new Error('no process')
      try {
        return await ask(process.ports(dies))
      } catch (error) {
        if (error instanceof Refusal) return error
        if (!(error instanceof Killed)) throw error
        processes[sends % processes.length] = createProcess()
        dies = 'no'
      }
    }
  }
  async function done<T>(step: Step, ask: (ports: AllPorts) => Promise<T>): Promise<T> {
    const outcome = await answered(step, ask)
    if (outcome instanceof Refusal) throw outcome
    return outcome
  }
  const now = () => clock.now().getTime()
  const periodOf = (at: number) => (period === 'license' ? 'all' : String(Math.floor(at / day)))

  return {
    async use(step, keyed) {
      const use = { ...keyed, usedAt: undefined }
      const answer = await answered(step, (ports) => consume(ports, meter, use, origin))
      if (!(answer instanceof Refusal)) return answer
      if (answer.code === 'meter_key_reused') return undefined
      throw answer
    },
    async hold(step, keyed) {
      const hold = { ...keyed, seconds: 30 }
      const answer = await done(step, (ports) => placeHold(ports, meter, hold, origin))
      return { holdId: answer.hold?.holdId ?? null, remaining: answer.remaining }
    },
    async commit(step, holdId, amount) {
      const commit = { ...place, holdId, amount }
      return !((await answered(step, (ports) => commitHold(ports, commit, origin))) instanceof Refusal)
    },
    release: (step, holdId) => done(step, (ports) => releaseHold(ports, { ...place, holdId }, origin)),
    async credit(step, keyed) {
      const credit = { ...keyed, endsAt: null, order: null }
      await done(step, (ports) => addCredit(ports, meter, credit, origin))
    },
    async correct(step, keyed) {
      const correction = { ...keyed, reason: 'r' }
      return !(
        (await answered(step, (ports) => correctUse(ports, meter, correction, origin))) instanceof Refusal
      )
    },
    async allow(step, keyed) {
      const wanted = { ...keyed, seconds: allowanceSeconds, instanceId: reporter.instanceId }
      const answer = await answered(step, (ports) => grantAllowance(ports, meter, wanted, origin))
      if (answer instanceof Refusal) return { reason: answer.code }
      const { allowance, standing } = answer
      if ('reason' in allowance) return { reason: allowance.reason }
      return { allowanceId: allowance.allowanceId, remaining: standing.remaining }
    },
    async report(step, { usedAt, ...use }) {
      const at = usedAt === undefined ? undefined : new Date(usedAt).toISOString()
      const reported = { ...use, name: 'calls', meter, usedAt: at }
      const { used } = await done(step, (ports) => reportUse(ports, reporter, reported, origin))
      if (!used) throw new Error('not counted')
      return used
    },
    giveBack: (step, id) => done(step, (ports) => giveAllowanceBack(ports, reporter, id, origin)),
    async standing() {
      const id = meterIdOf(meter)
      const view = meterView((await findMeters(db, [id])).get(id), meter.allowance, clock.now().toISOString())
      const { items } = await listLines(db, ownerIdOf(meter.owner), 'calls', {
        after: undefined,
        limit: 1000,
      })
      const keys = items.flatMap(({ kind, key }) => (kind === 'use' ? [key] : []))
      return { used: amountOf(view.used), remaining: amountOf(view.remaining), keys }
    },
    async overTime() {
      const range = { from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' }
      const scope = whose === 'shared' ? { tenantId: place.tenantId, customerId } : place
      const read = (granularity: 'hour' | 'day') => readMeterPoints(db, scope, { ...range, granularity })
      return (await Promise.all([read('hour'), read('day')])).map((points) => {
        const sums = new Map<string, bigint>()
        for (const { at, used } of points) {
          const of = periodOf(Date.parse(at))
          sums.set(of, (sums.get(of) ?? 0n) + used)
        }
        return sums
      })
    },
    time: {
      now,
      wait: (ms) => clock.advance(ms),
      holdMs: 30_000,
      allowanceMs: allowanceSeconds * 1000,
      periodOf,
      endOf: (of) => (of === 'all' ? Number.POSITIVE_INFINITY : (Number(of) + 1) * day),
    },
    catchUp: () => readModels.catchUp(),
  }
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
