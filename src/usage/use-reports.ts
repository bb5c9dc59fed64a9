import type { Pool } from 'pg'
import type { Amount } from '../domain/meters/amount.ts'
import type { LineKind } from '../domain/meters/lines.ts'
import type { PlacedLine, Report } from '../domain/meters/reports.ts'

/** A meter of a license that is sold as a subscription at the card provider. */
export type ReportedMeter = {
  stream: string
  tenantId: string
  meter: string
  /** The provider's id of the subscription. */
  subscription: string
  /** Only what is used from then on is reported. */
  since: string
}

/** A report under the name by which the provider counts it once. */
export type Sending = Omit<Report, 'value' | 'carried'> & { name: string; value: string; carried: string }

export type Progress = {
  buyer: string | null
  revision: number
  carried: Amount
  sending: Sending | null
  sentAt: string | null
}

/** What a tenant's meters at the card provider are behind. */
export type UseReports = {
  /** Meters with uses that are not reported yet. */
  behind: number
  /** In millionths: what could not be reported any more. */
  unreported: Amount
  problem: string | null
}

/**
 * The meters with something to report: changed since their last report, of a license that was sold as a subscription, while its tenant
 * has reports switched on.
 */
const dueSql = `
  select m.stream, m.tenant_id, m.meter, i.state->>'usesReportedSince' as since, s.subscription
  from integrations i
  join meters m on m.tenant_id = i.tenant_id
  left join usage.use_reports r on r.stream = m.stream
  cross join lateral (
    select substring(link from '^subscription:(.+)$') as subscription
    from sales, jsonb_array_elements_text(sales.state::jsonb->'ownLinks') link
    where sales.license_ids @> array[m.license_id] and sales.provider = 'stripe' and link like 'subscription:%'
    limit 1
  ) s
  where i.provider = 'stripe' and i.state->>'status' = 'connected' and i.state->>'usesReportedSince' is not null
    and (r.stream is null or r.sending is not null or m.revision > r.revision)`

export async function listReportedMeters(
  db: Pool,
  { except, most }: { except: readonly string[]; most: number },
): Promise<ReportedMeter[]> {
  const { rows } = await db.query<{
    stream: string
    tenant_id: string
    meter: string
    since: string
    subscription: string
  }>({
    name: 'list-reported-meters',
    text: `${dueSql} and m.stream <> all($1) limit $2`,
    values: [except, most],
  })
  return rows.map(({ tenant_id: tenantId, ...row }) => ({ ...row, tenantId }))
}

/** Begins to report a meter that was never reported. @returns how far it is */
export async function progressOf(db: Pool, { stream, tenantId }: ReportedMeter): Promise<Progress> {
  await db.query({
    name: 'begin-use-reports',
    text: `insert into usage.use_reports (stream, tenant_id, revision) values ($1, $2, -1) on conflict do nothing`,
    values: [stream, tenantId],
  })
  const { rows } = await db.query<{
    buyer: string | null
    revision: number
    carried: string
    sending: Sending | null
    sent_at: string | null
  }>({
    name: 'find-use-reports',
    text: 'select buyer, revision, carried, sending, sent_at from usage.use_reports where stream = $1',
    values: [stream],
  })
  const [row] = rows
  if (!row) throw new Error('the progress of a meter is gone')
  const { carried, sent_at: sentAt, ...progress } = row
  return { ...progress, carried: BigInt(carried), sentAt }
}

/** What was counted after a revision, in the order of the stream. */
export async function linesAfter(db: Pool, stream: string, revision: number): Promise<PlacedLine[]> {
  const { rows } = await db.query<{
    revision: number
    kind: LineKind
    amount: string | null
    used_at: string | null
    at: string
  }>({
    name: 'lines-to-report',
    // Events are reported whole.
    text: `select revision, kind, amount, used_at, at from meter_lines
           where stream = $1 and revision > $2 and revision <= (
             select max(revision) from (
               select revision from meter_lines where stream = $1 and revision > $2 order by revision limit $3
             ) as next)
           order by revision, ordinal`,
    values: [stream, revision, mostLines],
  })
  return rows.map(({ used_at: usedAt, ...row }) => ({ ...row, usedAt }))
}

const mostLines = 5000

export async function knowBuyer(db: Pool, stream: string, buyer: string): Promise<void> {
  await db.query('update usage.use_reports set buyer = $2 where stream = $1', [stream, buyer])
}

/** Keeps a report before it is sent, unless another process has gone on since. */
export async function beginReport(db: Pool, stream: string, after: number, sending: Sending): Promise<void> {
  await db.query(
    `update usage.use_reports set sending = $3 where stream = $1 and revision = $2 and sending is null`,
    [stream, after, JSON.stringify(sending)],
  )
}

/**
 * Notes when a report is first sent: whether it arrived then is not known until there is an answer.
 * @returns whether it was not sent before
 */
export async function noteSent(db: Pool, stream: string, name: string, at: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update usage.use_reports set sent_at = $3 where stream = $1 and sending->>'name' = $2 and sent_at is null`,
    [stream, name, at],
  )
  return rowCount === 1
}

/** Notes that a report was refused when it was first sent: it has not arrived. */
export async function noteRefused(db: Pool, stream: string, name: string): Promise<void> {
  await db.query(`update usage.use_reports set sent_at = null where stream = $1 and sending->>'name' = $2`, [
    stream,
    name,
  ])
}

/**
 * Goes on after a report that arrived, or cannot.
 * @param unreported in millionths: what of it the provider was not told
 */
export async function endReport(
  db: Pool,
  stream: string,
  { revision, carried, name }: Pick<Sending, 'revision' | 'carried' | 'name'>,
  unreported: Amount,
): Promise<void> {
  await db.query(
    `update usage.use_reports
     set revision = $3, carried = $4, sending = null, sent_at = null, unreported = unreported + $5, problem = null
     where stream = $1 and sending->>'name' = $2`,
    [stream, name, revision, carried, String(unreported)],
  )
}

/** Goes on after lines of which nothing is to be reported. */
export async function passOver(
  db: Pool,
  stream: string,
  after: number,
  { revision, carried }: Pick<Report, 'revision' | 'carried'>,
  unreported: Amount = 0n,
): Promise<void> {
  await db.query(
    `update usage.use_reports set revision = $3, carried = $4, unreported = unreported + $5, problem = null
     where stream = $1 and revision = $2 and sending is null`,
    [stream, after, revision, String(carried), String(unreported)],
  )
}

export async function noteProblem(db: Pool, stream: string, problem: string): Promise<void> {
  await db.query('update usage.use_reports set problem = $2 where stream = $1', [stream, problem])
}

export async function readUseReports(db: Pool, tenantId: string): Promise<UseReports> {
  const { rows } = await db.query<{ behind: string; unreported: string; problem: string | null }>({
    name: 'read-use-reports',
    text: `select (select count(*) from (${dueSql} and i.tenant_id = $1) due) as behind,
             coalesce(sum(unreported), 0) as unreported, min(problem) as problem
           from usage.use_reports where tenant_id = $1`,
    values: [tenantId],
  })
  const { behind = '0', unreported = '0', problem = null } = rows[0] ?? {}
  return { behind: Number(behind), unreported: BigInt(unreported), problem }
}
