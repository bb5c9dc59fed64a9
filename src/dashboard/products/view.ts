import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { Unlicensed } from '../../../projections/trials.ts'
import { seatFreesOf } from '../../commands/licenses/by-customer.ts'
import type { ProductSettings } from '../../domain/products/events.ts'
import type { KeyType, OfflineFiles } from '../../domain/products/key-type.ts'
import type { Release } from '../../domain/products/releases.ts'
import { maxInstalls } from '../../domain/trials/trial.ts'
import {
  durationWords,
  floatingWords,
  metersWords,
  money,
  namedWords,
  secondsWords,
} from '../../history/changes.ts'
import { type Content, type Html, html } from '../../html.ts'
import { ago, dayOf } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { badge, copyable, empty, facts, heading, pager, section, table } from '../frame/parts.ts'
import { entitlementTags, newLicenseLink } from '../licenses/view.ts'
import { meteredUsePart } from '../metered-use/part.ts'
import type { ShownMeteredUse } from '../metered-use/use.ts'
import type { ShownSeatUse } from '../seat-use/seat-use.ts'
import { seatUsePart } from '../seat-use/view.ts'
import { releasesPart } from './releases-view.ts'
import { sharingWords } from './sharing-form.ts'

type Products = {
  products: readonly PresentProduct[]
  cursor: string | undefined
  next: string | null
  mayManage: boolean
}

const newProduct = html`<a class="button" href="/dashboard/new-product">New product</a>`

export function productsView(view: View, { products, cursor, next, mayManage }: Products): Html {
  const rows = products.map(({ productId, name, keyPrefix, keyTypes, createdAt }): Content[] => [
    html`<span
      ><a href=${`/dashboard/products/${productId}`}>${name}</a><span class="sub mono">${productId}</span></span
    >`,
    html`<code>${keyPrefix}-…</code>`,
    keyTypes.map((keyType) => keyType.name).join(', '),
    ago(createdAt, view.now),
  ])
  return html`<div>
    ${heading('Products', 'The apps that licenses are issued for.', mayManage && products.length > 0 && newProduct)}
    ${
      products.length === 0
        ? empty(
            'No products yet',
            mayManage
              ? 'Create your app with the first kind of license that you sell for it.'
              : 'An owner or an admin of the workspace creates them.',
            mayManage && newProduct,
          )
        : html`<div class="sheeted">
            ${table({
              caption: 'Products',
              columns: [
                { label: 'Product' },
                { label: 'Key format', wide: true },
                { label: 'Key types' },
                { label: 'Created', wide: true },
              ],
              rows,
            })}
          </div>`
    }
    ${pager('/dashboard/products', { cursor }, next)}
  </div>`
}

const deviceMatchWords = ({ deviceMatch }: ProductSettings): string =>
  deviceMatch === undefined ? 'most components are equal' : `${deviceMatch.atLeast} components are equal`

const noticeWords = ({ expiringNotice }: ProductSettings): string =>
  expiringNotice === undefined ? 'off' : `${expiringNotice.days.join(' and ')} days before, and at the expiry`

const deviceMailWords = ({ deviceMails = [] }: ProductSettings): string =>
  deviceMails.map((mail) => ({ new_device: 'new devices', seats_full: 'no seat left' })[mail]).join(', ') ||
  'off'

const paidInFullWords = {
  by_key_type: 'perpetual license is kept',
  keep: 'license is kept',
  expire: 'license expires with the last period',
} as const

type Rights = { mayManage: boolean; mayMint: boolean }

export function productView(
  product: PresentProduct,
  {
    unlicensed,
    releases,
    seatUse,
    meteredUse,
  }: {
    unlicensed: Unlicensed
    releases: readonly Release[]
    seatUse: ShownSeatUse | undefined
    meteredUse: ShownMeteredUse
  },
  { mayManage, mayMint }: Rights,
): Html {
  const { productId, name, keyPrefix, settings, keyTypes, createdAt } = product
  const { trialDurationDays: trial } = settings
  const path = `/dashboard/products/${productId}`
  const actions = [
    html`<a class="button second" href=${`/dashboard/licenses?product=${productId}`}>View licenses</a>`,
    mayMint && newLicenseLink(productId, 'button second'),
    mayManage && html`<a class="button second" href=${`${path}/selling`}>Selling</a>`,
    mayManage && html`<a class="button second" href=${`${path}/mail`}>Mail</a>`,
    mayManage && html`<a class="button second" href=${`${path}/test-mode`}>Test mode</a>`,
    mayManage && html`<a class="button" href=${`${path}/edit`}>Edit</a>`,
  ]
  return html`<div>
    ${heading(name, copyable('product ID', productId), actions)}
    <div class="sheet">
      ${facts([
        ['Key prefix', html`<code>${keyPrefix}</code>`],
        ['Free tier', settings.freeTierEnabled ? badge('good', 'on') : badge('plain', 'off')],
        ['Trial', trial === undefined ? 'not configured' : trial === 0 ? 'off' : `${trial} days`],
        ['Test mode', settings.testMode.enabled ? badge('warn', 'on') : badge('plain', 'off')],
        ['Lease duration', secondsWords(settings.leaseSeconds)],
        ['Revalidation interval', secondsWords(settings.revalidateAfterSeconds)],
        ['Same device', deviceMatchWords(settings)],
        ['On refund', settings.onRefund === 'revoke' ? 'license is revoked' : 'license is kept'],
        ['Paid in full', paidInFullWords[settings.onPaidInFull ?? 'by_key_type']],
        ['Emails about the expiry', noticeWords(settings)],
        ['Emails about metered use', settings.usageNotice ? 'at the thresholds' : 'off'],
        ['Emails about devices', deviceMailWords(settings)],
        ['License keys', settings.keyRecovery ? 'kept, can be mailed again' : 'not kept'],
        [
          'In the portal',
          `${seatFreesOf(settings)} devices in 30 days${settings.customerKeyReplacement ? ', new keys' : ''}${settings.customerFiles ? ', license files' : ''}`,
        ],
        ['Holders of seats', settings.showSeatHolders ? 'named to those who wait' : 'not named'],
        ['Holder in leases', settings.leaseHolder ? 'named' : 'not named'],
        ['Key sharing', sharingWords(settings.keySharing)],
        ['Created', dayOf(createdAt)],
      ])}
    </div>
    ${section('Unlicensed installs', unlicensedSheet(unlicensed), 'Installs that have reported and have no license yet.')}
    ${seatUsePart(path, seatUse)} ${meteredUsePart(path, { ...meteredUse, meters: [], mayChange: false }, { product: productId })}
    ${section(
      'Key types',
      html`<div class="stack">
        ${keyTypes.map((keyType) => keyTypeCard(keyType, mayManage ? path : undefined))}
        ${mayManage && html`<div><a class="button second" href=${`${path}/new-key-type`}>New key type</a></div>`}
      </div>`,
      'A license gets its limits from its key type when it is issued.',
    )}
    ${releasesPart(releases, path, mayManage)}
  </div>`
}

function unlicensedSheet({ trial, free_tier, expired, sharedMachines }: Unlicensed): Html {
  const count = (installs: number) => installs.toLocaleString('en')
  return html`<div class="sheet">
    ${facts([
      ['On trial', count(trial)],
      ['On the free tier', count(free_tier)],
      ['Trial expired', count(expired)],
      ...(sharedMachines === 0
        ? []
        : [
            [
              'Unattributed',
              html`<span
                >${badge('warn', `${count(sharedMachines)} machine${sharedMachines === 1 ? '' : 's'}`)}
                <span class="sub">with more than ${maxInstalls} installs each; their trials are not limited</span></span
              >`,
            ] as const,
          ]),
    ])}
  </div>`
}

/** @param path of the product, for members who may change it */
function keyTypeCard(keyType: KeyType, path: string | undefined): Html {
  const { keyTypeId, name, deviceLimit, entitlements, price, sellInMultiples } = keyType
  return html`<div class="sheet stack">
    <div>
      <h3>${name}</h3>
      <span class="sub mono">${keyTypeId}</span>
    </div>
    ${facts([
      ['Devices', deviceLimit === null ? 'unlimited' : String(deviceLimit)],
      ...termFacts(keyType),
      ['Price', price === null ? 'none' : priceWords(price)],
      ['Sold in multiples', sellInMultiples ? 'yes' : 'no'],
    ])}
    ${entitlementTags(entitlements, keyType.entitlementValues)}
    ${
      path !== undefined &&
      html`<div>
        <a class="button second" href=${`${path}/key-types/${keyTypeId}/edit`} aria-label=${`Edit key type ${name}`}>Edit</a>
      </div>`
    }
  </div>`
}

const fileWords = ({ maxDays, perSeatPerYear }: OfflineFiles): string =>
  `${durationWords({ count: maxDays, unit: 'day' })}, ${perSeatPerYear} a year for each device`

/** How long its licenses last, cover new builds, and work without a network. */
function termFacts({
  duration,
  startsAt,
  graceSeconds,
  updates,
  onExpiry,
  offlineFiles,
  floatingSeats,
  namedSeats,
  meters,
}: KeyType): [string, string][] {
  const metered = metersWords({ meters })
  const more: [string, string][] = [
    ...(graceSeconds ? [['Grace', secondsWords(graceSeconds)] as [string, string]] : []),
    ...(updates ? [['Updates', durationWords(updates)] as [string, string]] : []),
    ...(floatingSeats ? [['Floating seats', floatingWords(floatingSeats)] as [string, string]] : []),
    ...(namedSeats ? [['Named seats', namedWords(namedSeats)] as [string, string]] : []),
    ...(offlineFiles ? [['License files', fileWords(offlineFiles)] as [string, string]] : []),
    ...(metered === null ? [] : [['Meters', metered] as [string, string]]),
  ]
  if (duration === null) return [['Duration', 'perpetual'], ...more]
  const from = startsAt === 'first_activation' ? ' from the first activation' : ''
  return [
    ['Duration', `${durationWords(duration)}${from}`],
    ...more,
    ['On expiry', onExpiry === 'fallback' ? 'falls back' : 'expires'],
  ]
}

function priceWords({ unitAmount, currency, interval, priceId }: NonNullable<KeyType['price']>): string {
  if (unitAmount === null || currency === null) return priceId
  return `${money(unitAmount, currency)}${interval === null ? '' : ` per ${interval}`}`
}
