import type { Pool } from 'pg'

export type HistoryEntry = {
  revision: number
  eventId: string
  type: string
  data: Record<string, unknown>
  actor: string
  requestId: string
  causationId: string
  correlationId: string
  at: string
}

/** Everything that happened to a license, oldest first. */
export async function readHistory(db: Pool, licenseId: string): Promise<HistoryEntry[]> {
  const { rows } = await db.query<HistoryEntry>(
    `select revision, event_id as "eventId", type, data, actor, request_id as "requestId",
       causation_id as "causationId", correlation_id as "correlationId", at
     from license_history where license_id = $1 order by revision`,
    [licenseId],
  )
  return rows
}
