import type { Pool } from 'pg'
import { type LicenseFilter, partsMatching, recordedStatus, Values } from './filter.ts'
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
  return boundedCount(db, parts, values, most)
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
  const [isLive, ...isEnded] = [livePart(keyType, now, live), ...endedParts(keyType, now, ended)]
  return {
    live: await boundedCount(db, [isLive], live, most),
    ended: await boundedCount(db, isEnded, ended, most),
  }
}

/** Whether a key type has a live license. */
export async function hasLiveLicense(db: Pool, keyType: KeyTypeOfProduct, now: string): Promise<boolean> {
  const values = new Values()
  const { from, where } = livePart(keyType, now, values)
  const { rows } = await db.query<{ has: boolean }>(
    `select exists (select from ${from} where ${where}) as has`,
    values.all,
  )
  return rows[0]?.has === true
}

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
    const { from, where } = livePart(keyType, now, values)
    // The pages of a sample come in the order of the table, which is that of the licenses' age.
    const order = share === '' ? '' : ' order by md5(l.license_id)'
    const licenses = `(select l.* from ${from}${share} where ${where}${order} limit ${values.add(most)})`
    const { rows } = await db.query<EntryRow>(entryOf(licenses), values.all)
    return rows.map(entryFrom)
  }
  const sample = live.counted === 'sampled' ? await read(tablesample(await sampledPercent(db))) : []
  return { live, entries: sample.length < leastSampled ? await read('') : sample }
}

type Part = { from: string; where: string }

const ofKeyType = ({ tenantId, productId, keyTypeId }: KeyTypeOfProduct, values: Values): string =>
  `l.tenant_id = ${values.add(tenantId)} and l.product_id = ${values.add(productId)} and l.key_type_id = ${values.add(keyTypeId)}`

/** Expiries count at their second, whether or not they are recorded. */
const isOver = (now: string, values: Values): string =>
  `(l.expires_at <= ${values.add(now)}::timestamptz and l.on_expiry <> 'fallback')`

const mayBeLive = `${recordedStatus} in ('active', 'fallback', 'suspended')`

const livePart = (keyType: KeyTypeOfProduct, now: string, values: Values): Part => ({
  from: 'licenses l',
  where: `${ofKeyType(keyType, values)} and ${mayBeLive} and ${isOver(now, values)} is not true`,
})

const endedParts = (keyType: KeyTypeOfProduct, now: string, values: Values): Part[] => {
  const ofIt = ofKeyType(keyType, values)
  return [
    { from: 'licenses l', where: `${ofIt} and ${recordedStatus} in ('revoked', 'expired')` },
    { from: 'licenses l', where: `${ofIt} and ${mayBeLive} and ${isOver(now, values)}` },
  ]
}

/** @param parts each row is in one of them at most */
async function boundedCount(
  db: Pool,
  parts: readonly Part[],
  values: Values,
  most: number,
): Promise<BoundedCount> {
  const exact = await sum(db, parts, values, (part) => `${part} limit ${most + 1}`)
  if (exact <= most) return { count: exact, counted: 'exactly' }
  const percent = await sampledPercent(db)
  const sampled = await sum(db, parts, values, (part) => part, tablesample(percent))
  return { count: Math.max(exact, Math.round((sampled * 100) / percent)), counted: 'sampled' }
}

/** Only whole tables are sampled; the other parts are short. */
async function sum(
  db: Pool,
  parts: readonly Part[],
  values: Values,
  limited: (part: string) => string,
  share = '',
): Promise<number> {
  const counts = parts.map(({ from, where }) => {
    const sampled = share !== '' && from === 'licenses l' ? `${from}${share}` : from
    return `(select count(*) from (${limited(`select from ${sampled} where ${where}`)}) matching)`
  })
  const { rows } = await db.query<{ count: bigint }>(`select ${counts.join(' + ')} as count`, values.all)
  return Number(rows[0]?.count ?? 0n)
}

/** The same pages as long as the table stays the same, so that a repeated count does not change by itself. */
const tablesample = (percent: number): string => ` tablesample system (${percent}) repeatable (1)`

async function sampledPercent(db: Pool): Promise<number> {
  const { rows } = await db.query<{ pages: bigint }>(
    `select pg_relation_size('licenses') / current_setting('block_size')::int as pages`,
  )
  return Math.min(100, (100 * sampledPages) / Math.max(1, Number(rows[0]?.pages ?? 0n)))
}
