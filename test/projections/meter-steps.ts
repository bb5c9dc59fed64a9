import fc from 'fast-check'
import { findMeters } from '../../projections/meters/queries.ts'
import { grantAllowance, returnAllowance, spendAllowance } from '../../src/commands/meters/allowances.ts'
import {
  addCredit,
  closePeriods,
  commitHold,
  consume,
  correctUse,
  meterIdOf,
  meterOfLicense,
  placeHold,
  releaseHold,
  withdrawCredit,
} from '../../src/commands/meters/meters.ts'
import { tellUsage } from '../../src/commands/meters/tell.ts'
import { MeterTerms } from '../../src/domain/meters/terms.ts'
import { meterKey } from '../../src/domain/streams.ts'
import { origin, type TestLedger, uniqueId } from '../harness/ledger.ts'

/** Something is counted under the meter of a license. */
export type MeterStep = {
  do:
    | 'consume'
    | 'hold'
    | 'commit'
    | 'release'
    | 'grant'
    | 'spend'
    | 'give back'
    | 'add credit'
    | 'withdraw credit'
    | 'correct use'
    | 'close periods'
    | 'tell'
  license: number
  amount: number
}

const meterSteps = [
  'consume',
  'hold',
  'commit',
  'release',
  'grant',
  'spend',
  'give back',
  'add credit',
  'withdraw credit',
  'correct use',
  'close periods',
  'tell',
] as const satisfies MeterStep['do'][]

export const anyMeterStep: fc.Arbitrary<MeterStep> = fc.record({
  do: fc.constantFrom('consume' as const, ...meterSteps),
  license: fc.nat({ max: 3 }),
  amount: fc.integer({ min: 1, max: 60 }),
})

const terms = MeterTerms.parse({
  ...{ meter: 'calls', unit: 'calls', included: '100', period: 'month', overage: 'block', rollover: true },
})

export function meterStepRunner({ ports, clock, db }: TestLedger, tenantId: string, productId: string) {
  return async (step: MeterStep, licenseId: string): Promise<unknown> => {
    const issuedAt = '2026-02-01T00:00:00.000Z'
    const moments = { issuedAt, purchasedAt: issuedAt }
    const own = { tenantId, productId, licenseId, moments, meters: [terms], shared: undefined }
    const meter = meterOfLicense(own, 'calls')
    if (!meter) throw new Error('no meter')
    const keyed = { key: uniqueId('key'), amount: BigInt(step.amount) * 1_000_000n }
    // As routes that name a hold or a credit would, from what was shown before.
    const id = meterIdOf(meter)
    const state = (await findMeters(db, [id])).get(id)
    const holds = [...(state?.holds ?? [])]
    const [holdId = 'none'] = holds.flatMap(([each, { device }]) => (device ? [] : [each]))
    const [allowanceId = 'none'] = holds.flatMap(([each, { device }]) => (device ? [each] : []))
    const instanceId = 'ins_1'
    const ofDevice = { tenantId, licenseId, instanceId, allowanceId }
    const [creditId = 'none'] = state?.credits.keys() ?? []
    switch (step.do) {
      case 'consume':
        return visible(ports, () => consume(ports, meter, { ...keyed, usedAt: undefined }, origin))
      case 'hold':
        return visible(ports, () => placeHold(ports, meter, { ...keyed, seconds: 3600 }, origin))
      case 'commit':
        return visible(ports, () => commitHold(ports, { tenantId, holdId, amount: 1n }, origin))
      case 'release':
        return visible(ports, () => releaseHold(ports, { tenantId, holdId }, origin))
      case 'grant':
        return visible(ports, () =>
          grantAllowance(ports, meter, { ...keyed, seconds: 3600, instanceId }, origin),
        )
      case 'spend': {
        const use = { ...keyed, amount: 1n, usedAt: undefined }
        return visible(ports, () => spendAllowance(ports, ofDevice, use, meter, origin))
      }
      case 'give back':
        return visible(ports, () => returnAllowance(ports, ofDevice, origin))
      case 'add credit': {
        const endsAt = new Date(clock.now().getTime() + 30 * 86_400_000).toISOString()
        return addCredit(ports, meter, { ...keyed, endsAt, order: 'order-1' }, origin)
      }
      case 'withdraw credit':
        return withdrawCredit(ports, meter, { creditId, reason: 'because' }, origin)
      case 'correct use':
        return correctUse(ports, meter, { ...keyed, amount: 1_000_000n, reason: 'because' }, origin)
      case 'close periods':
        return closePeriods(ports, { tenantId, id: meterKey(licenseId, 'calls') }, origin)
      case 'tell':
        return tellUsage(ports, licenseId)
    }
  }
}

async function visible(
  { ledger, untilVisible }: TestLedger['ports'],
  work: () => Promise<unknown>,
): Promise<void> {
  await work()
  const head = await ledger.head()
  if (head !== undefined) await untilVisible(head)
}

/** Every kind of step, so that the log has every type of event. */
export const everyMeterStep: readonly MeterStep[] = [
  { do: 'add credit', license: 0, amount: 50 },
  { do: 'consume', license: 0, amount: 60 },
  { do: 'consume', license: 0, amount: 60 },
  { do: 'hold', license: 0, amount: 20 },
  { do: 'commit', license: 0, amount: 1 },
  { do: 'hold', license: 0, amount: 5 },
  { do: 'release', license: 0, amount: 1 },
  { do: 'grant', license: 0, amount: 5 },
  { do: 'spend', license: 0, amount: 1 },
  { do: 'give back', license: 0, amount: 1 },
  { do: 'correct use', license: 0, amount: 1 },
  { do: 'withdraw credit', license: 0, amount: 1 },
  { do: 'tell', license: 0, amount: 1 },
  // What is not told yet stays in the read model.
  { do: 'add credit', license: 0, amount: 50 },
  { do: 'close periods', license: 0, amount: 1 },
]
