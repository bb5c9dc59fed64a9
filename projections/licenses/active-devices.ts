import type { Pool } from 'pg'
import { type Statement, writesOf } from '../statements.ts'

/**
 * How many devices of each product sit in seats now. It is kept beside the licenses, whose rows alone would have
 * to be gone through by the million: every activation of a limited plan asks for it, and so does whoever polls usage.
 */
export const activeDevicesDdl = `
  create table active_devices (
    tenant_id text not null,
    product_id text not null,
    devices bigint not null,
    primary key (tenant_id, product_id)
  )`

/** What a license's seats were before a page of the log, and are after it; undefined before it was there. */
export type SeatsChange = { tenantId: string; productId: string; before: number | undefined; after: number }

/**
 * Adds what has changed. A change is the difference between two states of a license's row, in the transaction that
 * writes the row, so that events which the row holds already make none. A product is there from its first license
 * on, however the log is cut into pages.
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

/** How many devices of a tenant, or of one product, sit in seats now. */
export async function countActiveDevices(db: Pool, tenantId: string, productId?: string): Promise<number> {
  const { rows } = await db.query<{ sum: bigint }>({
    name: 'count-active-devices',
    text: `select coalesce(sum(devices), 0)::bigint as sum from active_devices
           where tenant_id = $1 and ($2::text is null or product_id = $2)`,
    values: [tenantId, productId ?? null],
  })
  return Number(rows[0]?.sum ?? 0n)
}
