import type { CustomerEntry } from '../../../projections/customers.ts'
import type { ExplainedOverride } from '../../domain/customers/overrides.ts'
import type { KnownDelivery } from '../../domain/deliveries/delivery.ts'
import { givesSeats } from '../../domain/licenses/status.ts'
import { entitlementsWritten } from '../../domain/products/written-values.ts'
import type { Paid } from '../../domain/sales/totals.ts'
import { money } from '../../history/changes.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { Refusal } from '../../usage/read-refusals.ts'
import type { Person } from '../../vault/subjects.ts'
import { deliveriesTable } from '../deliveries/view.ts'
import { devicesTable, type ShownDevice } from '../devices/view.ts'
import { dayOf } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { badge, copyable, facts, heading, section, sentenceList, table } from '../frame/parts.ts'
import { entitlementTags, licenseTable, type ShownLicense } from '../licenses/view.ts'
import { meteredUsePart, type ShownMeters } from '../metered-use/part.ts'
import { refusalsPath } from '../refusals/labels.ts'
import { refusalsTable } from '../refusals/view.ts'
import { type SaleRow, salesTable } from '../sales/view.ts'
import type { ShownSeatUse } from '../seat-use/seat-use.ts'
import { seatUsePart } from '../seat-use/view.ts'
import { type Merges, mergedFacts, mergePart } from './merge-view.ts'
import { newestNotes, type ShownNotes } from './notes-view.ts'
import { peoplePart, type ShownPeople } from './people-view.ts'
import { type PortalUse, portalPart } from './portal-part.ts'

/** The newest ones, and whether there are others. */
type Newest<Shown> = { items: readonly Shown[]; more: boolean }

export type OneCustomer = CustomerEntry & {
  person: Person
  people: ShownPeople
  noted: { notes: ShownNotes; more: boolean }
  overrides: readonly ExplainedOverride[]
  licenses: readonly ShownLicense[]
  /** How many licenses are not shown. */
  hidden: number
  devices: Newest<ShownDevice>
  refusals: Newest<Refusal>
  mails: Newest<KnownDelivery>
  portal: PortalUse
  seatUse: ShownSeatUse | undefined
  meteredUse: ShownMeters
  /** Those of the licenses and of the person. */
  sales: Newest<SaleRow>
  /** What was paid in all, by currency. */
  paid: readonly Paid[]
  merges: Merges
  mayChange: boolean
}

const linkTo = (href: string, label: string, look = 'button second'): Html =>
  html`<a class=${look} href=${href}>${label}</a>`

export function customerView(view: View, one: OneCustomer): Html {
  const { customer, person, licenses, hidden, paid, mayChange } = one
  const { customerId } = customer
  const own = `/dashboard/customers/${customerId}`
  // What is given to a merged customer would move on at once, or apply to no license.
  const standsAlone = customer.mergedInto === undefined
  return html`<div>
    ${heading(person.email ?? customerId, copyable('customer ID', customerId), mayChange && customer.erasedAt === null && [standsAlone && linkTo(`/dashboard/new-license?customer=${customerId}`, 'New license'), linkTo(`${own}/edit`, 'Edit', 'button')])}
    <div class="sheet">
      ${facts([
        ['Name', person.name ?? 'not set'],
        ['Created', dayOf(customer.createdAt)],
        ...mergedFacts(one.merges),
        paid.length > 0 && ['Paid', sentenceList(paid.map(paidWords))],
        ...Object.entries(customer.metadata),
      ])}
    </div>
    ${peoplePart(view, one.people)}
    ${newestNotes(view, one.noted.notes, one.noted.more)}
    ${section(
      'Licenses',
      licenses.length === 0
        ? html`<p class="lead">No linked licenses.</p>`
        : html`<div class="sheeted">${licenseTable(view, licenses)}</div>`,
      hidden > 0 && `The newest ones. ${hidden} more are not shown.`,
    )}
    ${mayChange && standsAlone && html`<p class="after">${linkTo(`${own}/links`, 'Link or unlink licenses')}</p>`}
    ${mayChange && customer.erasedAt === null && mergePart(view.token, customer)}
    ${entitlementsPart(licenses)}
    ${section('Entitlement overrides', overridesView(one.overrides), 'Entitlements that this customer has or lacks regardless of the license.')}
    ${mayChange && standsAlone && html`<p class="after">${linkTo(`${own}/entitlements`, 'Edit overrides')}</p>`}
    ${belongings(view, one)}
  </div>`
}

const paidWords = ({ currency, paid, returned }: Paid): string =>
  returned === 0
    ? money(paid, currency)
    : `${money(paid, currency)}, of which ${money(returned, currency)} went back`

type Entitled = Pick<ShownLicense, 'productId' | 'keyTypeId' | 'entitlements' | 'entitlementValues'> & {
  licenses: number
}

/** What the valid licenses grant now, each set once. */
function entitledBy(licenses: readonly ShownLicense[]): Entitled[] {
  const sets = new Map<string, Entitled>()
  for (const { status, productId, keyTypeId, entitlements, entitlementValues } of licenses) {
    if (!givesSeats(status)) continue
    const set = { productId, keyTypeId, entitlements, entitlementValues }
    const key = JSON.stringify(set)
    sets.set(key, { ...set, licenses: (sets.get(key)?.licenses ?? 0) + 1 })
  }
  return [...sets.values()]
}

function entitlementsPart(licenses: readonly ShownLicense[]): Content {
  const sets = entitledBy(licenses)
  if (sets.length === 0) return null
  return section(
    'Entitlements now',
    html`<div class="sheeted">
      ${table({
        caption: 'Entitlements now',
        columns: [{ label: 'Product' }, { label: 'Entitlements' }, { label: 'Licenses', number: true }],
        rows: sets.map(
          ({ productId, keyTypeId, entitlements, entitlementValues, licenses: count }): Content[] => [
            html`<span>${productId}<span class="sub">${keyTypeId}</span></span>`,
            entitlementTags(entitlements, entitlementValues),
            count,
          ],
        ),
      })}
    </div>`,
    'What the valid licenses above grant, with the overrides below.',
  )
}

/** What belongs to a customer and their licenses: where these are used, what was refused, paid, mailed and metered. */
function belongings(view: View, one: OneCustomer): Html {
  const { devices, refusals, mails, sales } = one
  const customer = one.customer.customerId
  const own = `/dashboard/customers/${customer}`
  const all = new URLSearchParams({ customer }).toString()
  return html`${newestPart('Devices', devices, {
    none: 'No devices.',
    shown: (items) => devicesTable(view, items),
    all: [`/dashboard/devices?${all}`, 'Show all devices'],
    lead: 'The devices of all licenses, most recently activated first.',
  })}
  ${
    refusals.items.length > 0 &&
    newestPart('Refused calls', refusals, {
      none: '',
      shown: (items) => refusalsTable(view, items),
      all: [refusalsPath({ customer }), 'Show all refusals'],
      lead: 'What the licenses refused in the last 90 days, newest first.',
    })
  }
  ${newestPart('Sales', sales, {
    none: 'No sales.',
    shown: (items) => salesTable(view, items),
    all: [`/dashboard/sales?${all}`, 'Show all sales'],
    lead: 'The sales of the licenses above, and those to the same email address, newest first.',
  })}
  ${newestPart('Emails', mails, {
    none: 'No emails about the licenses.',
    shown: (items) => deliveriesTable(view, { deliveries: items, waitedFor: new Map(), names: new Map() }),
    all: [`/dashboard/deliveries?${all}&channel=mail`, 'Show all emails'],
    lead: 'Emails about the licenses and their delivery, newest first.',
  })}
  ${portalPart(view, one.portal)}
  ${seatUsePart(own, one.seatUse)} ${meteredUsePart(own, one.meteredUse, { customer })}`
}

type NewestPart<Shown> = {
  none: string
  shown: (items: readonly Shown[]) => Html
  /** The list of all of them. */
  all: readonly [href: string, label: string]
  lead: string
}

function newestPart<Shown>(title: string, { items, more }: Newest<Shown>, part: NewestPart<Shown>): Html {
  if (items.length === 0) return section(title, html`<p class="lead">${part.none}</p>`)
  return html`${section(title, html`<div class="sheeted">${part.shown(items)}</div>`, part.lead)}
  ${more && html`<p class="after">${linkTo(...part.all)}</p>`}`
}

function overridesView(overrides: readonly ExplainedOverride[]): Html {
  if (overrides.length === 0) return html`<p class="lead">No overrides.</p>`
  return html`<div class="sheeted">
    ${table({
      caption: 'Entitlement overrides',
      columns: [
        { label: 'Entitlement' },
        { label: 'Effect' },
        { label: 'Product', wide: true },
        { label: 'Expires', wide: true },
        { label: 'Reason', wide: true },
      ],
      rows: overrides.map(({ entitlement, value, effect, productId, expiresAt, reason }): Content[] => [
        html`<code>${entitlementsWritten([entitlement], value === undefined ? {} : { [entitlement]: value })}</code>`,
        badge(effect === 'grant' ? 'good' : 'bad', effect === 'grant' ? 'granted' : 'revoked'),
        productId ?? 'all',
        expiresAt === undefined || expiresAt === null ? 'never' : dayOf(expiresAt),
        reason ?? '',
      ]),
    })}
  </div>`
}
