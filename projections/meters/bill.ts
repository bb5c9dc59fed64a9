import type { Pool } from 'pg'
import { type Amount, amountOf } from '../../src/domain/meters/amount.ts'
import type { RowIn, RowOf } from '../table.ts'
import type { meterLines } from './projector.ts'
import { lineIn, type PlacedLine } from './queries.ts'

/** What is billed: the lines that were recorded in a range, of a tenant, or of a product, a customer or a license of it. */
export type BillQuery = {
  tenantId: string
  productId: string | undefined
  customerId: string | undefined
  /** A test license is billed only when it is named. */
  licenseId: string | undefined
  /** Inclusive. */
  from: string
  /** Exclusive. */
  to: string
}

/** A meter with lines in the range. */
export type BilledMeter = {
  stream: string
  /** null of a meter that the licenses of a customer share; its lines name them. */
  productId: string | null
  licenseId: string | null
  customerId: string | null
  meter: string
  unit: string
}

type LineRow = RowOf<RowIn<typeof meterLines>>

/** What was counted in one period of a meter by the lines of the range. */
export type BilledPeriod = {
  startsAt: string
  endsAt: string | null
  /** How many uses. */
  uses: number
  used: Amount
  rolledOver: Amount
  included: Amount
  prepaid: Amount
  overage: Amount
}

/** Meters that are read together. */
const mostMeters = 100
/** Lines of each of them that are read at first; of a meter with more, the others follow in pages. */
const firstLines = 100
const linesPerPage = 2000

/** The lines of the range, the meters one after another and the lines of each in the order of their times, a part at a time. */
export async function* billedLines(
  db: Pool,
  query: BillQuery,
): AsyncGenerator<{ meter: BilledMeter; lines: PlacedLine[] }> {
  for await (const meters of billedMeters(db, query)) {
    const rows = await firstOf(db, query, meters)
    for (const meter of meters) {
      let page = rows.get(meter.stream) ?? []
      yield { meter, lines: page.map(lineIn) }
      let isFull = page.length === firstLines
      while (isFull) {
        page = await nextLines(db, query, page.at(-1))
        yield { meter, lines: page.map(lineIn) }
        isFull = page.length === linesPerPage
      }
    }
  }
}

/** What the lines of the range add up to, by meter and period. */
export async function* billedPeriods(
  db: Pool,
  query: BillQuery,
): AsyncGenerator<{ meter: BilledMeter; periods: BilledPeriod[] }> {
  for await (const meters of billedMeters(db, query)) {
    const sums = await sumsOf(db, query, meters)
    for (const meter of meters) yield { meter, periods: sums.get(meter.stream) ?? [] }
  }
}

async function* billedMeters(
  db: Pool,
  { tenantId, productId, customerId, licenseId, from, to }: BillQuery,
): AsyncGenerator<BilledMeter[]> {
  let after = ''
  for (;;) {
    const { rows } = await db.query<BilledMeter>({
      name: 'billed-meters',
      text: `select m.stream, m.product_id as "productId", m.license_id as "licenseId",
               coalesce(m.customer_id, l.customer_id) as "customerId", m.meter, m.unit
             from meters m left join licenses l on l.license_id = m.license_id
             where m.tenant_id = $1 and m.stream > $7
               and ($2::text is null or m.product_id = $2)
               and ($3::text is null or coalesce(m.customer_id, l.customer_id) = $3)
               and (m.license_id = $4 or ($4 is null and l.test is not true))
               and exists (select from meter_lines x where x.stream = m.stream and x.at >= $5 and x.at < $6)
             order by m.stream limit ${mostMeters}`,
      values: [tenantId, productId ?? null, customerId ?? null, licenseId ?? null, from, to, after],
    })
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (!last || rows.length < mostMeters) return
    after = last.stream
  }
}

async function firstOf(
  db: Pool,
  { from, to }: BillQuery,
  meters: readonly BilledMeter[],
): Promise<Map<string, LineRow[]>> {
  const { rows } = await db.query<LineRow>({
    name: 'first-billed-lines',
    text: `select l.* from unnest($1::text[]) s cross join lateral (
             select * from meter_lines where stream = s and at >= $2 and at < $3
             order by at, revision, ordinal limit ${firstLines}
           ) l
           order by l.stream, l.at, l.revision, l.ordinal`,
    values: [meters.map(({ stream }) => stream), from, to],
  })
  return Map.groupBy(rows, ({ stream }) => stream)
}

async function nextLines(db: Pool, { to }: BillQuery, last: LineRow | undefined): Promise<LineRow[]> {
  if (!last) return []
  const { rows } = await db.query<LineRow>({
    name: 'next-billed-lines',
    text: `select * from meter_lines
           where stream = $1 and at >= $2 and at < $5 and (at, revision, ordinal) > ($2::timestamptz, $3::int, $4::int)
           order by at, revision, ordinal limit ${linesPerPage}`,
    values: [last.stream, last.at, last.revision, last.ordinal, to],
  })
  return rows
}

type SumRow = { stream: string; startsAt: string; endsAt: string | null; uses: number } & Record<
  'used' | 'rolledOver' | 'included' | 'overage',
  string
>

/** The amounts of lines as SQL adds them up: a correction takes off. */
const sumIn = (amount: string): string =>
  `coalesce(sum((case kind when 'correction' then -1 else 1 end) * (${amount})::numeric), 0)`

const sumsSql = `
  select stream, period_starts_at as "startsAt", max(period_ends_at) as "endsAt",
    (count(*) filter (where kind <> 'correction'))::int as uses,
    ${sumIn('amount')} as used, ${sumIn(`shares->>'rolledOver'`)} as "rolledOver",
    ${sumIn(`shares->>'included'`)} as included, ${sumIn(`shares->>'overage'`)} as overage
  from meter_lines
  where stream = any($1) and at >= $2 and at < $3 and kind in ('use', 'commit', 'correction')
  group by stream, period_starts_at
  order by stream, period_starts_at`

async function sumsOf(
  db: Pool,
  { from, to }: BillQuery,
  meters: readonly BilledMeter[],
): Promise<Map<string, BilledPeriod[]>> {
  const { rows } = await db.query<SumRow>({
    name: 'billed-sums',
    text: sumsSql,
    values: [meters.map(({ stream }) => stream), from, to],
  })
  const sums = new Map<string, BilledPeriod[]>()
  for (const { stream, startsAt, endsAt, uses, ...texts } of rows) {
    const [used, rolledOver, included, overage] = [
      ...[texts.used, texts.rolledOver, texts.included, texts.overage].map(amountOf),
    ] as [Amount, Amount, Amount, Amount]
    const prepaid = used - rolledOver - included - overage
    const period = { startsAt, endsAt, uses, used, rolledOver, included, prepaid, overage }
    sums.set(stream, [...(sums.get(stream) ?? []), period])
  }
  return sums
}
