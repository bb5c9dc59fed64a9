import { listConfirmationsOfLicense } from '../../projections/confirmations.ts'
import { findLicense, type LicenseEntry } from '../../projections/licenses/queries.ts'
import { findSaleOfLicense } from '../../projections/sales/queries.ts'
import type { KnownDelivery } from '../domain/deliveries/delivery.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import type { Ports } from '../ports.ts'
import { readTotals } from '../usage/read.ts'
import { type Person, unknownPerson } from '../vault/subjects.ts'

/** The subject of an archive, as of its beginning. */
export type Case = {
  tenantId: string
  licenseId: string
  entry: LicenseEntry
  holder: Person
  sale: KnownSale | undefined
  buyer: Person
  confirmationIds: string[]
  /** The counts of all licenses of the product, since the day this one was issued. */
  counted: Awaited<ReturnType<typeof readTotals>>
}

/** The number of deliveries per channel and status. */
export type DeliveryCounts = Record<KnownDelivery['channel'], Record<KnownDelivery['status'], number>>

/** @returns undefined when the tenant has no such license */
export async function findCase(
  { db, subjects }: Ports<'db' | 'subjects'>,
  tenantId: string,
  licenseId: string,
): Promise<Case | undefined> {
  const entry = await findLicense(db, tenantId, licenseId)
  if (!entry) return undefined
  const { productId, createdAt, holder: sealed } = entry.license
  const [sale, confirmationIds, counted] = await Promise.all([
    findSaleOfLicense(db, tenantId, licenseId),
    listConfirmationsOfLicense(db, tenantId, licenseId),
    readTotals(db, tenantId, productId, createdAt),
  ])
  const people = await subjects.openPeople(tenantId, [sealed, sale?.customer ?? null])
  const [holder = unknownPerson, buyer = unknownPerson] = people
  return { tenantId, licenseId, entry, holder, sale, buyer, confirmationIds, counted }
}
