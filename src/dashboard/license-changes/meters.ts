import { addCredit, correctUse, withdrawCredit } from '../../commands/meters/meters.ts'
import { amountOf } from '../../domain/meters/amount.ts'
import { html } from '../../html.ts'
import { amountIn } from '../../http/licenses/meters.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, textField } from '../forms/form-fields.ts'
import { given, optionalLine, optionalOf, wantedLine } from '../forms/typed.ts'
import { day } from '../new-license/form.ts'
import { type About, anyChange, type Change, type Services, withReason } from './change.ts'

const amount = given.refine(
  (text) => amountIn.safeParse(text).success,
  'Enter a number more than 0, with up to 6 decimal places, for example 500 or 2.75.',
)
const meter = wantedLine(63, 'Choose a meter.')

const meterField = (form: FilledForm, { meters }: About) =>
  choiceField(form, {
    name: 'meter',
    label: 'Meter',
    choices: meters.map(
      ({ owner: { meter: id, unit } }) => [id, id === unit ? id : `${id} (${unit})`] as const,
    ),
  })

const amountField = (form: FilledForm, hint: string) =>
  textField(form, { name: 'amount', label: 'Amount', hint, maxlength: 19 })

const lineReason = wantedLine(500, 'Enter a reason.')
const reasonHint = 'Stays with the line of the bill.'

const ownMeter = ({ db }: Services, { owned, tenantId, id }: About, meter: string) =>
  owned.ownMeter({ db }, tenantId, { id, meter })

const noMeter = ['meter', 'There is no such meter any more. Choose another.'] as const

/** Offered beside each meter, as the two below. */
const newCredit = anyChange({
  name: 'add-credit',
  title: 'Add a prepaid credit',
  button: 'Add credit',
  lead: () => 'Credits are spent after what the period includes, the one that ends first before the others.',
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
    await addCredit(
      ports,
      await about.owned.forCredit(ports, about.tenantId, { id: about.id, meter: name }),
      credit,
      origin,
    )
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

const creditBack = anyChange({
  name: 'withdraw-credit',
  title: 'Withdraw a credit',
  button: 'Withdraw credit',
  lead: () => 'What is left of the credit is taken back. What was spent of it stays spent.',
  schema: withReason({ meter, credit: wantedLine(100, 'Enter the ID of a credit.'), reason: lineReason }),
  reasonHint,
  values: (_, { meter: named = '', credit = '' }) => ({ meter: named, credit }),
  fields: (form, about) =>
    html`${meterField(form, about)}
    ${textField(form, { name: 'credit', label: 'Credit ID', maxlength: 100, className: 'mono' })}`,
  async run(ports, about, { meter: name, credit: creditId, reason }, origin) {
    await withdrawCredit(ports, await ownMeter(ports, about, name), { creditId, reason }, origin)
    return undefined
  },
  problems: {
    credit_not_found: ['credit', 'There is no such credit, or nothing of it is left.'],
    meter_not_found: noMeter,
  },
})

const correction = anyChange({
  name: 'correct-use',
  title: 'Correct what was used',
  button: 'Take off',
  lead: () =>
    'What was counted wrongly in the present period is taken off. It is given back first of what was beyond, then to the credits, and then to what is included.',
  schema: withReason({ meter, amount, reason: lineReason }),
  reasonHint,
  values: (_, { meter: named = '' }) => ({ meter: named }),
  fields: (form, about) =>
    html`${meterField(form, about)} ${amountField(form, 'How much was counted too much.')}`,
  async run(ports, about, { meter: name, amount: size, reason }, origin) {
    const correct = { key: ports.newId('req'), amount: amountOf(size), reason }
    await correctUse(ports, await ownMeter(ports, about, name), correct, origin)
    return undefined
  },
  problems: {
    correction_too_large: ['amount', 'Not so much was used in this period.'],
    meter_not_found: noMeter,
  },
})

/** What a member may do with the meters of a license, and with those that licenses of a customer share. */
export const meterChanges: readonly Change[] = [newCredit, creditBack, correction]
