import type { MeterCommand } from '../../../src/domain/meters/decide.ts'
import { MeterTerms } from '../../../src/domain/meters/terms.ts'
import { goldenData } from '../golden.ts'
import { at, later } from '../licenses/license-samples.ts'

const { holdId: goldenHoldId, at: goldenMeterAt } = goldenData('meter', 'HoldPlaced')
const { allowanceId, instanceId } = goldenData('meter', 'AllowanceGranted')
const ofAllowance = { allowanceId, instanceId }
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

/** One of each type, about the hold, the allowance and the credit of the golden events. */
export const meterCommands: readonly MeterCommand[] = [
  { type: 'Consume', uses: [{ key: 'one', amount: 1n }], ...metered, at },
  { type: 'PlaceHold', holdId: 'hold', key: 'two', amount: 2n, endsAt: later, ...metered, at },
  { type: 'CommitHold', holdId: goldenHoldId, amount: 1n, allowance: undefined, at: goldenMeterAt },
  { type: 'ReleaseHold', holdId: goldenHoldId, at },
  {
    ...{
      type: 'GrantAllowance',
      allowanceId: 'alw_1',
      key: 'five',
      instanceId: 'ins_1',
      amount: 2n,
      endsAt: later,
    },
    ...metered,
    at,
  },
  {
    type: 'SpendAllowance',
    ...ofAllowance,
    key: 'six',
    amount: 1n,
    usedAt: goldenMeterAt,
    allowance: undefined,
    at: goldenMeterAt,
  },
  { type: 'ReturnAllowance', ...ofAllowance, at },
  {
    type: 'AddCredit',
    creditId: 'crd_1',
    key: 'three',
    amount: 3n,
    endsAt: null,
    order: null,
    ...metered,
    at,
  },
  { type: 'WithdrawCredit', creditId: goldenCreditId, reason: 'because', allowance: metered.allowance, at },
  { type: 'CorrectUse', key: 'four', amount: 1n, reason: 'because', ...metered, at: goldenMeterAt },
  { type: 'ClosePeriods', allowance: undefined, at: '2030-01-01T00:00:00.000Z' },
]
