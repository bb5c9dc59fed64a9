import { type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { typedIn } from '../forms/filled-form.ts'
import { checkField, choiceField, formProblem, textField } from '../forms/form-fields.ts'
import { heading, section, tokenField } from '../frame/parts.ts'
import { idField, moreFields, moreKeyTypeInputs, termInputs, termNames } from './key-type-fields.ts'
import { sharingInputs } from './sharing-form.ts'
import { unitChoices } from './time-units.ts'

const path = '/dashboard/products'

/** The form of a new product with its first key type. */
export function newProductView(token: string, operation: string, form: FilledForm): Html {
  return html`<div class="narrow">
    ${heading('New product', 'An app that you sell, with the first kind of license for it.')}
    ${formProblem(form)}
    <form method="post" action=${path}>
      ${tokenField(token)}
      <input type="hidden" name="operation" value=${operation} />
      <div class="sheet stack">
        ${nameField(form)}
        ${textField(form, {
          name: 'keyPrefix',
          label: 'Key prefix',
          hint: html`How license keys begin: <code>ACME-…</code>. Leave empty to make it from the name.`,
          required: false,
          maxlength: 8,
        })}
      </div>
      ${section(
        'Key type',
        html`<div class="sheet stack">
          ${textField(form, {
            name: 'keyTypeName',
            label: 'Name',
            hint: 'For example Standard, Pro or Team. You can add more key types later.',
            maxlength: 200,
          })}
          ${termInputs(form)}
        </div>`,
        'What a license allows: each license is issued for one key type.',
      )}
      <div class="part">
        ${moreFields(
          form,
          ['name', 'keyPrefix', 'keyTypeName', ...termNames],
          html`<div class="sheet stack">
              <h2>Product</h2>
              ${idField(form, 'productId', 'name', 'Product ID', 'Your app sends it. It cannot be changed later.')}
              ${unlicensedFields(form)} ${recoveryField(form)} ${customerFields(form)} ${sharingInputs(form)}
            </div>
            <div class="sheet stack after">
              <h2>Key type</h2>
              ${idField(form, 'keyTypeId', 'keyTypeName', 'Key type ID', 'It cannot be changed later.')}
              ${moreKeyTypeInputs(form)}
            </div>`,
        )}
      </div>
      <div class="decide form-end">
        <button>Create product</button>
        <a class="button second" href=${path}>Cancel</a>
      </div>
    </form>
  </div>`
}

const nameField = (form: FilledForm): Html =>
  textField(form, { name: 'name', label: 'Name', hint: 'As your customers know it.', maxlength: 200 })

const unlicensedFields = (form: FilledForm): Html => html`<div class="stack">
  ${textField(form, {
    name: 'trialDurationDays',
    label: 'Trial, in days',
    hint: 'How long the app can be tried without a license. 0 turns trials off; leave empty if your app decides.',
    required: false,
    inputmode: 'numeric',
    maxlength: 4,
  })}
  ${checkField(form, {
    name: 'freeTierEnabled',
    label: 'Free tier',
    hint: 'People can use the app without a license, with the features that the app gives them.',
  })}
</div>`

const recoveryField = (form: FilledForm): Html =>
  checkField(form, {
    name: 'keyRecovery',
    label: 'Keep license keys',
    hint: 'Keeps the key of each license with an email address, encrypted, so that you can mail it again to a customer who lost it. It is never shown again. Keys that were issued before you turn this on are not kept. Turning it off destroys the kept keys.',
  })

const customerFields = (form: FilledForm): Html => html`<div class="stack">
  ${textField(form, {
    name: 'expiringDays',
    label: 'Email before the expiry',
    hint: 'How many days before a license expires its holder gets an email, for example 14, 3. There is one at the expiry, too. Leave empty for no such emails.',
    required: false,
    maxlength: 60,
  })}
  ${checkField(form, {
    name: 'usageNotice',
    label: 'Email at the thresholds of meters',
    hint: 'The license holder gets an email when so many percent of a meter are used as its key type says, usually 80 and 100.',
  })}
  ${checkField(form, {
    name: 'newDeviceMail',
    label: 'Email about a new device',
    hint: 'The license holder gets an email when a device is added, at most one in an hour.',
  })}
  ${checkField(form, {
    name: 'seatsFullMail',
    label: 'Email when no seat is left',
    hint: 'The license holder gets an email when the last seat is taken, or a device finds all floating seats taken.',
  })}
  ${textField(form, {
    name: 'customerSeatFrees',
    label: 'Devices that a customer may remove',
    hint: 'In the portal, within 30 days. Enter 0 for none. Leave empty for 3.',
    required: false,
    inputmode: 'numeric',
    maxlength: 3,
  })}
  ${checkField(form, {
    name: 'customerKeyReplacement',
    label: 'Customers may replace their key',
    hint: 'In the portal. The new key is mailed to the license holder, and the old one stops working.',
  })}
  ${checkField(form, {
    name: 'customerFiles',
    label: 'Customers may get license files',
    hint: 'In the portal, for machines without a network, where the key type allows license files.',
  })}
  ${checkField(form, {
    name: 'showSeatHolders',
    label: 'Name the devices that have the floating seats',
    hint: 'A device that finds all floating seats taken gets the names of up to 20 devices that have them.',
  })}
  ${checkField(form, {
    name: 'leaseHolder',
    label: 'Apps learn whom they are licensed to',
    hint: 'Leases of the second version and license files name the license holder.',
  })}
</div>`

const refunds = [
  ['revoke', 'Revoke the license'],
  ['keep', 'Keep the license'],
] as const

const paidInFull = [
  ['by_key_type', 'Keep it if its key type is perpetual'],
  ['keep', 'Keep the license'],
  ['expire', 'Let it expire with the last period'],
] as const

/** The form of a product that exists; its test mode has a page of its own. */
export function editProductView(token: string, productId: string, form: FilledForm): Html {
  const own = `${path}/${productId}`
  return html`<div class="narrow">
    ${heading('Edit product', html`<code>${productId}</code>`)}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action=${`${own}/edit`}>
      ${tokenField(token)}
      <input type="hidden" name="seen" value=${typedIn(form, 'seen')} />
      ${nameField(form)}
      ${textField(form, {
        name: 'keyPrefix',
        label: 'Key prefix',
        hint: 'How new license keys begin. Keys that were issued keep theirs and stay valid.',
        maxlength: 8,
      })}
      ${unlicensedFields(form)}
      ${timeFields(form, 'lease', 'Offline use', 'How long an app keeps working without asking the server.')}
      ${timeFields(form, 'revalidate', 'Checked again after', 'How long an app waits before it asks again.')}
      ${textField(form, {
        name: 'componentsAtLeast',
        label: 'Parts that must match',
        hint: 'How many components, such as board, disk and network card, a device must still have when its operating system was installed again. From 2 to 8; leave empty for more than half.',
        required: false,
        inputmode: 'numeric',
        maxlength: 1,
      })}
      ${choiceField(form, {
        name: 'onRefund',
        label: 'When a payment is refunded',
        hint: 'Also when a dispute is lost.',
        choices: refunds,
      })}
      ${choiceField(form, {
        name: 'onPaidInFull',
        label: 'When the last installment is paid',
        hint: 'Also when a membership of fixed length ends.',
        choices: paidInFull,
      })}
      ${recoveryField(form)}
      ${customerFields(form)}
      ${sharingInputs(form)}
      <div class="decide">
        <button>Save</button>
        <a class="button second" href=${own}>Cancel</a>
      </div>
    </form>
  </div>`
}

const timeFields = (form: FilledForm, name: 'lease' | 'revalidate', legend: string, hint: string): Html =>
  html`<fieldset class="pair">
    <legend>${legend}</legend>
    ${textField(form, { name: `${name}Count`, label: 'Number', hint, inputmode: 'numeric', maxlength: 8 })}
    ${choiceField(form, { name: `${name}Unit`, label: 'Unit', choices: unitChoices })}
  </fieldset>`
