import { type CustomerEntry, findCustomer } from '../../projections/customers.ts'
import {
  type Cutoff,
  countActiveDevicesAt,
  findPointAtRevision,
  findPointAtTime,
  type HistoryEntry,
  listLicenseIdsAt,
  readEffectiveEvents,
} from '../../projections/history/queries.ts'
import { findLicense, type LicenseEntry } from '../../projections/licenses/queries.ts'
import type { PresentProduct } from '../../projections/products/queries.ts'
import { isParked } from '../../projections/runner/parked.ts'
import type { PresentTenant } from '../../projections/tenants.ts'
import { momentOf } from '../commands/origin.ts'
import { absentCustomer, type Customer, customers } from '../domain/customers/customer.ts'
import { absentLicense, evolveLicense, type IssuedLicense } from '../domain/licenses/license.ts'
import type { Seat } from '../domain/licenses/seats.ts'
import type { KeyType } from '../domain/products/key-type.ts'
import { absentProduct, evolveProduct, type Product, products } from '../domain/products/product.ts'
import { evolveRecorded, type Recorded } from '../domain/recorded.ts'
import { Refusal } from '../domain/refusal.ts'
import { customerStream, licenseStream, productStream, tenantStream } from '../domain/streams.ts'
import { type Tenant, tenants } from '../domain/tenants/tenant.ts'
import { LedgerUnavailable } from '../ledger/connection/unavailable.ts'
import type { Ports } from '../ports.ts'
import { type AsOf, evolveThrough, evolveUntil } from './moment.ts'

/** A license in the past, with everything that decided its validates then. */
export type LicenseThen = LicenseEntry & {
  license: IssuedLicense
  /** The time of that state. */
  at: string
  cut: Cutoff
  product: PresentProduct
  tenant: PresentTenant
  /** The events that decided, oldest first, without those that later ones had overwritten. */
  deciding: HistoryEntry[]
}

/**
 * A license in the past, by the same `evolve` functions as the present one: from its own events and those of
 * its product, its customer and its tenant up to that moment.
 * @throws Refusal `license_not_found` when the tenant has no such license, or did not have it yet;
 *   `moment_in_the_future`
 * @throws LedgerUnavailable when part of the history cannot be read
 */
export async function licenseAsOf(
  ports: Ports<'db' | 'ledger' | 'now'>,
  tenantId: string,
  licenseId: string,
  asOf: AsOf,
): Promise<LicenseThen> {
  const now = await findLicense(ports.db, tenantId, licenseId)
  if (!now) throw new Refusal('license_not_found')
  const { revision, at, cut } = await positionIn(ports, licenseId, asOf)
  // The time of the event that parked the stream is unknown, so the state after the last readable event is
  // uncertain.
  const isLast = 'time' in asOf && revision >= now.revision
  if (isLast && (await isParked(ports.db, licenseStream(licenseId)))) throw unreadableHistory(licenseId)
  const { productId } = now.license
  const [deciding, { product, keyTypes }, tenant] = await Promise.all([
    readEffectiveEvents(ports.db, licenseId, revision),
    productThen(ports, tenantId, productId, cut),
    tenantThen(ports, tenantId, cut),
  ])
  const license = deciding.reduce((state, { event }) => evolveLicense(state, event), absentLicense)
  if (license.status === 'absent' || product.status === 'absent' || tenant.status === 'absent') {
    throw unreadableHistory(licenseId)
  }
  const { customerId } = license
  const customer = customerId === null ? absentCustomer : await customerThen(ports, customerId, cut)
  const keyType = keyTypes.get(license.keyTypeId)
  return {
    license,
    revision,
    at,
    cut,
    product,
    tenant,
    deciding,
    entitlements: keyType?.entitlements ?? [],
    fallbackEntitlements: keyType?.fallbackEntitlements ?? [],
    entitlementValues: keyType?.entitlementValues ?? {},
    overrides: customer.status === 'present' && customer.tenantId === tenantId ? customer.overrides : [],
  }
}

const unreadableHistory = (licenseId: string): LedgerUnavailable =>
  new LedgerUnavailable(`the history of ${licenseStream(licenseId)} is incomplete at that moment`)

/** @throws Refusal `moment_in_the_future`, `license_not_found` for a time before its first event */
async function positionIn(
  ports: Ports<'db' | 'now'>,
  licenseId: string,
  asOf: AsOf,
): Promise<{ revision: number; at: string; cut: Cutoff }> {
  if ('sequence' in asOf) {
    const place = await findPointAtRevision(ports.db, licenseId, asOf.sequence)
    if (!place) throw new Refusal('moment_in_the_future')
    return { revision: place.revision, at: place.moment, cut: { position: place.position } }
  }
  refuseFuture(ports, asOf.time)
  const place = await findPointAtTime(ports.db, licenseId, asOf.time)
  if (!place) throw new Refusal('license_not_found')
  return { revision: place.revision, at: asOf.time, cut: { time: asOf.time } }
}

/** Later events may still be recorded for a time in the future. @throws Refusal `moment_in_the_future` */
function refuseFuture(ports: Ports<'now'>, time: string): void {
  if (time > momentOf(ports)) throw new Refusal('moment_in_the_future')
}

type KeyTypes = ReadonlyMap<string, KeyType>

/** A deleted key type stays, since licenses were issued for it. */
function applyToKeyTypes(keyTypes: KeyTypes, { event }: Recorded<'product'>): KeyTypes {
  if (event.type !== 'KeyTypeAdded' && event.type !== 'KeyTypeChanged') return keyTypes
  const { keyType } = event.data
  return new Map(keyTypes).set(keyType.keyTypeId, keyType)
}

function productThen(
  { ledger }: Ports<'ledger'>,
  tenantId: string,
  productId: string,
  cut: Cutoff,
): Promise<{ product: Product; keyTypes: KeyTypes }> {
  const initial = { product: absentProduct, keyTypes: new Map<string, KeyType>() as KeyTypes }
  return evolveUntil(ledger, productStream(tenantId, productId), cut, initial, (state, recorded) =>
    recorded.category === 'product'
      ? {
          product: evolveProduct(state.product, recorded.event),
          keyTypes: applyToKeyTypes(state.keyTypes, recorded),
        }
      : state,
  )
}

const evolveCustomer = evolveRecorded(customers)

function customerThen({ ledger }: Ports<'ledger'>, customerId: string, cut: Cutoff): Promise<Customer> {
  return evolveUntil(ledger, customerStream(customerId), cut, customers.initial, evolveCustomer)
}

function tenantThen({ ledger }: Ports<'ledger'>, tenantId: string, cut: Cutoff): Promise<Tenant> {
  return evolveUntil(ledger, tenantStream(tenantId), cut, tenants.initial, evolveRecorded(tenants))
}

/**
 * A product in the past.
 * @throws Refusal `product_not_found` when the tenant has no such product, or did not have it yet;
 *   `moment_in_the_future`
 */
export async function productAsOf(
  ports: Ports<'findProduct' | 'ledger' | 'now'>,
  tenantId: string,
  productId: string,
  asOf: AsOf,
): Promise<PresentProduct> {
  const stream = productStream(tenantId, productId)
  if (!(await ports.findProduct(tenantId, productId))) throw new Refusal('product_not_found')
  const { state } = await stateAsOf(ports, stream, asOf, products.initial, evolveRecorded(products))
  if (state.status === 'absent') throw new Refusal('product_not_found')
  return state
}

/**
 * A customer in the past, with the licenses linked to it then.
 * @throws Refusal `customer_not_found`, `moment_in_the_future`
 */
export async function customerAsOf(
  ports: Ports<'db' | 'ledger' | 'now'>,
  tenantId: string,
  customerId: string,
  asOf: AsOf,
): Promise<CustomerEntry> {
  const found = await findCustomer(ports.db, tenantId, customerId)
  if (!found) throw new Refusal('customer_not_found')
  const stream = customerStream(customerId)
  const { state, cut } = await stateAsOf(ports, stream, asOf, customers.initial, evolveCustomer)
  if (state.status === 'absent') throw new Refusal('customer_not_found')
  return { customer: state, licenseIds: await listLicenseIdsAt(ports.db, tenantId, customerId, cut) }
}

/** @throws Refusal `moment_in_the_future` */
async function stateAsOf<State>(
  ports: Ports<'ledger' | 'now'>,
  stream: string,
  asOf: AsOf,
  initial: State,
  evolve: (state: State, recorded: Recorded) => State,
): Promise<{ state: State; cut: Cutoff }> {
  if ('time' in asOf) {
    refuseFuture(ports, asOf.time)
    return { state: await evolveUntil(ports.ledger, stream, asOf, initial, evolve), cut: asOf }
  }
  const through = await evolveThrough(ports.ledger, stream, asOf.sequence, initial, evolve)
  if (!through) throw new Refusal('moment_in_the_future')
  return { state: through.state, cut: { position: through.position } }
}

/** All devices that had a seat on the license by then, oldest activation first. */
export const seatsInOrder = ({ seats }: IssuedLicense): Seat[] =>
  [...seats.values()].toSorted(
    (left, right) => compare(left.activatedAt, right.activatedAt) || compare(left.deviceId, right.deviceId),
  )

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

/** How many of the tenant's devices were active then. */
export const activeDevicesThen = ({ db }: Ports<'db'>, { tenant, cut }: LicenseThen): Promise<number> =>
  countActiveDevicesAt(db, tenant.tenantId, cut)
