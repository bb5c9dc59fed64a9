import type { z } from 'zod'
import type { Cell } from '../csv.ts'
import type { licenseOut } from './license.ts'

type License = z.infer<typeof licenseOut>

/**
 * The columns in this order, each named after its field; new ones come last. Lists are separated by spaces; metadata, the values
 * of entitlements and a term that waits are JSON.
 */
export const exportColumns: Record<string, (license: License) => Cell> = {
  id: ({ id }) => id,
  productId: ({ productId }) => productId,
  keyTypeId: ({ keyTypeId }) => keyTypeId,
  displayKey: ({ displayKey }) => displayKey,
  status: ({ status }) => status,
  quantity: ({ quantity }) => quantity,
  deviceLimit: ({ deviceLimit }) => deviceLimit,
  seatsUsed: ({ seatsUsed }) => seatsUsed,
  entitlements: ({ entitlements }) => entitlements.join(' '),
  expiresAt: ({ expiresAt }) => expiresAt,
  email: ({ email }) => email,
  customerId: ({ customerId }) => customerId,
  source: ({ source }) => source,
  saleId: ({ saleId }) => saleId,
  test: ({ test }) => test,
  metadata: ({ metadata }) => JSON.stringify(metadata),
  createdAt: ({ createdAt }) => createdAt,
  revokedAt: ({ revokedAt }) => revokedAt,
  updatesUntil: ({ updatesUntil }) => updatesUntil,
  entitlementValues: ({ entitlementValues }) => entitlementValues && JSON.stringify(entitlementValues),
  startsWith: ({ startsWith }) => startsWith && JSON.stringify(startsWith),
  graceUntil: ({ graceUntil }) => graceUntil,
  suspendedAt: ({ suspendedAt }) => suspendedAt,
  floatingSeats: ({ floatingSeats }) => floatingSeats && JSON.stringify(floatingSeats),
}
