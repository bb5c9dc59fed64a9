import type { Pool } from 'pg'
import type { Line } from '../../src/domain/meters/lines.ts'
import type { Meter } from '../../src/domain/meters/meter.ts'
import { type MeterText, meterOf } from '../../src/domain/meters/text.ts'
import { meterKey, streamName } from '../../src/domain/streams.ts'
import { type Keyset, orderOf, type PageOf, pageOf } from '../page.ts'
import type { RowIn, RowOf } from '../table.ts'
import { meterLines } from './projector.ts'

/** What a license has used, by meter. */
export async function findMeters(
  db: Pool,
  tenantId: string,
  licenseId: string,
): Promise<ReadonlyMap<string, Meter>> {
  const { rows } = await db.query<{ meter: string; state: MeterText }>({
    name: 'find-meters',
    text: 'select meter, state from meters where tenant_id = $1 and license_id = $2',
    values: [tenantId, licenseId],
  })
  return new Map(rows.map(({ meter, state }) => [meter, meterOf(state)]))
}

type LineRow = RowOf<RowIn<typeof meterLines>>

/** A line with its place among those of its meter. */
export type PlacedLine = Line & { place: string }

/** The lines of a meter of a license, which the caller knows to be of its tenant. */
export async function listLines(
  db: Pool,
  licenseId: string,
  meter: string,
  { after, limit, order }: Keyset,
): Promise<PageOf<PlacedLine>> {
  const stream = streamName('meter', meterKey(licenseId, meter))
  const { by, past } = orderOf(order, 'at', place)
  const { rows } = await db.query<LineRow>({
    name: `list-meter-lines-${order ?? 'newest'}`,
    text: `select * from meter_lines
           where stream = $1 and ($2::timestamptz is null or ${past('$2', '$3')})
           order by ${by} limit $4`,
    values: [stream, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  })
  return pageOf(rows.map(lineIn), limit, ({ at, place: id }) => ({ createdAt: at, id }))
}

/** As text of one length, so that it sorts as its numbers do. */
const place = `(lpad(revision::text, 10, '0') || lpad(ordinal::text, 5, '0'))`

const padded = (count: number, digits: number): string => String(count).padStart(digits, '0')

function lineIn(row: LineRow): PlacedLine {
  const {
    stream: _,
    revision,
    ordinal,
    shares,
    periodStartsAt,
    periodEndsAt,
    ...line
  } = meterLines.fieldsIn(row)
  return {
    ...line,
    from: shares,
    period: periodStartsAt === null ? null : { startsAt: periodStartsAt, endsAt: periodEndsAt },
    place: `${padded(revision, 10)}${padded(ordinal, 5)}`,
  }
}
