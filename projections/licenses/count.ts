import type { Pool } from 'pg'
import type { LicenseStatus } from '../../src/domain/licenses/status.ts'
import { isShared, type LicenseFilter, partsMatching, recordedStatus, Values } from './filter.ts'
import { type EntryRow, entryFrom, entryOf, type LicenseEntry } from './queries.ts'

/** How many there are: counted up to a bound, and beyond it estimated from a sample. */
export type BoundedCount = { count: number; counted: 'exactly' | 'sampled' }

/** Up to this number, rows are counted exactly. */
export const mostCounted = 10_000

/** How many pages of the table a sample reads, about; a page of 8 kB holds about a dozen licenses. */
const sampledPages = 1000

/** Counts the licenses of a selection in bounded time. @param now the moment at which statuses are computed */
export async function countLicenses(
  db: Pool,
  tenantId: string,
  filter: Pick<LicenseFilter, 'productId' | 'status'>,
  now: string,
  most: number = mostCounted,
): Promise<BoundedCount> {
  const values = new Values()
  const { parts } = partsMatching(tenantId, filter, now, values)
  const order =
    filter.productId !== undefined && filter.status !== undefined
      ? 'l.key_type_id, l.created_at'
      : 'l.created_at desc'
  return boundedCount(
    db,
    parts.map((part) => ({ ...part, order })),
    values,
    most,
  )
}

export type KeyTypeOfProduct = { tenantId: string; productId: string; keyTypeId: string }

/** Counts the licenses of a key type in bounded time: live ones (active or fallback), and revoked or expired ones. */
export async function countLicensesOfKeyType(
  db: Pool,
  keyType: KeyTypeOfProduct,
  now: string,
  most: number = mostCounted,
): Promise<{ live: BoundedCount; ended: BoundedCount }> {
  const live = new Values()
  const ended = new Values()
  return {
    live: await boundedCount(db, liveParts(keyType, now, live), live, most),
    ended: await boundedCount(db, endedParts(keyType, now, ended), ended, most),
  }
}

/** Whether a key type has a live license. */
export async function hasLiveLicense(db: Pool, keyType: KeyTypeOfProduct, now: string): Promise<boolean> {
  const values = new Values()
  // Not `exists`: it would drop the order, and with it the index.
  const parts = liveParts(keyType, now, values).map((part) => `${rowsOf(part)} limit 1`)
  return (await sum(db, values, parts)) > 0
}

/** As many licenses of a sample are read at most. */
const mostSampled = 2000
/** Fewer sampled licenses say too little about all of them. */
const leastSampled = 100

/** The live licenses of a key type: all of them, or a sample when there are more than are counted. */
export async function sampleLiveLicenses(
  db: Pool,
  keyType: KeyTypeOfProduct,
  now: string,
  most: number = mostCounted,
): Promise<{ live: BoundedCount; entries: LicenseEntry[] }> {
  const { live } = await countLicensesOfKeyType(db, keyType, now, most)
  const read = async (share: string) => {
    const values = new Values()
    const limit = values.add(live.counted === 'sampled' ? Math.min(most, mostSampled) : most)
    const parts = liveParts(keyType, now, values).map((part) => {
      // The pages of a sample come in the order of the table, which is that of the licenses' age.
      const sampled = {
        ...part,
        from: `${part.from}${share}`,
        order: share === '' ? part.order : 'md5(l.license_id)',
      }
      return `(${rowsOf(sampled, 'l.*')} limit ${limit})`
    })
    const licenses = `(select * from (${parts.join(' union all ')}) found limit ${limit})`
    const { rows } = await db.query<EntryRow>(entryOf(licenses), values.all)
    return rows.map(entryFrom)
  }
  const sample = live.counted === 'sampled' ? await read(tablesample(await sampledPercent(db))) : []
  return { live, entries: sample.length < leastSampled ? await read('') : sample }
}

/**
 * Rows of a selection. The order is that of an index: with a limit, Postgres might otherwise expect to find enough rows
 * early in the whole table, and read all of it when there are few.
 */
type Part = { from: string; where: string; order: string }

const rowsOf = ({ from, where, order }: Part, columns = ''): string =>
  `select ${columns} from ${from} where ${where} order by ${order}`

const mayBeLive = ['active', 'fallback', 'suspended'] as const
const hasEnded = ['revoked', 'expired'] as const

const liveParts = (keyType: KeyTypeOfProduct, now: string, values: Values): Part[] =>
  partsOf(keyType, mayBeLive, `${isOver(now, values)} is not true`, values)

const endedParts = (keyType: KeyTypeOfProduct, now: string, values: Values): Part[] => [
  ...partsOf(keyType, hasEnded, 'true', values),
  ...partsOf(keyType, mayBeLive, isOver(now, values), values),
]

/** Expiries count at their second, whether or not they are recorded. */
const isOver = (now: string, values: Values): string =>
  `(l.ends_at <= ${values.add(now)}::timestamptz and l.on_expiry <> 'fallback')`

function partsOf(
  { tenantId, productId, keyTypeId }: KeyTypeOfProduct,
  statuses: readonly LicenseStatus[],
  condition: string,
  values: Values,
): Part[] {
  const ofIt = `l.tenant_id = ${values.add(tenantId)} and l.product_id = ${values.add(productId)} and l.key_type_id = ${values.add(keyTypeId)}`
  return statuses.map((status) => ({
    from: 'licenses l',
    where: `${ofIt} and ${recordedStatus} = '${status}' and ${condition}`,
    order: 'l.created_at',
  }))
}

/** @param parts each row is in one of them at most */
async function boundedCount(
  db: Pool,
  parts: readonly Part[],
  values: Values,
  most: number,
): Promise<BoundedCount> {
  const exact = await sum(
    db,
    values,
    parts.map((part) => `${rowsOf(part)} limit ${most + 1}`),
  )
  if (exact <= most) return { count: exact, counted: 'exactly' }
  const percent = await sampledPercent(db)
  const sampled = await sum(
    db,
    values,
    // Only the whole table is sampled; other parts are short.
    parts.map(({ from, where }) => {
      const share = from === 'licenses l' ? tablesample(percent) : ''
      return `select from ${from}${share} where ${where}`
    }),
  )
  return { count: Math.max(exact, rounded((sampled * 100) / percent)), counted: 'sampled' }
}

async function sum(db: Pool, values: Values, selections: readonly string[]): Promise<number> {
  const counts = selections.map((selection) => `(select count(*) from (${selection}) matching)`)
  const { rows } = await db.query<{ count: bigint }>(`select ${counts.join(' + ')} as count`, values.all)
  return Number(rows[0]?.count ?? 0n)
}

/** An estimate has no more than three digits that mean something. */
export const rounded = (estimate: number): number => Math.round(Number(estimate.toPrecision(3)))

/** The same pages as long as the table stays the same, so that a repeated count does not change by itself. */
const tablesample = (percent: number): string => ` tablesample system (${percent}) repeatable (1)`

async function sampledPercent(db: Pool): Promise<number> {
  const { rows } = await db.query<{ pages: bigint }>(
    `select pg_relation_size('licenses') / current_setting('block_size')::int as pages`,
  )
  return Math.min(100, (100 * sampledPages) / Math.max(1, Number(rows[0]?.pages ?? 0n)))
}

/** The licenses of a tenant with an open notice of sharing. */
export async function countShared(db: Pool, tenantId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-shared-licenses',
    text: `select count(*)::int as count from licenses where tenant_id = $1 and ${isShared}`,
    values: [tenantId],
  })
  return rows[0]?.count ?? 0
}
