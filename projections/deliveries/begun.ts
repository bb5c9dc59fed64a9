import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'

/** An attempt that is about to be made. */
export type StartedAttempt = { deliveryId: string; attempt: number; startedAt: string }

/** Another run has begun the attempt, and its result is not recorded. `isOver`: it no longer will be. */
export class AttemptAlreadyStarted extends Error {
  readonly startedAt: string
  readonly isOver: boolean

  constructor({ deliveryId, attempt }: StartedAttempt, { startedAt, isOver }: BegunBefore) {
    super(`attempt ${attempt} of ${deliveryId} has begun already`)
    this.name = 'AttemptBegunBefore'
    this.startedAt = startedAt
    this.isOver = isOver
  }
}

type BegunBefore = { startedAt: string; isOver: boolean }

export type BegunAttempts = {
  /**
   * Records that an attempt begins, before anything is sent. Only one run begins it.
   * @throws AttemptBegunBefore
   */
  begin(attempt: StartedAttempt): Promise<void>
  /** @throws AttemptBegunBefore when a run has begun this attempt, here or in another process */
  refuseBegun(attempt: StartedAttempt): Promise<void>
}

/**
 * Concurrent attempts share one statement. An attempt that this process has begun before is over: it runs none twice at a
 * time.
 * @param overAfterMs longer than an attempt takes: another process that has not recorded one by then does not any more
 */
export function createStartedAttempts(db: Pool, overAfterMs: number): BegunAttempts {
  const processId = randomUUID()
  const insertOne = coalesce(async (attempts: readonly StartedAttempt[]) => {
    const begun = await insert(db, processId, attempts)
    return attempts.map(({ deliveryId }) => begun.has(deliveryId))
  })
  const own: BegunAttempts = {
    async begin(attempt) {
      if (await insertOne(attempt)) return
      await own.refuseBegun(attempt)
      throw new Error(`attempt ${attempt.attempt} of ${attempt.deliveryId} did not begin`)
    },
    async refuseBegun(attempt) {
      const before = await findBefore(db, processId, attempt, overAfterMs)
      if (before) throw new AttemptAlreadyStarted(attempt, before)
    },
  }
  return own
}

/** @returns the deliveries whose attempts are now begun by this process */
async function insert(
  db: Pool,
  processId: string,
  attempts: readonly StartedAttempt[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ deliveryId: string }>({
    name: 'begin-attempts',
    // In the order of the keys, so that no two processes wait for each other.
    text: `insert into vault.begun_attempts as b (delivery_id, attempt, started_at, process_id)
           select delivery_id, attempt, started_at, $4::uuid
           from unnest($1::text[], $2::int[], $3::timestamptz[]) as a (delivery_id, attempt, started_at)
           order by delivery_id
           on conflict (delivery_id) do update set attempt = excluded.attempt, started_at = excluded.started_at,
             begun_at = excluded.begun_at, process_id = excluded.process_id
           where b.attempt < excluded.attempt
           returning delivery_id as "deliveryId"`,
    values: [
      attempts.map(({ deliveryId }) => deliveryId),
      attempts.map(({ attempt }) => attempt),
      attempts.map(({ startedAt }) => startedAt),
      processId,
    ],
  })
  return new Set(rows.map(({ deliveryId }) => deliveryId))
}

async function findBefore(
  db: Pool,
  processId: string,
  { deliveryId, attempt }: StartedAttempt,
  overAfterMs: number,
): Promise<BegunBefore | undefined> {
  const { rows } = await db.query<BegunBefore>({
    name: 'find-begun-attempt',
    text: `select started_at as "startedAt",
             process_id = $3 or begun_at <= clock_timestamp() - $4 * interval '1 millisecond' as "isOver"
           from vault.begun_attempts where delivery_id = $1 and attempt >= $2`,
    values: [deliveryId, attempt, processId, overAfterMs],
  })
  return rows[0]
}

/**
 * Deletes the rows of attempts whose results are recorded, and of deliveries that are in no log, as after a restore. They
 * are kept for longer than NATS keeps a job: a process that lags behind must not begin the attempt of an old one again.
 */
export async function forgetRecordedAttempts(db: Pool): Promise<void> {
  await db.query(
    `delete from vault.begun_attempts b
     where b.begun_at < clock_timestamp() - interval '20 minutes'
       and case when exists (select from deliveries d where d.delivery_id = b.delivery_id)
         then exists (select from deliveries d where d.delivery_id = b.delivery_id and d.tries >= b.attempt)
         else b.begun_at < clock_timestamp() - interval '1 day' end`,
  )
}
