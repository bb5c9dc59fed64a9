import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import { Refusal } from '../refusal.ts'
import { credited, creditMapped, creditWithdrawn, withMapped } from './credited.ts'
import { type AddedCredit, type CreditChange, creditChanged, placeOf } from './credits.ts'
import type { ParkedReason, SaleEvent, SaleFact } from './events.ts'
import { type Facts, isNew, noFacts, withFact } from './facts.ts'
import { type FailedRenewal, type FailedSince, withFailedSince } from './failures.ts'
import {
  type FurtherItem,
  itemsOf,
  movedFirst,
  othersIn,
  type Resolution,
  resolvedItem,
  resolvedItems,
  type SaleItem,
  unmappedItem,
  withItem,
} from './items.ts'
import { renewalsOf, unpaidRenewals } from './renewals.ts'
import { type PaymentStatus, paymentStatusOf, type SaleRules } from './status.ts'

type Received = Extract<SaleEvent, { type: 'SaleReceived' }>['data']

/** A purchase at a provider, and what followed from it. */
export type Sale = { status: 'absent' } | KnownSale

export type KnownSale = Omit<
  Received,
  'at' | 'notificationId' | 'payload' | 'occurredAt' | 'items' | keyof SaleItem
> &
  /** The first item. */
  SaleItem & {
    /** The items besides the first. */
    others: readonly FurtherItem[]
    /** `received` until its license exists. */
    status: 'parked' | 'received' | 'licensed'
    parked: { reason: ParkedReason; detail: string; at: string } | null
    facts: Facts
    failedSince: FailedSince
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

export type SaleCommand =
  /** @param resolutions of each item, in their order */
  | { type: 'ReceiveSale'; received: Received; resolutions: readonly Resolution[] }
  | { type: 'ResolveSale'; resolutions: readonly Resolution[]; at: string }
  | { type: 'ReceiveAgain'; notificationId: string; links: readonly string[]; at: string }
  | { type: 'RecordFacts'; facts: readonly SaleFact[] }
  | ({ type: 'RecordLicenses'; outcomes: readonly ItemOutcome[] } & LinksRead)
  | ({
      type: 'SettleSale'
      through: number
      /**
       * The plan that the subscription was changed to and that is mapped to no key type; undefined when it
       * was not looked up.
       */
      unmappedPlan?: string | null | undefined
      /** What became of its credits. */
      credits?: readonly CreditChange[]
    } & LinksRead)
  | { type: 'ReviewPlan'; at: string }

/** What an item has come to: its license, its credit, or why it cannot have one. The first item always has one. */
export type ItemOutcome = { item: number } & (
  | { license: { productId: string; keyTypeId: string; expiresAt: string | null; waits?: true } }
  | { credit: Omit<AddedCredit, 'at'> }
  | { reason: ParkedReason; detail: string }
)

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
  if (pendingItems(sale).length > 0) return 'license'
  return sale.unboundLinks || sale.settledThrough < sale.factCount ? 'settle' : undefined
}

/** The places of the items that are mapped and have no license, or credit, yet. */
export const pendingItems = (sale: KnownSale): number[] =>
  itemsOf(sale).flatMap(({ mappedAt, licensedAt, credit }, place) =>
    mappedAt !== null && (credit ? credit.added === null : licensedAt === null) ? [place] : [],
  )

/**
 * The payment status that the license of an item should follow now.
 * @param rules what its product chooses; without them, what the payments are worth by themselves
 */
export const itemPaymentStatus = (
  { ownLinks: links, amount, currency, soldAt, paidUntil, facts }: KnownSale,
  { firstExpiresAt, waits, line }: Pick<SaleItem, 'firstExpiresAt' | 'waits' | 'line'>,
  rules?: SaleRules,
): PaymentStatus =>
  paymentStatusOf({ links, amount, currency, soldAt, paidUntil, firstExpiresAt, waits, line }, facts, rules)

/** When the license of an item was paid for again; see {@link renewalsOf}. */
export const itemRenewals = (
  { ownLinks: links, amount, currency, soldAt, paidUntil, facts }: KnownSale,
  { line }: Pick<SaleItem, 'line'>,
): string[] => renewalsOf({ links, amount, currency, soldAt, paidUntil, line }, facts)

/** The renewals whose payment failed and is still to be made, and the number of the fact by which each became known. */
export const failedRenewalsOf = ({
  ownLinks: links,
  amount,
  currency,
  soldAt,
  paidUntil,
  facts,
  failedSince,
}: KnownSale): readonly (FailedRenewal & { fact: number })[] =>
  unpaidRenewals({ links, amount, currency, soldAt, paidUntil }, facts).map((failed) => ({
    ...failed,
    fact: failedSince[failed.paymentId] ?? 0,
  }))

/** The payment status of the sale as a whole. */
export const salePaymentStatus = (sale: KnownSale, rules?: SaleRules): PaymentStatus =>
  itemPaymentStatus(sale, { firstExpiresAt: sale.firstExpiresAt, waits: sale.waits }, rules)

/**
 * Returning no events means that the request was already true, or that the sale has changed since the command
 * was made.
 * @throws Refusal `sale_not_found`
 */
export function decideSale(sale: Sale, command: SaleCommand): SaleEvent[] {
  if (command.type === 'ReceiveSale') {
    if (sale.status !== 'absent') return []
    const { received, resolutions } = command
    const items = [received, ...(received.items ?? [])]
    return [{ type: 'SaleReceived', data: received }, ...resolvedItems(items, resolutions, received.at)]
  }
  if (sale.status === 'absent') throw new Refusal('sale_not_found')
  switch (command.type) {
    case 'ResolveSale':
      return resolvedAnew(sale, command.resolutions, command.at)
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
    case 'RecordLicenses': {
      // This includes a sale that was parked while another process issued its license: the license exists.
      if (!areAllBound(sale, command.boundLinks)) return []
      const { outcomes, kept, at } = command
      const licensed = outcomes.flatMap((outcome) => itemRecorded(sale, outcome, at))
      if (sale.status === 'licensed') return licensed
      const { saleId, provider: source, amount, currency, productName, customer } = sale
      return [
        ...licensed,
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
      const items = itemsOf(sale)
      const credits = (command.credits ?? []).flatMap(
        (change) => creditChanged(items[change.item]?.credit, change, at) ?? [],
      )
      const isSettled = through <= sale.settledThrough && !sale.unboundLinks && credits.length === 0
      if (isSettled) return more
      return [
        ...credits,
        ...planNoted(sale, command),
        { type: 'SaleSettled', data: { through, at } },
        ...more,
      ]
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

/** An item that has its license already does not change. */
function itemRecorded(sale: KnownSale, { item: place, ...outcome }: ItemOutcome, at: string): SaleEvent[] {
  const item = itemsOf(sale)[place]
  if (!item || item.licensedAt !== null || item.credit?.added) return []
  if ('reason' in outcome) return resolvedItem(place, item.quantity, outcome, at)
  const own = place === 0 ? {} : { item: place }
  if ('credit' in outcome) {
    if (!item.credit) return []
    return [{ type: 'SaleCredited', data: { ...own, ...placeOf(item.credit), ...outcome.credit, at } }]
  }
  return [{ type: 'SaleLicensed', data: { ...own, licenseId: item.licenseId, ...outcome.license, at } }]
}

/** Items that have their license do not change. */
function resolvedAnew(sale: KnownSale, resolutions: readonly Resolution[], at: string): SaleEvent[] {
  const items = itemsOf(sale)
  if (sale.status === 'licensed') {
    return sale.others.flatMap(({ unmapped, quantity }, index) => {
      const resolution = resolutions[index + 1]
      const isNews = unmapped !== null && resolution && !('reason' in resolution)
      return isNews ? resolvedItem(index + 1, quantity, resolution, at) : []
    })
  }
  const isSame = resolutions.some((resolution) => !('reason' in resolution))
    ? sale.status === 'received' && resolutions[0] !== undefined && !('reason' in resolutions[0])
    : sameJson(sale.parked && { reason: sale.parked.reason, detail: sale.parked.detail }, resolutions[0])
  return isSame ? [] : resolvedItems(items, resolutions, at)
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
      const { productId, keyTypeId, item = 0, at } = event.data
      const mapped = { productId, keyTypeId, mappedAt: at, exceeded: null, unmapped: null }
      return withMapped(sale, item, mapped)
    }
    case 'CreditMapped':
      return creditMapped(sale, event.data)
    case 'SaleCredited':
      return credited(sale, event.data)
    case 'SaleCreditWithdrawn':
      return creditWithdrawn(sale, event.data)
    case 'ItemMovedFirst':
      return movedFirst(sale, event.data.item)
    case 'ItemNotMapped': {
      const { item, reason, detail } = event.data
      return withItem(sale, item, { ...unmappedItem, unmapped: { reason, detail } })
    }
    case 'QuantityExceeded':
      return withItem(sale, event.data.item ?? 0, { exceeded: { sold: event.data.sold } })
    case 'SaleParked':
      return {
        ...sale,
        ...unmappedItem,
        others: sale.others.map((other) => ({ ...other, ...unmappedItem, unmapped: null })),
        status: 'parked',
        parked: event.data,
      }
    case 'SaleLicensed': {
      const { productId, keyTypeId, expiresAt: firstExpiresAt, waits, item = 0, at: licensedAt } = event.data
      const licensed = { productId, keyTypeId, firstExpiresAt, ...(waits && { waits }), licensedAt }
      const after = withItem(sale, item, { ...licensed, unmapped: null })
      // A license that comes later than that of the first item follows what was settled before.
      if (item > 0) return { ...after, settledThrough: 0 }
      return { ...after, unboundLinks: false, status: 'licensed', parked: null }
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
      const factCount = sale.factCount + 1
      const failedSince = withFailedSince(sale.failedSince, event, factCount)
      const reported = { ...sale, facts: withFact(sale.facts, event), failedSince, factCount }
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

function received({
  at,
  notificationId: _,
  payload: __,
  occurredAt: soldAt,
  items,
  ...data
}: Received): KnownSale {
  return {
    ...data,
    soldAt,
    ownLinks: data.links.toSorted(),
    unmappedPlan: null,
    status: 'received',
    parked: null,
    ...unmappedItem,
    others: othersIn({ items }),
    facts: noFacts,
    failedSince: {},
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
