import { type LicenseStatus, licenseStatuses } from '../../domain/licenses/status.ts'
import type { EntitlementValues } from '../../domain/products/entitlement-values.ts'
import type { Duration } from '../../domain/products/key-type.ts'
import { entitlementsWritten } from '../../domain/products/written-values.ts'
import { type Content, type Html, html } from '../../html.ts'
import { candidateWords, type Meant, notOneCustomer } from '../customers/choose.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, formProblem } from '../forms/form-fields.ts'
import { ago } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { asNamed, badge, empty, heading, pager, type Tone, table, tokenField } from '../frame/parts.ts'
import { customerLine } from '../lists/lists.ts'
import type { ShownFilter } from './filter.ts'
import { licenseFilters } from './filter-view.ts'

/** The fields of a license that pages show, as in the API. */
export type ShownLicense = {
  id: string
  productId: string
  keyTypeId: string
  displayKey: string
  status: LicenseStatus
  quantity: number
  deviceLimit: number | null
  seatsUsed: number
  entitlements: readonly string[]
  entitlementValues?: EntitlementValues | undefined
  expiresAt: string | null
  startsWith?: Duration | undefined
  graceUntil?: string | undefined
  email: string | null
  customerId: string | null
  source: string
  test: boolean
  metadata: Record<string, string>
  createdAt: string
}

const tones: Record<LicenseStatus, Tone> = {
  active: 'good',
  fallback: 'warn',
  expired: 'plain',
  suspended: 'warn',
  revoked: 'bad',
}

export const statusBadge = (status: LicenseStatus): Html => badge(tones[status], status)

const seats = ({ seatsUsed, deviceLimit }: ShownLicense): string =>
  deviceLimit === null ? `${seatsUsed}` : `${seatsUsed} of ${deviceLimit}`

type Licenses = {
  licenses: readonly ShownLicense[]
  products: readonly { productId: string; name: string }[]
  filter: ShownFilter
  cursor: string | undefined
  next: string | null
  mayMint: boolean
  mayExport: boolean
}

/** @param product the one that the license is for, if it is known */
export const newLicenseLink = (product?: string, look = 'button'): Html =>
  html`<a class=${look} href=${`/dashboard/new-license${product === undefined ? '' : `?product=${product}`}`}>New license</a>`

const importLink = (product?: string): Html =>
  html`<a class="button second" href=${`/dashboard/import-licenses${product === undefined ? '' : `?product=${product}`}`}>Import</a>`

/** To the form that requests an export of what the list shows. */
function exportLink({ product, status }: Licenses['filter']): Html {
  const query = new URLSearchParams({ ...(product && { product }), ...(status && { status }) }).toString()
  return html`<a class="button second" href=${`/dashboard/export-licenses${query && `?${query}`}`}>Export</a>`
}

export function licensesView(
  view: View,
  { licenses, products, filter, cursor, next, mayMint, mayExport }: Licenses,
): Html {
  const filtered = Object.values(filter).some((value) => value !== undefined)
  return html`<div>
    ${heading('Licenses', 'Newest first. Keys are masked. A full key is shown only once, when it is minted.', [mayExport && exportLink(filter), mayMint && [importLink(filter.product), newLicenseLink(filter.product)]])}
    ${licenseFilters(view, products, filter)}
    <div id="licenses">
      ${filter.person !== undefined && html`<p class="lead">Showing one person. <a href="/dashboard/licenses">Show all licenses</a></p>`}
      ${customerLine(filter.customer, '/dashboard/licenses', 'Show all licenses')}
      ${
        licenses.length === 0
          ? noLicenses(filtered, mayMint)
          : html`<div class="sheeted">${licenseTable(view, licenses)}</div>`
      }
      ${pager('/dashboard/licenses', { ...filter, cursor }, next)}
    </div>
  </div>`
}

/** The customers that a text means, each with a link to their licenses. */
export function whichCustomerView(text: string, meant: Meant): Html {
  return html`<div>
    ${heading('Which customer?', notOneCustomer(text, meant))}
    ${
      meant.candidates.length > 0 &&
      html`<ul class="sheet stack">
        ${meant.candidates.map((candidate) => html`<li><a href=${`/dashboard/licenses?customer=${candidate.customerId}`}>${candidateWords(candidate)}</a></li>`)}
      </ul>`
    }
    <p class="after"><a class="button second" href="/dashboard/licenses">Show all licenses</a></p>
  </div>`
}

export function licenseTable(view: View, licenses: readonly ShownLicense[]): Html {
  return table({
    caption: 'Licenses',
    columns: [
      { label: 'License' },
      { label: 'Product', wide: true },
      { label: 'Status' },
      { label: 'Devices', wide: true, number: true },
      { label: 'Issued', wide: true },
    ],
    rows: licenses.map((license): Content[] => [
      html`<span
        ><a class="mono" href=${`/dashboard/licenses/${license.id}`}>${license.displayKey}</a
        ><span class="sub">${license.email ?? 'No email address'}</span></span
      >`,
      html`<span>${license.productId}<span class="sub">${license.keyTypeId}</span></span>`,
      html`<span>${statusBadge(license.status)} ${license.test && badge('plain', 'test')}</span>`,
      seats(license),
      ago(license.createdAt, view.now),
    ]),
  })
}

function noLicenses(filtered: boolean, mayMint: boolean): Html {
  if (filtered)
    return empty(
      'No licenses match these filters',
      'Change or remove a filter. An email address has to be complete.',
      html`<a href="/dashboard/licenses">Show all licenses</a>`,
    )
  return empty(
    'No licenses yet',
    mayMint
      ? 'Mint one for a customer. Connected payment providers create them for every sale.'
      : 'Members who may change licenses mint them. Connected payment providers create them for every sale.',
    mayMint && html`<p class="actions">${newLicenseLink()} ${importLink()}</p>`,
  )
}

/** @param values of those that have one */
export const entitlementTags = (entitlements: readonly string[], values: EntitlementValues = {}): Html =>
  entitlements.length === 0
    ? html`<p class="lead">No entitlements.</p>`
    : html`<p class="tags">${entitlementsWritten(entitlements, values).map((one) => html`<code class="badge plain">${one}</code>`)}</p>`

type Export = {
  token: string
  products: readonly { productId: string; name: string }[]
  form: FilledForm
}

/** The form that requests an export. */
export function exportView({ token, products, form }: Export): Html {
  const named = products.map(({ productId, name }) => [productId, name] as const)
  return html`<div class="narrow">
    ${heading('Export licenses', "The file contains customers' email addresses, so an owner or an approver has to approve the request. Keys are masked.")}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action="/dashboard/export-licenses">
      ${tokenField(token)}
      ${choiceField(form, {
        name: 'format',
        label: 'Format',
        hint: 'CSV opens in a spreadsheet. JSON lines have the fields of the API.',
        choices: [
          ['csv', 'CSV'],
          ['ndjson', 'JSON lines'],
        ],
      })}
      ${choiceField(form, { name: 'product', label: 'Product', choices: [['', 'All products'], ...named] })}
      ${choiceField(form, {
        name: 'status',
        label: 'Status',
        choices: [['', 'Any status'], ...asNamed(licenseStatuses)],
      })}
      <p class="hint">After the approval you download the file on its page, once, within 60 minutes.</p>
      <div class="decide">
        <button>Request export</button>
        <a class="button second" href="/dashboard/licenses">Cancel</a>
      </div>
    </form>
  </div>`
}
