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
import {
  absentSale,
  decideSale,
  evolveSale,
  type KnownSale,
  nextStep,
  type Sale,
  type SaleCommand,
  salePaymentStatus,
} from '../../src/domain/sales/sale.ts'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import { factFrom } from '../../src/sales/facts.ts'
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
        const issued = { ...terms, licenseId: id, keyTypeId: 'solo', deviceLimit: limits.solo, expiresAt }
        command(id, { type: 'MintLicense', terms: { ...issued, source: 'sale', saleId: sale.saleId } })
        const kept = bind(id, sale)
        const license = { productId: 'editor', keyTypeId: 'solo', expiresAt }
        sale = change(id, { type: 'RecordLicense', license, boundLinks: sale.links, kept, at })
        continue
      }
      const kept = sale.unboundLinks ? bind(id, sale) : []
      const { factCount: through, saleId } = sale
      const wish = { saleId, through, ...salePaymentStatus(sale, false), keepRefunded: false, at }
      command(id, { type: 'FollowSale', ...wish, terms: termsOf(sale) })
      sale = change(id, { type: 'SettleSale', through, boundLinks: sale.links, kept, at })
    }
  }

  function tellSale(told: Sold): void {
    const { provider, saleId, links } = told
    const id = `${provider} ${saleId}`
    const { notificationId, amount, currency, sessionId, paidUntil = null } = told
    const sold = 'providerProduct' in told.sold ? told.sold : { productId: 'editor', keyTypeId: null }
    const own = { provider, saleId, sessionId, sold, amount, currency, paidUntil, notificationId }
    const all = [`sale:${saleId}`, ...links]
    if (sales.has(id)) {
      carryOn(id, change(id, { type: 'ReceiveAgain', notificationId, links: all, at }))
      return
    }
    const resolution = { productId: 'editor', keyTypeId: 'solo' }
    const bought = {
      ...received,
      ...own,
      links: [...new Set(all)],
      quantity: told.quantity,
      occurredAt: told.at,
    }
    carryOn(id, change(id, { type: 'ReceiveSale', received: bought, resolution }))
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
    licenseOf(provider: string, saleId: string): IssuedLicense {
      const license = licenses.get(`${provider} ${saleId}`)
      if (license?.status !== 'issued') throw new Error(`${saleId} has no license`)
      return license
    },
    count: () => licenses.size,
  }
}

/** By a mapping that knows both plans; `termsOfPlan` looks them up in the read models. */
function termsOf({ facts: { plans, quantity }, quantity: first }: KnownSale) {
  if (plans.length === 0 && quantity === null) return null
  const sold = plans.at(-1)?.sold
  const isTeam = sold !== undefined && 'providerProduct' in sold && sold.providerProduct.endsWith('team')
  const keyTypeId = isTeam ? 'team' : 'solo'
  const units = quantity?.quantity ?? first
  return { keyTypeId, quantity: units, deviceLimit: limits[keyTypeId] * units, onExpiry: 'expire' as const }
}
