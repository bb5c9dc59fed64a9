import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type IssuedLicense,
  type License,
  type LicenseCommand,
} from '../../src/domain/licenses/license.ts'
import { decideLink, evolveLink, type Link, unknownLink } from '../../src/domain/links/link.ts'
import type { SaleFact } from '../../src/domain/sales/events.ts'
import { itemsOf } from '../../src/domain/sales/items.ts'
import {
  absentSale,
  decideSale,
  evolveSale,
  itemPaymentStatus,
  type KnownSale,
  nextStep,
  type Sale,
  type SaleCommand,
} from '../../src/domain/sales/sale.ts'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import { factFrom } from '../../src/sales/receive.ts'
import { terms } from '../domain/licenses/license-samples.ts'
import { received } from '../domain/sales/sale-samples.ts'
import { limits } from './lives.ts'

type Sold = Extract<PaymentNotification, { type: 'sold' }>
type BindLink = Parameters<typeof decideLink>[1] & { type: 'BindLink' }

const at = '2026-01-01T00:00:00.000Z'

/**
 * The way from notifications to licenses with no store: the same decisions as in the service, each on what is in memory.
 * Nothing runs at the same time, so that what the orders of notifications come to is tried many thousands of times.
 */
export function pureShop(issuedUntil: (name: string) => string | null) {
  const sales = new Map<string, Sale>()
  const linkStates = new Map<string, Link>()
  const licenses = new Map<string, License>()

  const change = (id: string, command: SaleCommand): KnownSale => {
    const sale = sales.get(id) ?? absentSale
    const after = decideSale(sale, command).reduce(evolveSale, sale)
    sales.set(id, after)
    if (after.status === 'absent') throw new Error(`${id} is not sold`)
    return after
  }
  const command = (id: string, wanted: LicenseCommand): void => {
    const license = licenses.get(id) ?? absentLicense
    licenses.set(id, decideLicense(license, wanted).reduce(evolveLicense, license))
  }
  const linkAt = (link: string): Link => linkStates.get(link) ?? unknownLink
  const place = (provider: Sold['provider'], link: string) => ({ tenantId: 'acme', provider, link })

  function bind(id: string, { provider, saleId, links }: KnownSale): SaleFact[] {
    return links.flatMap((link) => {
      const key = `${provider} ${link}`
      const bound: BindLink = { type: 'BindLink', ...place(provider, link), saleId, at }
      const state = decideLink(linkAt(key), bound).reduce(evolveLink, linkAt(key))
      linkStates.set(key, state)
      return `${provider} ${state.saleId}` === id ? state.kept : []
    })
  }

  function carryOn(id: string, found: KnownSale): void {
    let sale = found
    while (nextStep(sale) !== undefined) {
      if (sale.status === 'received') {
        const own = issuedUntil(sale.saleId)
        // What is paid for longer runs as long as it is paid, from the beginning.
        const expiresAt = own !== null && sale.paidUntil !== null ? sale.paidUntil : own
        const { saleId } = sale
        const outcomes = itemsOf(sale).map(({ licenseId, keyTypeId: mapped, quantity }, item) => {
          const keyTypeId = mapped === 'extra' ? 'extra' : 'solo'
          const issued = { ...terms, licenseId, keyTypeId, expiresAt, source: 'sale' as const, saleId }
          const units = { quantity, deviceLimit: limits[keyTypeId] * quantity }
          command(licenseId, { type: 'MintLicense', terms: { ...issued, ...units } })
          return { item, license: { productId: 'editor', keyTypeId, expiresAt } }
        })
        const kept = bind(id, sale)
        sale = change(id, { type: 'RecordLicenses', outcomes, boundLinks: sale.links, kept, at })
        continue
      }
      const kept = sale.unboundLinks ? bind(id, sale) : []
      const { factCount: through, saleId } = sale
      for (const [place, item] of itemsOf(sale).entries()) {
        const wish = { saleId, through, ...itemPaymentStatus(sale, item), keepRefunded: false, at }
        // No change of these subscriptions concerns the second item.
        command(item.licenseId, { type: 'FollowSale', ...wish, terms: place === 0 ? termsOf(sale) : null })
      }
      sale = change(id, { type: 'SettleSale', through, boundLinks: sale.links, kept, at })
    }
  }

  function tellSale(told: Sold): void {
    const { provider, saleId, links } = told
    const id = `${provider} ${saleId}`
    const { notificationId, amount, currency, sessionId, paidUntil = null } = told
    const sold = boughtAs(told.sold)
    const own = { provider, saleId, sessionId, sold, amount, currency, paidUntil, notificationId }
    const all = [`sale:${saleId}`, ...links]
    if (sales.has(id)) {
      carryOn(id, change(id, { type: 'ReceiveAgain', notificationId, links: all, at }))
      return
    }
    const items = (told.more ?? []).map(({ sold: extra, quantity }, place) => {
      const licenseId = licenseIdOf(id, place + 1)
      return { sold: boughtAs(extra), quantity, licenseId, keyName: `sale-key.${licenseId}` }
    })
    const resolutions = ['solo', ...items.map(() => 'extra')].map((keyTypeId) => ({
      productId: 'editor',
      keyTypeId,
    }))
    const bought = {
      ...received,
      ...own,
      licenseId: licenseIdOf(id, 0),
      ...(items.length > 0 && { items }),
      links: [...new Set(all)],
      quantity: told.quantity,
      occurredAt: told.at,
    }
    carryOn(id, change(id, { type: 'ReceiveSale', received: bought, resolutions }))
  }

  function tellFact(told: Exclude<PaymentNotification, Sold>): void {
    const { provider, link } = told
    const key = `${provider} ${link}`
    const fact = factFrom(told, 'notification.1', at)
    const kept = { type: 'KeepFact', ...place(provider, link), fact, at } as const
    const state = decideLink(linkAt(key), kept).reduce(evolveLink, linkAt(key))
    linkStates.set(key, state)
    if (state.saleId === null) return
    const id = `${provider} ${state.saleId}`
    carryOn(id, change(id, { type: 'RecordFacts', facts: [fact] }))
  }

  return {
    tell: (told: PaymentNotification): void => (told.type === 'sold' ? tellSale(told) : tellFact(told)),
    licenseOf(provider: string, saleId: string, item: number): IssuedLicense {
      const license = licenses.get(licenseIdOf(`${provider} ${saleId}`, item))
      if (license?.status !== 'issued') throw new Error(`${saleId} has no license`)
      return license
    },
    count: () => licenses.size,
  }
}

/** The license of an item of a sale, by its place. */
const licenseIdOf = (sale: string, item: number): string => `lic ${sale} ${item}`

const boughtAs = (sold: Sold['sold']) =>
  'providerProduct' in sold ? sold : { productId: 'editor', keyTypeId: null }

/** By a mapping that knows both plans; `termsOfPlan` looks them up in the read models. */
function termsOf({ facts: { plans, quantity }, quantity: first }: KnownSale) {
  if (plans.length === 0 && quantity === null) return null
  const sold = plans.at(-1)?.sold
  const isTeam = sold !== undefined && 'providerProduct' in sold && sold.providerProduct.endsWith('team')
  const keyTypeId = isTeam ? 'team' : 'solo'
  const units = quantity?.quantity ?? first
  return { keyTypeId, quantity: units, deviceLimit: limits[keyTypeId] * units, onExpiry: 'expire' as const }
}
