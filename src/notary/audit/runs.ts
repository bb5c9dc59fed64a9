import type { ClientBase, Pool } from 'pg'

/** The part of a report that is read again. */
export type RunReport = { events: number; size: number; problems: readonly { kind: string; says: string }[] }

/** A scheduled audit. Without an end it is running, or was interrupted. */
export type AuditRun = {
  startedAt: string
  endedAt: string | null
  report: RunReport | null
  /** Why it could not be done. */
  failure: string | null
}

/** The last scheduled audit, the last that was done, and the last that found nothing. */
export type AuditHistory = {
  last: AuditRun | undefined
  lastDone: AuditRun | undefined
  lastClean: AuditRun | undefined
}

export async function readAuditHistory(db: Pool | ClientBase): Promise<AuditHistory> {
  const { rows } = await db.query<AuditRun & { part: keyof AuditHistory }>(
    `select part, started_at as "startedAt", ended_at as "endedAt", report, failure from (
       (select 'last' as part, * from notary.audits order by started_at desc limit 1)
       union all
       (select 'lastDone', * from notary.audits where report is not null order by started_at desc limit 1)
       union all
       (select 'lastClean', * from notary.audits where jsonb_array_length(report -> 'problems') = 0
        order by started_at desc limit 1)
     ) found`,
  )
  const find = (wanted: keyof AuditHistory): AuditRun | undefined => {
    const found = rows.find(({ part }) => part === wanted)
    if (!found) return undefined
    const { startedAt, endedAt, report, failure } = found
    return { startedAt, endedAt, report, failure }
  }
  return { last: find('last'), lastDone: find('lastDone'), lastClean: find('lastClean') }
}

export async function recordAuditStart(db: ClientBase, id: string, at: string): Promise<void> {
  await db.query('insert into notary.audits (id, started_at) values ($1, $2)', [id, at])
}

/** How many runs are kept: those of a year. */
const maxRuns = 366

export async function recordAuditEnd(
  db: ClientBase,
  id: string,
  ended: { at: string; report: RunReport | null; failure: string | null },
): Promise<void> {
  await db.query('update notary.audits set ended_at = $2, report = $3, failure = $4 where id = $1', [
    id,
    ended.at,
    ended.report && JSON.stringify(ended.report),
    ended.failure,
  ])
  await db.query(
    'delete from notary.audits where id in (select id from notary.audits order by started_at desc offset $1)',
    [maxRuns],
  )
}
