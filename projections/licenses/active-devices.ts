import type { Pool } from 'pg'
import { type Statement, writesOf } from '../statements.ts'

/**
 * The number of active devices of each product. It is counted as licenses change, since every activation on a limited
 * plan and every usage request reads it, and summing over a million licenses would take too long.
 */
export const activeDevicesDdl = `
  create table active_devices (
    tenant_id text not null,
    product_id text not null,
    devices bigint not null,
    primary key (tenant_id, product_id)
  )`

/** A license's number of used seats before and after a page of the log; `before` is undefined for a new license. */
export type SeatsChange = { tenantId: string; productId: string; before: number | undefined; after: number }

/**
 * Adds the changes to the counts. A change is the difference between two states of a license's row, in the transaction
 * that writes the row, so an event applied twice counts once. A product gets a row with its first license, also when
 * the count is 0, so that the rows do not depend on how the log is cut into pages.
 */
export function writesOfActiveDevices(changes: readonly SeatsChange[]): Statement[] {
  const sums = new Map<string, { tenant_id: string; product_id: string; devices: number }>()
  for (const { tenantId, productId, before, after } of changes) {
    if (before === after) continue
    const key = `${tenantId}.${productId}`
    const sum = sums.get(key) ?? { tenant_id: tenantId, product_id: productId, devices: 0 }
    sums.set(key, { ...sum, devices: sum.devices + after - (before ?? 0) })
  }
  return writesOf(
    'add-active-devices',
    `insert into active_devices as a select * from json_populate_recordset(null::active_devices, $1)
     on conflict (tenant_id, product_id) do update set devices = a.devices + excluded.devices`,
    [...sums.values()],
  )
}

/** The number of active devices of a tenant, or of one of its products. */
export async function countActiveDevices(db: Pool, tenantId: string, productId?: string): Promise<number> {
  const { rows } = await db.query<{ sum: bigint }>({
    name: 'count-active-devices',
    text: `select coalesce(sum(devices), 0)::bigint as sum from active_devices
           where tenant_id = $1 and ($2::text is null or product_id = $2)`,
    values: [tenantId, productId ?? null],
  })
  return Number(rows[0]?.sum ?? 0n)
}
