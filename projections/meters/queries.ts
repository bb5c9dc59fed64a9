import type { Pool } from 'pg'
import type { Line } from '../../src/domain/meters/lines.ts'
import type { Meter } from '../../src/domain/meters/meter.ts'
import { type MeterText, meterOf } from '../../src/domain/meters/text.ts'
import { meterKey, streamName } from '../../src/domain/streams.ts'
import { type Keyset, orderOf, type PageOf, pageOf } from '../page.ts'
import type { RowIn, RowOf } from '../table.ts'
import { meterLines } from './projector.ts'

/**
 * Reads meters, each by the id of its stream (see `meterKey`), which the caller knows to be of its tenant.
 * @returns those that were used, by these ids
 */
export async function findMeters(db: Pool, ids: readonly string[]): Promise<ReadonlyMap<string, Meter>> {
  const { rows } = await db.query<{ stream: string; state: MeterText }>({
    name: 'find-meters',
    text: 'select stream, state from meters where stream = any($1)',
    values: [ids.map((id) => streamName('meter', id))],
  })
  const states = new Map(rows.map(({ stream, state }) => [stream, state]))
  return new Map(
    ids.flatMap((id) => {
      const state = states.get(streamName('meter', id))
      return state ? [[id, meterOf(state)]] : []
    }),
  )
}

type LineRow = RowOf<RowIn<typeof meterLines>>

/** A line with its place among those of its meter. */
export type PlacedLine = Line & { place: string }

/** The lines of a meter of a license or a customer, which the caller knows to be of its tenant. */
export async function listLines(
  db: Pool,
  ownerId: string,
  meter: string,
  { after, limit, order }: Keyset,
): Promise<PageOf<PlacedLine>> {
  const stream = streamName('meter', meterKey(ownerId, meter))
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

/** A row of `meter_lines` as a line. */
export function lineIn(row: LineRow): PlacedLine {
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
