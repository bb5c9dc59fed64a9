import type { Pool } from 'pg'
import type { Release } from '../../src/domain/products/releases.ts'
import { defineTable } from '../table.ts'

/** The releases that a product lists, newest first: beside the product, since few calls need them. */
export const productReleases = defineTable(
  'product_releases',
  {
    tenantId: 'text not null',
    productId: 'text not null',
    revision: 'int not null',
    releases: 'json not null',
  },
  { key: ['tenantId', 'productId'], over: 'older row' },
)

/** The listed releases of a product, newest first. */
export async function listReleases(db: Pool, tenantId: string, productId: string): Promise<Release[]> {
  const { rows } = await db.query<{ releases: Release[] }>({
    name: 'list-releases',
    text: 'select releases from product_releases where tenant_id = $1 and product_id = $2',
    values: [tenantId, productId],
  })
  return rows[0]?.releases ?? []
}

/**
 * The newest listed release of a product that was built until a moment.
 * @param channel null for any
 */
export async function findNewestRelease(
  db: Pool,
  tenantId: string,
  productId: string,
  { until, channel }: { until: string; channel: string | null },
): Promise<Release | undefined> {
  const releases = await listReleases(db, tenantId, productId)
  return releases.find(
    (release) => release.builtAt <= until && (channel === null || release.channel === channel),
  )
}
