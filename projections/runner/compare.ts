import { randomBytes } from 'node:crypto'
import type { ClientBase } from 'pg'
import { readModelTables } from '../projectors.ts'

/** A schema with read model tables, and a connection to read it. */
export type Side = { db: ClientBase; schema: string }

/** A row that is in only one of the live and the replayed table, as JSON. */
export type Difference = { table: string; side: 'only in live' | 'only in replay'; row: unknown }

/**
 * Compares two sets of tables. Rows are grouped into buckets by hash. A bucket with the same number of rows and the
 * same sums of two hashes on both sides has the same rows; only the rows of other buckets are compared one by one. The
 * hashes have random seeds, so a row cannot be changed deliberately into one with the same hashes.
 * @param live its connection must be able to read both schemas
 * @returns the number of live rows, and the differences, at most 100 for each table and side
 */
export async function compareTables(
  live: Side,
  replayed: Side,
): Promise<{ rows: number; differences: Difference[] }> {
  const differences: Difference[] = []
  const seeds: Seeds = [newSeed(), newSeed()]
  let rows = 0
  for (const table of readModelTables) {
    const [here, there] = await Promise.all([
      bucketsOf(live, table, seeds),
      bucketsOf(replayed, table, seeds),
    ])
    for (const { count } of here.values()) rows += count
    const buckets = [...new Set([...here.keys(), ...there.keys()])]
    const differing = buckets.filter((bucket) => contentOf(here.get(bucket)) !== contentOf(there.get(bucket)))
    if (differing.length === 0) continue
    const onlyIn = (one: Side, other: Side, side: Difference['side']) =>
      rowsMissing(live.db, { table, seeds, buckets: differing, here: one.schema, there: other.schema, side })
    differences.push(...(await onlyIn(live, replayed, 'only in live')))
    differences.push(...(await onlyIn(replayed, live, 'only in replay')))
  }
  return { rows, differences }
}

type Seeds = readonly [bigint, bigint]
const newSeed = (): bigint => randomBytes(8).readBigInt64LE()

type Bucket = { bucket: number; count: number; first: string; second: string }
const contentOf = (bucket: Bucket | undefined) =>
  bucket && [bucket.count, bucket.first, bucket.second].join(' ')

const bucketOf = (hash: string) => `(${hash} & 255)::int`

/** Compares rows as text: `json` columns have no equality operator, and a replay must give the same bytes. */
const textOfRow = 't::text'

async function bucketsOf(
  { db, schema }: Side,
  table: string,
  [first, second]: Seeds,
): Promise<Map<number, Bucket>> {
  // `offset 0` prevents Postgres from converting and hashing a row once for each use of the value.
  const { rows } = await db.query<Bucket>(
    `select ${bucketOf('first')} as bucket, count(*)::int as count, sum(first)::text as first, sum(second)::text as second
     from (
       select hashtextextended(row, $1) as first, hashtextextended(row, $2) as second
       from (select ${textOfRow} as row from ${schema}.${table} t offset 0) as texts offset 0
     ) as hashes
     group by 1`,
    [first, second],
  )
  return new Map(rows.map((row) => [row.bucket, row]))
}

/** Per table and side: the first rows suffice to diagnose. */
const maxShown = 100

async function rowsMissing(
  db: ClientBase,
  wanted: {
    table: string
    seeds: Seeds
    buckets: readonly number[]
    here: string
    there: string
    side: Difference['side']
  },
): Promise<Difference[]> {
  const { table, seeds, buckets, here, there, side } = wanted
  const rowsIn = (schema: string) =>
    `select to_json(t)::text as row from ${schema}.${table} t
     where ${bucketOf(`hashtextextended(${textOfRow}, $2)`)} = any($1)`
  const { rows } = await db.query<{ row: string }>(
    `select row from (${rowsIn(here)} except all ${rowsIn(there)}) as missing limit ${maxShown}`,
    [buckets, seeds[0]],
  )
  return rows.map(({ row }): Difference => ({ table, side, row: JSON.parse(row) }))
}
