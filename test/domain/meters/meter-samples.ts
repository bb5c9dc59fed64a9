import type { MeterCommand } from '../../../src/domain/meters/decide.ts'
import { MeterTerms } from '../../../src/domain/meters/terms.ts'
import { goldenData } from '../golden.ts'
import { at, later } from '../licenses/license-samples.ts'

const { holdId: goldenHoldId, at: goldenMeterAt } = goldenData('meter', 'HoldPlaced')
const { creditId: goldenCreditId } = goldenData('meter', 'CreditAdded')
const { at: _opened, ...owner } = goldenData('meter', 'MeterOpened')
const metered = {
  owner,
  allowance: {
    terms: MeterTerms.parse({
      meter: 'tokens',
      unit: 'tokens',
      included: '9',
      period: 'month',
      overage: 'block',
    }),
    moments: { issuedAt: at, purchasedAt: at },
  },
}

/** One of each type, about the hold and the credit of the golden events. */
export const meterCommands: readonly MeterCommand[] = [
  { type: 'Consume', uses: [{ key: 'one', amount: 1n }], ...metered, at },
  { type: 'PlaceHold', holdId: 'hold', key: 'two', amount: 2n, endsAt: later, ...metered, at },
  { type: 'CommitHold', holdId: goldenHoldId, amount: 1n, at: goldenMeterAt },
  { type: 'ReleaseHold', holdId: goldenHoldId, at },
  { type: 'AddCredit', creditId: 'crd_1', key: 'three', amount: 3n, endsAt: null, order: null, owner, at },
  { type: 'WithdrawCredit', creditId: goldenCreditId, reason: 'because', at },
  { type: 'CorrectUse', key: 'four', amount: 1n, reason: 'because', ...metered, at: goldenMeterAt },
]
