import type { Decider } from '../decider.ts'
import { Refusal } from '../refusal.ts'
import type { ParkedReason, SaleEvent, SaleFact } from './events.ts'
import { type Facts, isNew, noFacts, withFact } from './facts.ts'
import { type PaymentStatus, paymentStatusOf } from './status.ts'

type Received = Extract<SaleEvent, { type: 'SaleReceived' }>['data']

/** A purchase at a provider, and what followed from it. */
export type Sale = { status: 'absent' } | KnownSale

export type KnownSale = Omit<Received, 'at' | 'notificationId' | 'payload' | 'occurredAt'> & {
  /** `received` until its license exists. */
  status: 'parked' | 'received' | 'licensed'
  parked: { reason: ParkedReason; detail: string; at: string } | null
  productId: string | null
  keyTypeId: string | null
  /** When the key type was determined: the license's duration counts from then. */
  mappedAt: string | null
  /**
   * More was paid for than its key type allows: `sold` is the most units that it sells per purchase. The license
   * covers what was paid for.
   */
  exceeded: { sold: number } | null
  licensedAt: string | null
  /** The expiry of the license as it was issued. */
  firstExpiresAt: string | null
  facts: Facts
  /** How many facts are recorded; `settledThrough` is how many of them the license reflects. */
  factCount: number
  settledThrough: number
  /**
   * A link was added after `SaleReceived`, and facts may have been kept for it. The first links need no mark, since
   * issuing the license binds all of them.
   */
  unboundLinks: boolean
  duplicates: number
  receivedAt: string
  /** The provider's time of the purchase. */
  soldAt: string
  /** The links that name its first payment, or the sale as a whole. */
  ownLinks: readonly string[]
  /** The plan that the subscription was changed to and that is mapped to no key type. */
  unmappedPlan: string | null
}

/** What to issue for a sale, or why it is parked. */
export type Resolution =
  | {
      productId: string
      keyTypeId: string
      /** The largest quantity of the key type per purchase, if more were bought. */
      maxSold?: number
    }
  | { reason: ParkedReason; detail: string }

export type SaleCommand =
  | { type: 'ReceiveSale'; received: Received; resolution: Resolution }
  | { type: 'ResolveSale'; resolution: Resolution; at: string }
  | { type: 'ReceiveAgain'; notificationId: string; links: readonly string[]; at: string }
  | { type: 'RecordFacts'; facts: readonly SaleFact[] }
  | ({
      type: 'RecordLicense'
      license: { productId: string; keyTypeId: string; expiresAt: string | null }
    } & LinksRead)
  | ({
      type: 'SettleSale'
      through: number
      /**
       * The plan that the subscription was changed to and that is mapped to no key type; undefined when it
       * was not looked up.
       */
      unmappedPlan?: string | null | undefined
    } & LinksRead)
  | { type: 'ReviewPlan'; at: string }

/** The facts that were kept for the sale's links before the sale arrived. */
type LinksRead = { boundLinks: readonly string[]; kept: readonly SaleFact[]; at: string }

export const absentSale: Sale = { status: 'absent' }

/** More than a provider ever repeats; further ones are not recorded. */
const maxDuplicates = 20

/** What a sale may need next: its license, or that its license follows later notifications. */
export type SaleStep = 'license' | 'settle'

/** The step to take next; undefined when none is left, or when the sale is parked and needs a person. */
export function nextStep(sale: Sale): SaleStep | undefined {
  if (sale.status === 'received') return 'license'
  if (sale.status !== 'licensed') return undefined
  return sale.unboundLinks || sale.settledThrough < sale.factCount ? 'settle' : undefined
}

/**
 * The payment status that the sale's license should follow now.
 * @param keepRefunded whether the product keeps refunded licenses in use
 */
export const salePaymentStatus = (sale: KnownSale, keepRefunded: boolean): PaymentStatus =>
  paymentStatusOf({ ...sale, links: sale.ownLinks }, sale.facts, keepRefunded)

/**
 * Returning no events means that the request was already true, or that the sale has changed since the command
 * was made.
 * @throws Refusal `sale_not_found`
 */
export function decideSale(sale: Sale, command: SaleCommand): SaleEvent[] {
  if (command.type === 'ReceiveSale') {
    if (sale.status !== 'absent') return []
    const { received, resolution } = command
    return [{ type: 'SaleReceived', data: received }, ...resolved(resolution, received.quantity, received.at)]
  }
  if (sale.status === 'absent') throw new Refusal('sale_not_found')
  switch (command.type) {
    case 'ResolveSale':
      return resolvedAnew(sale, command.resolution, command.at)
    case 'ReceiveAgain': {
      const { notificationId, at } = command
      const links = command.links.filter((link) => !sale.links.includes(link))
      const again: SaleEvent = { type: 'DuplicateReceived', data: { notificationId, at } }
      return [
        ...(sale.duplicates < maxDuplicates ? [again] : []),
        ...(links.length > 0 ? [{ type: 'SaleLinked', data: { links, at } } as const] : []),
      ]
    }
    case 'RecordFacts':
      return newFacts(sale, command.facts)
    case 'RecordLicense': {
      // This includes a sale that was parked while another process issued its license: the license exists.
      if (sale.status === 'licensed' || !areAllBound(sale, command.boundLinks)) return []
      const { license, kept, at } = command
      const { saleId, provider: source, amount, currency, productName, customer, licenseId } = sale
      return [
        { type: 'SaleLicensed', data: { licenseId, ...license, at } },
        {
          type: 'SalePaymentRecorded',
          data: { saleId, source, amount, currency, productName, customer, at },
        },
        ...newFacts(sale, kept),
      ]
    }
    case 'SettleSale': {
      if (sale.status !== 'licensed' || !areAllBound(sale, command.boundLinks)) return []
      const { through, kept, at } = command
      const more = newFacts(sale, kept)
      const isSettled = through <= sale.settledThrough && !sale.unboundLinks
      if (isSettled) return more
      return [...planNoted(sale, command), { type: 'SaleSettled', data: { through, at } }, ...more]
    }
    case 'ReviewPlan':
      return sale.unmappedPlan === null ? [] : [{ type: 'PlanReviewed', data: { at: command.at } }]
  }
}

function planNoted(
  sale: KnownSale,
  { unmappedPlan: plan, at }: Extract<SaleCommand, { type: 'SettleSale' }>,
): SaleEvent[] {
  return plan === undefined || plan === sale.unmappedPlan
    ? []
    : [{ type: 'PlanNotMapped', data: { plan, at } }]
}

const areAllBound = (sale: KnownSale, bound: readonly string[]): boolean =>
  sale.links.every((link) => bound.includes(link))

function resolved(resolution: Resolution, quantity: number, at: string): SaleEvent[] {
  if ('reason' in resolution) return [{ type: 'SaleParked', data: { ...resolution, at } }]
  const { productId, keyTypeId, maxSold: sold } = resolution
  const mapped: SaleEvent = { type: 'SaleMapped', data: { productId, keyTypeId, at } }
  if (sold === undefined) return [mapped]
  return [mapped, { type: 'QuantityExceeded', data: { keyTypeId, quantity, sold, at } }]
}

/** A sale with a license does not change. */
function resolvedAnew(sale: KnownSale, resolution: Resolution, at: string): SaleEvent[] {
  if (sale.status === 'licensed') return []
  const isSame =
    'reason' in resolution
      ? sale.parked?.reason === resolution.reason && sale.parked.detail === resolution.detail
      : sale.status === 'received'
  return isSame ? [] : resolved(resolution, sale.quantity, at)
}

/** The facts that add anything, each compared with those before it. */
function newFacts(sale: KnownSale, reported: readonly SaleFact[]): SaleFact[] {
  let { facts } = sale
  return reported.filter((fact) => {
    if (!isNew(facts, fact)) return false
    facts = withFact(facts, fact)
    return true
  })
}

/** Never refuses: what is recorded has happened. */
export function evolveSale(sale: Sale, event: SaleEvent): Sale {
  if (event.type === 'SaleReceived') return received(event.data)
  if (sale.status === 'absent') return sale
  switch (event.type) {
    case 'SaleMapped': {
      const { productId, keyTypeId, at } = event.data
      const mapped = { productId, keyTypeId, mappedAt: at, exceeded: null }
      return { ...sale, status: 'received', parked: null, ...mapped }
    }
    case 'QuantityExceeded':
      return { ...sale, exceeded: { sold: event.data.sold } }
    case 'SaleParked':
      return {
        ...sale,
        status: 'parked',
        parked: event.data,
        productId: null,
        keyTypeId: null,
        mappedAt: null,
        exceeded: null,
      }
    case 'SaleLicensed': {
      const { productId, keyTypeId, expiresAt: firstExpiresAt, at: licensedAt } = event.data
      const licensed = { productId, keyTypeId, firstExpiresAt, licensedAt, unboundLinks: false }
      return { ...sale, ...licensed, status: 'licensed', parked: null }
    }
    case 'SalePaymentRecorded':
      return sale
    case 'SaleLinked':
      return withOwnLinks(sale, event.data.links)
    case 'DuplicateReceived':
      return { ...sale, duplicates: sale.duplicates + 1 }
    case 'SaleSettled':
      return {
        ...sale,
        settledThrough: Math.max(sale.settledThrough, event.data.through),
        unboundLinks: false,
      }
    case 'PlanNotMapped':
      return { ...sale, unmappedPlan: event.data.plan }
    case 'PlanReviewed':
      return { ...sale, factCount: sale.factCount + 1 }
    default: {
      const reported = { ...sale, facts: withFact(sale.facts, event), factCount: sale.factCount + 1 }
      return withLinks(reported, linksIn(event))
    }
  }
}

/** The links that a fact adds. */
function linksIn(fact: SaleFact): readonly string[] {
  switch (fact.type) {
    case 'SaleRenewed':
    case 'SubscriptionTold':
      return fact.data.links
    case 'PaymentNamed':
      return fact.data.names
    default:
      return []
  }
}

/** Facts may have been kept for a new link. */
function withLinks(sale: KnownSale, links: readonly string[]): KnownSale {
  const more = links.filter((link) => !sale.links.includes(link))
  return more.length === 0 ? sale : { ...sale, links: [...sale.links, ...more], unboundLinks: true }
}

/** The provider sent more ids of the sale itself. */
function withOwnLinks(sale: KnownSale, links: readonly string[]): KnownSale {
  const ownLinks = [...new Set([...sale.ownLinks, ...links])].sort()
  return withLinks({ ...sale, ownLinks }, links)
}

function received({ at, notificationId: _, payload: __, occurredAt: soldAt, ...data }: Received): KnownSale {
  return {
    ...data,
    soldAt,
    ownLinks: data.links.toSorted(),
    unmappedPlan: null,
    status: 'received',
    parked: null,
    productId: null,
    keyTypeId: null,
    mappedAt: null,
    exceeded: null,
    licensedAt: null,
    firstExpiresAt: null,
    facts: noFacts,
    factCount: 0,
    settledThrough: 0,
    unboundLinks: false,
    duplicates: 0,
    receivedAt: at,
  }
}

/** The rules of sale streams. */
export const sales: Decider<Sale, SaleCommand, 'sale'> = {
  category: 'sale',
  initial: absentSale,
  decide: decideSale,
  evolve: evolveSale,
}
