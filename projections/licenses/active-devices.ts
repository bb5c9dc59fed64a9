import type { Pool } from 'pg'
import type { Statement } from '../statements.ts'
import { defineTable } from '../table.ts'

/**
 * The devices in seats of each product. They are counted as licenses change, since every activation on a limited plan
 * and every usage request reads them, and summing over a million licenses would take too long.
 */
export const activeDevices = defineTable(
  'active_devices',
  {
    tenantId: 'text not null',
    productId: 'text not null',
    // Those in the seats of all licenses: an expired, suspended or revoked license that comes back has its devices again.
    seated: 'bigint not null',
    // Those of licenses that are valid, as far as an expiry is recorded.
    active: 'bigint not null',
  },
  { key: ['tenantId', 'productId'], over: 'sum' },
)

/** The devices of one license: those in its seats, and those of them that are active, which are all or none. */
export type LicenseDevices = { seated: number; active: number }

/** The devices of a license before and after a page of the log; `before` is undefined for a new license. */
export type DevicesChange = {
  tenantId: string
  productId: string
  before: LicenseDevices | undefined
  after: LicenseDevices
}

/**
 * Adds the changes to the counts. A change is the difference between two states of a license's row, in the transaction
 * that writes the row, so an event applied twice counts once. A product gets a row with its first license, also when
 * the count is 0, so that the rows do not depend on how the log is cut into pages.
 */
export function writesOfActiveDevices(changes: readonly DevicesChange[]): Statement[] {
  return activeDevices.write(
    changes
      .filter(({ before, after }) => before?.seated !== after.seated || before.active !== after.active)
      .map(({ tenantId, productId, before, after }) => ({
        tenantId,
        productId,
        seated: after.seated - (before?.seated ?? 0),
        active: after.active - (before?.active ?? 0),
      })),
  )
}

/** The devices of a tenant, or of one of its products, that are in a seat of a license that is valid. */
export const countActiveDevices = (db: Pool, tenantId: string, productId?: string): Promise<number> =>
  count(db, 'active', tenantId, productId)

/** The devices in the seats of all of a tenant's licenses. A plan limits these, since its licenses may come back. */
export const countSeatedDevices = (db: Pool, tenantId: string): Promise<number> =>
  count(db, 'seated', tenantId)

async function count(
  db: Pool,
  which: keyof LicenseDevices,
  tenantId: string,
  productId?: string,
): Promise<number> {
  const { rows } = await db.query<{ sum: bigint }>({
    name: `count-${which}-devices`,
    text: `select coalesce(sum(${which}), 0)::bigint as sum from active_devices
           where tenant_id = $1 and ($2::text is null or product_id = $2)`,
    values: [tenantId, productId ?? null],
  })
  return Number(rows[0]?.sum ?? 0n)
}
