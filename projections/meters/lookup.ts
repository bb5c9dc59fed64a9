import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { Line, LineKind } from '../../src/domain/meters/lines.ts'
import type { MeterText } from '../../src/domain/meters/text.ts'

/** The key of a line. Of a meter that licenses share, a key is known together with the license that sent it; otherwise null. */
export type LineKey = { key: string; licenseId: string | null }

/** @param known the revision that the caller has the state of; -1 for none */
type MeterQuestion = { stream: string; known: number; keys: readonly LineKey[] }

/** What answers a repeated request. */
export type KnownLine = Pick<
  Line,
  'kind' | 'key' | 'amount' | 'period' | 'endsAt' | 'subjectId' | 'licenseId' | 'late'
>

/** A meter as of one revision: its state, undefined for one that the caller has, and what was recorded under the keys. */
export type FoundMeter = { revision: number; state: MeterText | undefined; lines: KnownLine[] }

export type FindMeter = (question: MeterQuestion) => Promise<FoundMeter | undefined>

type Row = {
  ordinal: string
  revision: number | null
  state: MeterText | null
  kind: LineKind | null
  key: string
  amount: string | null
  period_starts_at: string | null
  period_ends_at: string | null
  ends_at: string | null
  subject_id: string | null
  license_id: string | null
  late: boolean
}

/** Reads meters with the lines of some keys, in one statement and so at one moment. Concurrent look-ups share one query. */
export function createMeterLookup(db: Pool): FindMeter {
  return coalesce(async (questions) => {
    const { rows } = await db.query<Row>({
      name: 'meter-lookup',
      text: lookupSql,
      values: [
        questions.map(({ stream }) => stream),
        questions.map(({ known }) => known),
        questions.map(({ keys }) => JSON.stringify(keys.map(({ key, licenseId }) => [key, licenseId]))),
      ],
    })
    const ofQuestion = Map.groupBy(rows, ({ ordinal }) => Number(ordinal) - 1)
    return questions.map((_, index) => foundIn(ofQuestion.get(index) ?? []))
  })
}

/**
 * A stream may have millions of lines: each key is looked up by itself. A commit may have the key of another line, and its key, the
 * id of its hold, is known without its license.
 */
const lookupSql = `
  select q.ordinal, m.revision, case when m.revision <> q.known then m.state end as state,
    u.kind, u.key, u.amount, u.period_starts_at, u.period_ends_at, u.ends_at, u.subject_id, u.license_id, u.late
  from unnest($1::text[], $2::int[], $3::jsonb[]) with ordinality as q (stream, known, keys, ordinal)
  left join meters m on m.stream = q.stream
  left join lateral (
    select l.* from jsonb_array_elements(q.keys) k
    cross join lateral (
      select * from meter_lines
      where stream = m.stream and key = k->>0 and (license_id is not distinct from k->>1 or kind = 'commit')
      limit 2
    ) l
  ) u on true
  order by q.ordinal`

function foundIn(rows: readonly Row[]): FoundMeter | undefined {
  const [row] = rows
  if (!row || row.revision === null) return undefined
  const lines = rows.flatMap(({ kind, period_starts_at: startsAt, ...line }): KnownLine[] =>
    kind === null
      ? []
      : [
          {
            kind,
            key: line.key,
            amount: line.amount,
            period: startsAt === null ? null : { startsAt, endsAt: line.period_ends_at },
            endsAt: line.ends_at,
            subjectId: line.subject_id,
            licenseId: line.license_id,
            late: line.late,
          },
        ],
  )
  return { revision: row.revision, state: row.state ?? undefined, lines }
}
