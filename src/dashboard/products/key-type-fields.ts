import { type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { checkField, choiceField, textArea, textField } from '../forms/form-fields.ts'

const units = [
  ['day', 'days'],
  ['month', 'months'],
  ['year', 'years'],
] as const

const expiries = [
  ['expire', 'The license expires'],
  ['fallback', 'The license falls back to other entitlements'],
] as const

/** The fields of a key type except its name and its id. */
export function keyTypeInputs(form: FilledForm): Html {
  return html`<div class="stack">
    ${textField(form, {
      name: 'deviceLimit',
      label: 'Devices',
      hint: 'How many devices one license can activate. Leave empty for unlimited.',
      required: false,
      inputmode: 'numeric',
      maxlength: 6,
    })}
    <fieldset class="pair">
      <legend>Duration</legend>
      ${textField(form, {
        name: 'durationCount',
        label: 'Number',
        hint: 'Leave empty for a license that never expires.',
        required: false,
        inputmode: 'numeric',
        maxlength: 4,
      })}
      ${choiceField(form, { name: 'durationUnit', label: 'Unit', choices: units })}
    </fieldset>
    ${choiceField(form, { name: 'onExpiry', label: 'When it expires', choices: expiries })}
    ${textArea(form, {
      name: 'entitlements',
      label: 'Entitlements',
      hint: html`What your app may do with such a license, for example <code>export</code>. One per line.`,
      required: false,
    })}
    ${textArea(form, {
      name: 'fallbackEntitlements',
      label: 'Fallback entitlements',
      hint: 'What is left after the expiry of a license that falls back. One per line.',
      required: false,
      rows: 2,
    })}
    ${checkField(form, {
      name: 'sellInMultiples',
      label: 'Sold in multiples',
      hint: 'One license can be sold for several units, for example for a team. Each unit adds its devices.',
    })}
    ${textField(form, {
      name: 'maxQuantity',
      label: 'Largest quantity',
      hint: 'Units in one purchase. Leave empty for no limit.',
      required: false,
      inputmode: 'numeric',
      maxlength: 6,
    })}
  </div>`
}
