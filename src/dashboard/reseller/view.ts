import type { CustomerEntry } from '../../../projections/customers.ts'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import { statusAt } from '../../domain/licenses/status.ts'
import type { UsedQuota } from '../../domain/resellers/reseller.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { Person } from '../../vault/subjects.ts'
import { customerColumns } from '../customers/view.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { checkField, choiceField, formProblem, textField } from '../forms/form-fields.ts'
import { ago, dayOf } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import {
  copyable,
  empty,
  facts,
  heading,
  pager,
  secretBox,
  section,
  table,
  tokenField,
} from '../frame/parts.ts'
import { soldAs } from '../new-license/form.ts'

const home = '/dashboard/reseller'

/** A quota, with the names of what it is for. */
export type NamedQuota = UsedQuota & { product: string; keyType: string }

const mintButton = html`<a class="button" href=${`${home}/new-license`}>New license</a>`

/** What may be minted, and what of it is used; also for the vendor, who sees the same figures. */
export const quotaTable = (quotas: readonly NamedQuota[]): Html =>
  html`<div class="sheeted">
    ${table({
      caption: 'Quotas',
      columns: [
        { label: 'Product and key type' },
        { label: 'Licenses', number: true },
        { label: 'Used', number: true },
        { label: 'Left', number: true },
      ],
      rows: quotas.map(({ product, keyType, licenses, used }): Content[] => [
        `${product}: ${keyType}`,
        licenses,
        used,
        licenses - used,
      ]),
    })}
  </div>`

export const overviewView = (name: string, quotas: readonly NamedQuota[]): Html =>
  html`<div>
    ${heading(name, 'What you may mint, and how much of it is used.', mintButton)}
    ${
      quotas.length === 0
        ? empty('No quotas yet', 'Ask the vendor for a quota of a key type.')
        : quotaTable(quotas)
    }
  </div>`

export type SeenLicense = { entry: LicenseEntry; person: Person }
type Pages = { cursor: string | undefined; next: string | null }

export function licensesView(view: View, licenses: readonly SeenLicense[], pages: Pages): Html {
  const path = `${home}/licenses`
  return html`<div>
    ${heading('Licenses', 'The licenses that you minted.', mintButton)}
    ${
      licenses.length === 0
        ? empty('No licenses yet', 'Mint a license for a customer.', mintButton)
        : licenseTable(view, licenses)
    }
    ${pager(path, { cursor: pages.cursor }, pages.next)}
  </div>`
}

const licenseTable = (view: View, licenses: readonly SeenLicense[]): Html =>
  html`<div class="sheeted">
    ${table({
      caption: 'Licenses',
      columns: [
        { label: 'License' },
        { label: 'Customer' },
        { label: 'Status' },
        { label: 'Minted', wide: true },
      ],
      rows: licenses.map(({ entry: { license }, person }): Content[] => [
        html`<a href=${`${home}/licenses/${license.licenseId}`}>${license.displayKey}</a>`,
        person.email ?? license.customerId,
        statusAt(license, view.now.toISOString()),
        ago(license.createdAt, view.now),
      ]),
    })}
  </div>`

export function licenseView(
  view: View,
  { entry, person, product, keyType }: SeenLicense & Pick<NamedQuota, 'product' | 'keyType'>,
): Html {
  const { license } = entry
  const customer = html`<a href=${`${home}/customers/${license.customerId}`}>${person.email ?? license.customerId}</a>`
  return html`<div>
    ${heading(license.displayKey, copyable('license ID', license.licenseId))}
    <div class="sheet">
      ${facts([
        ['Status', statusAt(license, view.now.toISOString())],
        ['Customer', customer],
        ['Product', product],
        ['Key type', keyType],
        ['Devices', `${license.seatsUsed} of ${license.deviceLimit ?? 'any number'}`],
        ['Expires', license.expiresAt === null ? 'never' : dayOf(license.expiresAt)],
        ['Minted', dayOf(license.createdAt)],
      ])}
    </div>
  </div>`
}

export type SeenCustomer = CustomerEntry & { person: Person }

export function customersView(view: View, customers: readonly SeenCustomer[], pages: Pages): Html {
  const path = `${home}/customers`
  return html`<div>
    ${heading('Customers', 'The people that you minted licenses for.')}
    ${
      customers.length === 0
        ? empty('No customers yet', 'A customer is created with their first license.', mintButton)
        : html`<div class="sheeted">
            ${table({
              caption: 'Customers',
              columns: customerColumns,
              rows: customers.map(({ customer, licenseIds, person }): Content[] => [
                html`<span
                  ><a href=${`${path}/${customer.customerId}`}>${person.email ?? customer.customerId}</a
                  ><span class="sub">${person.name ?? ''}</span></span
                >`,
                licenseIds.length,
                ago(customer.createdAt, view.now),
              ]),
            })}
          </div>`
    }
    ${pager(path, { cursor: pages.cursor }, pages.next)}
  </div>`
}

export const customerView = (
  view: View,
  { customer, person }: SeenCustomer,
  licenses: readonly SeenLicense[],
): Html =>
  html`<div>
    ${heading(person.email ?? customer.customerId, copyable('customer ID', customer.customerId))}
    <div class="sheet">
      ${facts([
        ['Name', person.name ?? 'unknown'],
        ['Customer since', dayOf(customer.createdAt)],
      ])}
    </div>
    ${section('Licenses', licenses.length === 0 ? html`<p class="lead">No licenses.</p>` : licenseTable(view, licenses))}
  </div>`

type NewLicense = { token: string; operation: string; quotas: readonly NamedQuota[]; form: FilledForm }

export function newLicenseView({ token, operation, quotas, form }: NewLicense): Html {
  const choices = quotas.map(
    ({ productId, keyTypeId, product, keyType, licenses, used }) =>
      [soldAs(productId, keyTypeId), `${product}: ${keyType} (${licenses - used} left)`] as const,
  )
  return html`<div class="narrow">
    ${heading('New license', 'Its key is shown once, on the next page.')}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action=${`${home}/new-license`}>
      ${tokenField(token)}
      <input type="hidden" name="operation" value=${operation} />
      ${choiceField(form, { name: 'sold', label: 'Product and key type', choices })}
      ${textField(form, {
        name: 'email',
        label: 'Email',
        type: 'email',
        hint: 'Of your customer. A new address becomes a new customer.',
        maxlength: 254,
      })}
      ${textField(form, { name: 'name', label: 'Name', required: false, maxlength: 200 })}
      ${checkField(form, { name: 'sendKey', label: 'Mail the key to the customer' })}
      <div class="decide">
        <button>Mint license</button>
        <a class="button second" href=${`${home}/licenses`}>Cancel</a>
      </div>
    </form>
  </div>`
}

/** The key of a new license, which no other page shows. */
export const mintedView = (licenseId: string, licenseKey: string): Html =>
  html`<div class="narrow">
    ${heading('License key', 'Copy the key now and give it to your customer. It is shown only once.')}
    <div class="sheet stack">
      ${secretBox('License key', licenseKey)}
      <div class="decide">
        <a class="button" href=${`${home}/licenses/${licenseId}`}>View license</a>
        <a class="button second" href=${`${home}/new-license`}>New license</a>
      </div>
    </div>
  </div>`
