import { type Content, type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { checkField, choiceField, textArea, textField } from '../forms/form-fields.ts'
import { floatingInputs } from './floating-form.ts'
import { metersInputs } from './meters-form.ts'
import { namedInputs } from './named-form.ts'
import { unitChoices } from './time-units.ts'

const units = [
  ['day', 'days'],
  ['month', 'months'],
  ['year', 'years'],
] as const

const starts = [
  ['issue', 'When the license is issued'],
  ['first_activation', 'When its first device is activated'],
] as const

const expiries = [
  ['expire', 'The license expires'],
  ['fallback', 'The license falls back to other entitlements'],
] as const

/** The id of a new product or key type, made from a name when it is left empty; the script shows which. */
export const idField = (form: FilledForm, name: string, from: string, label: string, hint: string): Html =>
  html`<div data-id-of=${from}>
${textField(form, {
  name,
  label,
  hint: `${hint} Leave empty to make it from the name.`,
  required: false,
  maxlength: 63,
})}
</div>`

/** The fields of a key type except its name and its id. */
export const keyTypeInputs = (form: FilledForm): Html =>
  html`<div class="stack">${termInputs(form)} ${moreKeyTypeInputs(form)}</div>`

/** How many devices a license covers, and how long it lasts. */
export function termInputs(form: FilledForm): Html {
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
  </div>`
}

/** Fields that have a usual value, collapsed unless one of them is wrong. @param shown the names of the other fields */
export const moreFields = (form: FilledForm, shown: readonly string[], content: Content): Html =>
  html`<details open=${Object.keys(form.problems).some((name) => name !== 'form' && !shown.includes(name))}>
    <summary>More</summary>
    ${content}
  </details>`

export const termNames = ['deviceLimit', 'durationCount'] as const

export function moreKeyTypeInputs(form: FilledForm): Html {
  return html`<div class="stack">
    ${choiceField(form, {
      name: 'startsAt',
      label: 'The duration starts',
      hint: 'A subscription starts with its payment in any case.',
      choices: starts,
    })}
    <fieldset class="pair">
      <legend>Grace after the expiry</legend>
      ${textField(form, {
        name: 'graceCount',
        label: 'Number',
        hint: 'How long a license still works after it has expired, at most 366 days. Leave empty for none.',
        required: false,
        inputmode: 'numeric',
        maxlength: 8,
      })}
      ${choiceField(form, { name: 'graceUnit', label: 'Unit', choices: unitChoices })}
    </fieldset>
    <fieldset class="pair">
      <legend>Updates</legend>
      ${textField(form, {
        name: 'updatesCount',
        label: 'Number',
        hint: 'For how long a license covers new builds of your app; later payments extend it. Leave empty for every build.',
        required: false,
        inputmode: 'numeric',
        maxlength: 4,
      })}
      ${choiceField(form, { name: 'updatesUnit', label: 'Unit', choices: units })}
    </fieldset>
    ${choiceField(form, { name: 'onExpiry', label: 'When it expires', choices: expiries })}
    ${textArea(form, {
      name: 'entitlements',
      label: 'Entitlements',
      hint: html`What your app may do with such a license, for example <code>export</code>, or how much of it: <code>projects = 25</code>. One per line.`,
      required: false,
    })}
    ${textArea(form, {
      name: 'fallbackEntitlements',
      label: 'Fallback entitlements',
      hint: 'What your app may still do once a license that falls back has expired. One per line.',
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
    ${metersInputs(form)}
    ${floatingInputs(form)}
    ${namedInputs(form)}
    <fieldset class="pair">
      <legend>Machines without a network</legend>
      ${textField(form, {
        name: 'fileDays',
        label: 'Days of a license file',
        hint: 'How long a device may go on with a signed file at most. Leave empty for no files.',
        required: false,
        inputmode: 'numeric',
        maxlength: 5,
      })}
      ${textField(form, {
        name: 'filesPerYear',
        label: 'Files a year',
        hint: 'For each device. Leave empty for 4.',
        required: false,
        inputmode: 'numeric',
        maxlength: 3,
      })}
    </fieldset>
  </div>`
}
