import type { CustomerEntry } from '../../../projections/customers.ts'
import {
  findForLicense,
  findReseller,
  licensesSeenBy,
  type TakenLicense,
} from '../../../projections/resellers.ts'
import { isId } from '../../credentials/id.ts'
import type { LicenseTerms } from '../../domain/licenses/events.ts'
import { licenses } from '../../domain/licenses/license.ts'
import type { Owned } from '../../domain/licenses/link.ts'
import { Refusal } from '../../domain/refusal.ts'
import { type ResellerCommand, resellers } from '../../domain/resellers/reseller.ts'
import { loadFromLog } from '../../ledger/execute.ts'
import type { Ports } from '../../ports.ts'
import { customersOf } from '../customers/by-address.ts'
import { requireCustomer } from '../customers/customers.ts'
import { type LicenseInput, type MintPorts, mintLicense } from '../licenses/licenses.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'

/** A reseller of a tenant. */
export type ResellerRef = { tenantId: string; resellerId: string }

/**
 * Mints a license for a customer of a reseller, within their quota and by the terms of the key type.
 *
 * The license is counted in the stream of the reseller before it is minted with the same id, so that there are never more licenses
 * than the quota allows. Where the process dies in between, a repeated request goes on with this id; without one, the count is
 * taken back a day later, see {@link returnNotMinted}.
 * @throws Refusal `reseller_terms`, `reseller_needs_customer`, `reseller_closed`, `reseller_quota_used`, `customer_not_found` also for
 *   a customer of anyone else, and what `mintLicense` refuses
 */
export async function mintForReseller(
  ports: MintPorts & Ports<'findProduct'>,
  whose: ResellerRef,
  { productId: wanted, ...input }: LicenseInput & { productId: string },
  origin: Origin,
): ReturnType<typeof mintLicense> {
  const { quantity, deviceLimit, expiresAt, updatesUntil, customerId, email } = input
  if ([quantity, deviceLimit, expiresAt, updatesUntil].some((term) => term !== undefined))
    throw new Refusal('reseller_terms')
  if (customerId === undefined && email === undefined) throw new Refusal('reseller_needs_customer')
  if (customerId !== undefined) await requireOwnCustomer(ports, whose, customerId)
  const { product, keyTypeId: within } = await productInQuota(ports, whose, wanted, input.keyTypeId)
  return mintLicense(ports, product, { ...input, keyTypeId: within }, origin, async (license) => {
    const { licenseId, productId, keyTypeId } = license
    const at = momentOf(ports)
    const take = { type: 'TakeLicense', licenseId, productId, keyTypeId, at } as const
    await onLicense(ports, whose, take, origin)
    return customerId === undefined ? customerOf(ports, whose, license, origin) : { customerId }
  })
}

/**
 * What a reseller has no quota of is to them as if it were not there.
 * @param keyTypeId undefined for the first of the product that they have a quota of
 * @throws Refusal `product_not_found`, `key_type_not_found`
 */
async function productInQuota(
  { db, findProduct }: Ports<'db' | 'findProduct'>,
  { tenantId, resellerId }: ResellerRef,
  productId: string,
  keyTypeId: string | undefined,
) {
  const { reseller } = (await findReseller(db, tenantId, resellerId)) ?? {}
  const quotas = reseller?.quotas.filter((quota) => quota.productId === productId) ?? []
  const product = quotas.length > 0 ? await findProduct(tenantId, productId) : undefined
  if (!product) throw new Refusal('product_not_found')
  const quota = quotas.find((one) => keyTypeId === undefined || one.keyTypeId === keyTypeId)
  if (!quota) throw new Refusal('key_type_not_found')
  return { product, keyTypeId: quota.keyTypeId }
}

/** The reseller's own customer with the holder's address, or a new one. */
async function customerOf(
  ports: MintPorts,
  whose: ResellerRef,
  { holder }: Pick<LicenseTerms, 'holder'>,
  origin: Origin,
): Promise<Owned> {
  const found = holder && (await customersOf(ports, whose, [holder], origin)).get(holder.subjectId)
  if (!found) throw new Refusal('subject_not_found')
  return { customerId: found, byAddress: true }
}

/**
 * Takes a license out of its quota that was counted long ago and never minted: no request can mint it with this id any more, since
 * idempotency keys are forgotten after a day.
 */
export async function returnNotMinted(
  ports: Ports<'db' | 'execute' | 'ledger' | 'now'>,
  { licenseId, ...whose }: TakenLicense,
  origin: Origin,
): Promise<void> {
  // The read models may lack what was recorded just now.
  const { state } = await loadFromLog(ports.ledger, licenseId, licenses)
  if (state.status !== 'absent') return
  await onLicense(ports, whose, { type: 'ReturnLicense', licenseId, at: momentOf(ports) }, origin)
}

type OnLicense = Extract<ResellerCommand, { licenseId: string }>

/** A reseller may have many licenses: this reads one, instead of the whole stream. */
async function onLicense(
  ports: Ports<'db' | 'execute'>,
  { tenantId, resellerId }: ResellerRef,
  command: OnLicense,
  origin: Origin,
): Promise<void> {
  const read = async () => {
    const found = await findForLicense(ports.db, tenantId, resellerId, command.licenseId)
    if (!found) throw new Refusal('reseller_not_found')
    return { state: found.reseller, revision: found.revision }
  }
  await ports.execute(resellers, resellerId, command, causeOf(origin, command.at), { read })
}

/**
 * A customer of a reseller, with those of their licenses that the reseller minted.
 * @throws Refusal `customer_not_found`, also for a customer of the vendor, another reseller or another tenant, and for a
 * malformed id
 */
export async function requireOwnCustomer(
  ports: Ports<'db'>,
  { tenantId, resellerId }: ResellerRef,
  customerId: string,
): Promise<CustomerEntry> {
  if (!isId('cus', customerId)) throw new Refusal('customer_not_found')
  const entry = await requireCustomer(ports, tenantId, customerId)
  if (entry.customer.resellerId !== resellerId) throw new Refusal('customer_not_found')
  return entry
}

/** @throws Refusal `license_not_found`, also for a license that the reseller does not see, and for a malformed id */
export async function requireSeenLicense(
  { db }: Ports<'db'>,
  { resellerId }: ResellerRef,
  licenseId: string,
): Promise<void> {
  const isSeen = isId('lic', licenseId) && (await licensesSeenBy(db, resellerId, [licenseId])).has(licenseId)
  if (!isSeen) throw new Refusal('license_not_found')
}

/**
 * Customers as their reseller sees them: with those of their licenses that the reseller minted, and without what the vendor grants
 * and notes.
 */
export async function asSeenByReseller(
  { db }: Ports<'db'>,
  resellerId: string,
  entries: readonly CustomerEntry[],
): Promise<CustomerEntry[]> {
  const seen = await licensesSeenBy(
    db,
    resellerId,
    entries.flatMap(({ licenseIds }) => licenseIds),
  )
  return entries.map(({ customer, licenseIds }) => {
    const { mergedInto: _, people: __, ...own } = customer
    return {
      customer: { ...own, overrides: [], meters: [] },
      licenseIds: licenseIds.filter((licenseId) => seen.has(licenseId)),
    }
  })
}
