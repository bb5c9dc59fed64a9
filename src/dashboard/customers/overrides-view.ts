import { z } from 'zod'
import { type ExplainedOverride, maxOverrides } from '../../domain/customers/overrides.ts'
import { Entitlement } from '../../domain/products/key-type.ts'
import { writtenValue } from '../../domain/products/written-values.ts'
import { isPlain, Slug } from '../../domain/values.ts'
import { type Html, html } from '../../html.ts'
import { type FilledForm, newForm, typedIn, withProblem } from '../forms/filled-form.ts'
import { choiceField, formProblem, textField } from '../forms/form-fields.ts'
import { heading, tokenField } from '../frame/parts.ts'
import { valueTyped } from './value-field.ts'

type OverridesForm = {
  token: string
  customerId: string
  products: readonly { productId: string; name: string }[]
  form: FilledForm
}

const effects = [
  ['grant', 'Granted'],
  ['revoke', 'Revoked'],
] as const

/** All overrides of a customer, a group of fields each. */
export function overridesView({ token, customerId, products, form }: OverridesForm): Html {
  const own = `/dashboard/customers/${customerId}`
  const choices = [
    ['', 'All products'] as const,
    ...products.map(({ productId, name }) => [productId, name] as const),
  ]
  const override = (row: number): Html => html`<fieldset class="sheet override">
    <legend class="unseen">${`Override ${row + 1}`}</legend>
    ${textField(form, {
      name: fieldIn('entitlement', row),
      label: 'Entitlement',
      required: false,
      maxlength: 64,
      className: 'mono',
    })}
    ${choiceField(form, { name: fieldIn('effect', row), label: 'Effect', choices: effects })}
    ${textField(form, { name: fieldIn('value', row), label: 'Value', required: false, maxlength: 202, className: 'mono' })}
    ${choiceField(form, { name: fieldIn('product', row), label: 'Product', choices })}
    ${textField(form, {
      name: fieldIn('expiresOn', row),
      label: 'Ends after the day (UTC)',
      required: false,
      maxlength: 24,
    })}
    ${textField(form, { name: fieldIn('reason', row), label: 'Reason', required: false, maxlength: 500 })}
  </fieldset>`
  return html`<div>
    ${heading(
      'Entitlement overrides',
      "Entitlements that this customer's licenses have or lack, whatever their key type. Changes apply from the next check. To remove a row, clear its entitlement. An override without a day does not end. A value, such as 25, replaces that of the key type.",
    )}
    ${formProblem(form)}
    <form class="stack" method="post" action=${`${own}/entitlements`}>
      ${tokenField(token)}
      <input type="hidden" name="seen" value=${typedIn(form, 'seen')} />
      <input type="hidden" name="rows" value=${rowsOf(form)} />
      ${Array.from({ length: rowsOf(form) }, (_, row) => override(row))}
      <div class="decide">
        <button>Save overrides</button>
        <button class="second" name="more" value="yes">More rows</button>
        <a class="button second" href=${own}>Cancel</a>
      </div>
    </form>
  </div>`
}

/** The fields of one override; each has the number of its row behind it. */
const fields = ['entitlement', 'effect', 'value', 'product', 'expiresOn', 'reason'] as const
type Field = (typeof fields)[number]

/** How many empty rows a form has behind the filled ones. */
const spareRows = 2

const fieldIn = (field: Field, row: number): string => `${field}-${row}`

/** The number of rows that a form shows. */
const rowsOf = (form: FilledForm): number =>
  Math.min(maxOverrides, Math.max(0, Number(typedIn(form, 'rows')) || 0))

/** The form again, with more empty rows. */
export const withMoreRows = (form: FilledForm): FilledForm => ({
  ...form,
  typed: { ...form.typed, rows: [String(Math.min(maxOverrides, rowsOf(form) + spareRows))] },
})

/** @param seen identifies the overrides that the form was opened with */
export function overridesForm(overrides: readonly ExplainedOverride[], seen: string): FilledForm {
  const rows = Math.min(maxOverrides, overrides.length + spareRows)
  const values: Record<string, string> = { rows: String(rows), seen }
  for (const [row, { entitlement, effect, value, productId, expiresAt, reason }] of overrides.entries()) {
    values[fieldIn('entitlement', row)] = entitlement
    values[fieldIn('effect', row)] = effect
    values[fieldIn('value', row)] = value === undefined ? '' : writtenValue(value)
    values[fieldIn('product', row)] = productId ?? ''
    values[fieldIn('expiresOn', row)] = expiresAt === undefined ? '' : dayOrMoment(expiresAt)
    values[fieldIn('reason', row)] = reason ?? ''
  }
  return newForm(values)
}

/** The day when it ends with the day, else the whole moment, so that saving does not move it. */
const dayOrMoment = (at: string): string => (at.endsWith(endOfDay) ? at.slice(0, 10) : at)
const endOfDay = 'T23:59:59.000Z'

const Moment = z.iso.datetime({ precision: 3 })
const Day = z.iso.date()

/**
 * The overrides that were typed; rows without an entitlement are left out.
 * @returns the form with what is wrong, or the overrides
 */
export function overridesTyped(form: FilledForm): { form: FilledForm; overrides: ExplainedOverride[] } {
  let checked = form
  const overrides: ExplainedOverride[] = []
  for (let row = 0; row < rowsOf(form); row++) {
    const typed = (field: Field) => typedIn(form, fieldIn(field, row)).trim()
    const complain = (field: Field, problem: string) => {
      checked = withProblem(checked, fieldIn(field, row), problem)
    }
    const [entitlement, productId, expiresOn, reason] = [
      typed('entitlement'),
      typed('product'),
      typed('expiresOn'),
      typed('reason'),
    ]
    if (entitlement === '') continue
    if (!Entitlement.safeParse(entitlement).success)
      complain(
        'entitlement',
        'Begin with a lowercase letter or a digit; use lowercase letters, digits and . _ : -',
      )
    const effect = typed('effect') === 'revoke' ? 'revoke' : 'grant'
    const value = valueTyped(typed('value'), effect)
    if (value.problem) complain('value', value.problem)
    if (productId !== '' && !Slug.safeParse(productId).success) complain('product', 'Choose a product.')
    const expiresAt = Day.safeParse(expiresOn).success ? `${expiresOn}${endOfDay}` : expiresOn
    if (expiresAt !== '' && !Moment.safeParse(expiresAt).success)
      complain('expiresOn', 'Enter a day as 2027-11-21.')
    if (reason.length > 500 || !isPlain(reason)) complain('reason', 'Enter at most 500 characters.')
    overrides.push({
      entitlement,
      effect,
      ...value.given,
      ...(productId !== '' && { productId }),
      ...(expiresAt !== '' && { expiresAt }),
      ...(reason !== '' && { reason }),
    })
  }
  return { form: checked, overrides }
}
