import { findMetering } from '../../../projections/meters/licenses.ts'
import {
  addCredit,
  correctUse,
  meterOfLicense,
  ownMeter,
  type UsableMeter,
  withdrawCredit,
} from '../../commands/meters/meters.ts'
import { amountOf } from '../../domain/meters/amount.ts'
import type { MeterTerms } from '../../domain/meters/terms.ts'
import { Refusal } from '../../domain/refusal.ts'
import { html } from '../../html.ts'
import { amountIn } from '../../http/licenses/meters.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, textField } from '../forms/form-fields.ts'
import { given, optionalLine, optionalOf, wantedLine } from '../forms/typed.ts'
import { day } from '../new-license/form.ts'
import { type AboutLicense, type LicenseChange, licenseChange, type Services, withReason } from './change.ts'

const amount = given.refine(
  (text) => amountIn.safeParse(text).success,
  'Enter a number more than 0, with up to 6 decimal places, for example 500 or 2.75.',
)
const meter = wantedLine(63, 'Choose a meter.')

const metersOf = ({ license, keyTypes }: AboutLicense): readonly MeterTerms[] =>
  keyTypes.find(({ keyTypeId }) => keyTypeId === license.keyTypeId)?.meters ?? []

const meterField = (form: FilledForm, about: AboutLicense) =>
  choiceField(form, {
    name: 'meter',
    label: 'Meter',
    choices: metersOf(about).map(
      ({ meter: id, unit }) => [id, id === unit ? id : `${id} (${unit})`] as const,
    ),
  })

const amountField = (form: FilledForm, hint: string) =>
  textField(form, { name: 'amount', label: 'Amount', hint, maxlength: 19 })

const lineReason = wantedLine(500, 'Enter a reason.')
const reasonHint = 'Stays with the line of the bill.'

/** @throws Refusal `meter_not_found` */
async function meterOf(
  { db }: Services,
  { license }: AboutLicense,
  name: string,
  of: typeof ownMeter = ownMeter,
): Promise<UsableMeter> {
  const metering = await findMetering(db, license.tenantId, license.licenseId)
  const found = metering && of(metering, name)
  if (!found) throw new Refusal('meter_not_found')
  // Nothing would be spent of a credit of its own.
  if ('customerId' in found.owner) throw new Refusal('meter_is_shared')
  return found
}

const noMeter = ['meter', 'The key type of this license no longer has this meter.'] as const

/** Offered beside each meter, as the two below. */
const newCredit = licenseChange({
  name: 'add-credit',
  label: 'Add credit',
  title: 'Add a prepaid credit',
  button: 'Add credit',
  lead: () => 'Credits are spent after what the period includes, the one that ends first before the others.',
  fits: () => false,
  schema: withReason({
    meter,
    amount,
    endsOn: optionalOf(day, 'Enter a day as 2027-11-21.'),
    order: optionalLine(200),
  }),
  reasonHint: null,
  values: (_, { meter: named = '' }) => ({ meter: named }),
  fields: (form, about) =>
    html`${meterField(form, about)} ${amountField(form, 'For example 500 or 2.75.')}
    ${textField(form, {
      name: 'endsOn',
      label: 'Last day (UTC)',
      hint: 'For example 2027-11-21. Leave empty for a credit without an end.',
      required: false,
      maxlength: 10,
    })}
    ${textField(form, {
      name: 'order',
      label: 'Order number',
      hint: 'Of the purchase, as you know it. Optional.',
      required: false,
      maxlength: 200,
    })}`,
  async run(ports, about, { meter: name, amount: size, endsOn, order = null }, origin) {
    const endsAt = endsOn === undefined ? null : `${endsOn}T23:59:59.000Z`
    const credit = { key: ports.newId('req'), amount: amountOf(size), endsAt, order }
    await addCredit(ports, await meterOf(ports, about, name, meterOfLicense), credit, origin)
    return undefined
  },
  problems: {
    credit_ends_in_the_past: ['endsOn', 'Enter a day in the future.'],
    meter_is_shared: [
      'meter',
      'The licenses of the customer share this meter. Add the credit to the customer.',
    ],
    meter_not_found: noMeter,
  },
})

const creditBack = licenseChange({
  name: 'withdraw-credit',
  label: 'Withdraw credit',
  title: 'Withdraw a credit',
  button: 'Withdraw credit',
  lead: () => 'What is left of the credit is taken back. What was spent of it stays spent.',
  fits: () => false,
  schema: withReason({ meter, credit: wantedLine(100, 'Enter the ID of a credit.'), reason: lineReason }),
  reasonHint,
  values: (_, { meter: named = '', credit = '' }) => ({ meter: named, credit }),
  fields: (form, about) =>
    html`${meterField(form, about)}
    ${textField(form, { name: 'credit', label: 'Credit ID', maxlength: 100, className: 'mono' })}`,
  async run(ports, about, { meter: name, credit: creditId, reason }, origin) {
    await withdrawCredit(ports, await meterOf(ports, about, name), { creditId, reason }, origin)
    return undefined
  },
  problems: {
    credit_not_found: ['credit', 'There is no such credit, or nothing of it is left.'],
    meter_not_found: noMeter,
  },
})

const correction = licenseChange({
  name: 'correct-use',
  label: 'Correct a use',
  title: 'Correct what was used',
  button: 'Take off',
  lead: () =>
    'What was counted wrongly in the present period is taken off. It is given back first of what was beyond, then to the credits, and then to what is included.',
  fits: () => false,
  schema: withReason({ meter, amount, reason: lineReason }),
  reasonHint,
  values: (_, { meter: named = '' }) => ({ meter: named }),
  fields: (form, about) =>
    html`${meterField(form, about)} ${amountField(form, 'How much was counted too much.')}`,
  async run(ports, about, { meter: name, amount: size, reason }, origin) {
    const correct = { key: ports.newId('req'), amount: amountOf(size), reason }
    await correctUse(ports, await meterOf(ports, about, name), correct, origin)
    return undefined
  },
  problems: {
    correction_too_large: ['amount', 'Not so much was used in this period.'],
    meter_not_found: noMeter,
  },
})

/** What a member may do with the meters of a license. */
export const meterChanges: readonly LicenseChange[] = [newCredit, creditBack, correction]
