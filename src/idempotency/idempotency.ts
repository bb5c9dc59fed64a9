import { type KeyObject, randomBytes, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { z } from 'zod'
import type { MasterKey } from '../vault/master-key.ts'
import { newWrappedKey, open, rewrapped, seal, unwrapKey } from '../vault/seal.ts'
import { type KeyedRequest, keyHashOf, type Run, requestHashOf, runOf } from './request.ts'

/** A stored answer. */
const StoredReply = z.object({ status: z.int(), contentType: z.string(), body: z.string() })
type StoredReply = z.infer<typeof StoredReply>

const ReservedRun = z.object({ seed: z.string(), at: z.string(), requestId: z.string() })

export type Reservation =
  /** The caller runs the request, and must call one of the three functions of `end`. */
  | { state: 'run'; run: Run; end: Ending }
  /** Another process is running the request. */
  | { state: 'in progress' }
  /** The key was used for another request. */
  | { state: 'mismatch' }
  | { state: 'answered'; reply: StoredReply }

export type Ending = {
  /**
   * Stores the answer of the run until the key expires.
   * @returns the stored answer; another process may have taken over the run and stored one first
   */
  answer(reply: StoredReply): Promise<StoredReply>
  /** Leaves the run unfinished, because its progress is not known; the next request continues it. */
  leaveOpen(): Promise<void>
  /** Removes the reservation, because nothing was done; the next request starts anew. */
  forget(): Promise<void>
}

/**
 * Stores requests by their Idempotency-Key for 24 hours. A reservation is written before the request runs, with
 * the seed of its ids and keys, and its time. If the process that holds it dies, the next request takes it over
 * and makes the same ids and keys again, so a crash at any step causes no duplicates.
 */
export type Idempotency = {
  reserve(request: KeyedRequest, requestId: string): Promise<Reservation>
  /**
   * Destroys a tenant's stored answers that contain any of these texts. Running requests cannot store their
   * answers either, as they may contain them. If such a request is sent again, it runs again as after a crash,
   * without duplicates.
   * @returns how many answers were destroyed
   */
  forgetAnswersWith(tenantId: string, texts: readonly string[]): Promise<number>
  /** Deletes expired entries. @returns how many */
  sweep(): Promise<number>
}

const lifetimeMs = 24 * 3_600_000

/**
 * A running request renews its lease three times within this time; otherwise another request may take it over.
 */
const defaultLeaseMs = 15_000

export function createIdempotency(
  db: Pool,
  master: MasterKey,
  now: () => Date,
  leaseMs: number = defaultLeaseMs,
): Idempotency {
  return {
    async reserve(request, requestId) {
      const row = newRow(master, request, requestId, now())
      for (;;) {
        const claimed = await claimRun(db, row, now(), leaseMs)
        if (claimed) {
          const resumed = !claimed.wrapped.equals(row.wrapped)
          const recordKey = openKey(master, row, claimed.wrapped)
          const reserved = ReservedRun.parse(JSON.parse(openPart(recordKey, row, 'run', claimed.run)))
          const claim = { ...row, wrapped: claimed.wrapped, recordKey }
          return { state: 'run', run: runOf(reserved, resumed), end: endingOf(db, claim, leaseMs) }
        }
        const found = await find(db, row.keyHash)
        // It expired or was removed just now.
        if (!found) continue
        if (!found.request_hash.equals(row.requestHash)) return { state: 'mismatch' }
        if (!found.reply) return { state: 'in progress' }
        const recordKey = openKey(master, row, found.wrapped)
        return { state: 'answered', reply: openReply(recordKey, row, found.reply) }
      }
    },
    forgetAnswersWith: (tenantId, texts) => forgetAnswersWith(db, master, tenantId, texts),
    async sweep() {
      for (let total = 0; ; ) {
        const swept = await destroyExpired(db, now())
        total += swept
        if (swept < sweepBatch) return total
      }
    },
  }
}

/** Keeps a statement short when many entries have expired. */
const sweepBatch = 5000

async function forgetAnswersWith(
  db: Pool,
  master: MasterKey,
  tenantId: string,
  texts: readonly string[],
): Promise<number> {
  if (texts.length === 0) return 0
  await rewrapRunning(db, master, tenantId)
  // As they appear in JSON, the format of every answer to a POST.
  const written = texts.map((text) => JSON.stringify(text).slice(1, -1).toLowerCase())
  let forgotten = 0
  let last: Buffer = Buffer.alloc(0)
  for (;;) {
    const { rows } = await db.query<{ key_hash: Buffer; wrapped: Buffer; reply: Buffer }>(
      `select key_hash, wrapped, reply from vault.idempotency
       where tenant_id = $1 and reply is not null and key_hash > $2 order by key_hash limit ${answersPerPage}`,
      [tenantId, last],
    )
    const matching = rows.filter(({ key_hash: keyHash, wrapped, reply }) => {
      const row = { tenantId, keyHash }
      const { body } = openReply(openKey(master, row, wrapped), row, reply)
      return written.some((text) => body.toLowerCase().includes(text))
    })
    await db.query(
      `update vault.idempotency set reply = null, leased_until = '-infinity' where key_hash = any($1)`,
      [matching.map(({ key_hash }) => key_hash)],
    )
    forgotten += matching.length
    const [furthest] = rows.slice(-1)
    if (!furthest || rows.length < answersPerPage) return forgotten
    last = furthest.key_hash
  }
}

/**
 * A running request stores its answer only if the row's wrapped key is unchanged. Wrapping the same key again
 * makes that fail, while a repeated request can still decrypt the row.
 */
async function rewrapRunning(db: Pool, master: MasterKey, tenantId: string): Promise<void> {
  const { rows } = await db.query<{ key_hash: Buffer; wrapped: Buffer }>(
    'select key_hash, wrapped from vault.idempotency where tenant_id = $1 and reply is null',
    [tenantId],
  )
  await db.query(
    `update vault.idempotency k set wrapped = r.rewrapped
     from unnest($1::bytea[], $2::bytea[], $3::bytea[]) as r (key_hash, wrapped, rewrapped)
     where k.key_hash = r.key_hash and k.wrapped = r.wrapped and k.reply is null`,
    [
      rows.map(({ key_hash }) => key_hash),
      rows.map(({ wrapped }) => wrapped),
      rows.map(({ key_hash: keyHash, wrapped }) =>
        rewrapped(master.wrapping, partOf({ tenantId, keyHash }, 'key'), wrapped),
      ),
    ],
  )
}

/** Decrypted answers are held in memory, and an export's may be long. */
const answersPerPage = 200

async function destroyExpired(db: Pool, at: Date): Promise<number> {
  const { rowCount } = await db.query(
    `delete from vault.idempotency where key_hash in (
       select key_hash from vault.idempotency where expires_at <= $1 order by expires_at limit ${sweepBatch}
     )`,
    [at],
  )
  return rowCount ?? 0
}

type Named = { keyHash: Buffer; tenantId: string }
type Row = Named & { requestHash: Buffer; wrapped: Buffer; run: Buffer; holder: string; expiresAt: Date }
type Claim = Row & { recordKey: KeyObject }

function newRow(master: MasterKey, request: KeyedRequest, requestId: string, at: Date): Row {
  const keyHash = keyHashOf(master.idempotency, request)
  const named = { keyHash, tenantId: request.tenantId }
  const { key: recordKey, wrapped } = newWrappedKey(master.wrapping, partOf(named, 'key'))
  const reserved = { seed: randomBytes(32).toString('base64'), at: at.toISOString(), requestId }
  return {
    ...named,
    requestHash: requestHashOf(master.idempotency, request),
    wrapped,
    run: seal(recordKey, partOf(named, 'run'), Buffer.from(JSON.stringify(reserved))),
    holder: randomUUID(),
    expiresAt: new Date(at.getTime() + lifetimeMs),
  }
}

/** Binds sealed data to its tenant, row and column. */
const partOf = ({ tenantId, keyHash }: Named, part: 'key' | 'run' | 'reply'): string[] => [
  tenantId,
  keyHash.toString('hex'),
  `idempotency ${part}`,
]

const openKey = (master: MasterKey, row: Named, wrapped: Buffer): KeyObject =>
  unwrapKey(master.wrapping, partOf(row, 'key'), wrapped)

const openPart = (recordKey: KeyObject, row: Named, part: 'run' | 'reply', sealed: Buffer): string =>
  open(recordKey, partOf(row, part), sealed).toString()

const openReply = (recordKey: KeyObject, row: Named, sealed: Buffer): StoredReply =>
  StoredReply.parse(JSON.parse(openPart(recordKey, row, 'reply', sealed)))

/**
 * Claims the run: with a new row, an expired one, or one of the same request whose holder has neither answered
 * nor renewed its lease. Leases use the database's clock, which all processes share.
 * @returns the current row; undefined when another process holds the run, or it was answered
 */
async function claimRun(
  db: Pool,
  row: Row,
  at: Date,
  leaseMs: number,
): Promise<{ wrapped: Buffer; run: Buffer } | undefined> {
  const { rows } = await db.query<{ wrapped: Buffer; run: Buffer }>({
    name: 'idempotency-take',
    text: `
      insert into vault.idempotency as k
        (key_hash, tenant_id, request_hash, wrapped, run, holder, leased_until, expires_at)
      values ($1, $2, $3, $4, $5, $6, clock_timestamp() + $7 * interval '1 millisecond', $8)
      on conflict (key_hash) do update set
        request_hash = excluded.request_hash,
        wrapped = case when k.expires_at <= $9 then excluded.wrapped else k.wrapped end,
        run = case when k.expires_at <= $9 then excluded.run else k.run end,
        reply = null,
        holder = excluded.holder,
        leased_until = excluded.leased_until,
        expires_at = case when k.expires_at <= $9 then excluded.expires_at else k.expires_at end
      where k.expires_at <= $9
        or (k.reply is null and k.leased_until <= clock_timestamp() and k.request_hash = excluded.request_hash)
      returning wrapped, run`,
    values: [
      row.keyHash,
      row.tenantId,
      row.requestHash,
      row.wrapped,
      row.run,
      row.holder,
      leaseMs,
      row.expiresAt,
      at,
    ],
  })
  return rows[0]
}

async function find(
  db: Pool,
  keyHash: Buffer,
): Promise<{ request_hash: Buffer; wrapped: Buffer; reply: Buffer | null } | undefined> {
  const { rows } = await db.query<{ request_hash: Buffer; wrapped: Buffer; reply: Buffer | null }>({
    name: 'idempotency-find',
    text: 'select request_hash, wrapped, reply from vault.idempotency where key_hash = $1',
    values: [keyHash],
  })
  return rows[0]
}

/** More than any run needs; a run that hangs loses its lease, and another request can take it over. */
const maxRenewals = 60

/** Renews the lease until the run ends. */
function endingOf(db: Pool, claim: Claim, leaseMs: number): Ending {
  const own = [claim.keyHash, claim.holder]
  let renewals = 0
  const renewing = setInterval(() => {
    if (++renewals === maxRenewals) clearInterval(renewing)
    // The next renewal makes up for a failed one; otherwise the run is taken over, which is harmless.
    void db
      .query(
        `update vault.idempotency set leased_until = clock_timestamp() + $3 * interval '1 millisecond'
         where key_hash = $1 and holder = $2 and reply is null`,
        [...own, leaseMs],
      )
      .catch(() => undefined)
  }, leaseMs / 3).unref()
  return {
    async answer(reply) {
      clearInterval(renewing)
      const sealed = seal(claim.recordKey, partOf(claim, 'reply'), Buffer.from(JSON.stringify(reply)))
      // Matches the wrapped key instead of the holder: two runs of the same reservation give equivalent
      // answers, and the first one wins.
      const stored = await db.query(
        'update vault.idempotency set reply = $3 where key_hash = $1 and wrapped = $2 and reply is null',
        [claim.keyHash, claim.wrapped, sealed],
      )
      if (stored.rowCount === 1) return reply
      const found = await find(db, claim.keyHash)
      return found?.reply && found.wrapped.equals(claim.wrapped)
        ? openReply(claim.recordKey, claim, found.reply)
        : reply
    },
    async leaveOpen() {
      clearInterval(renewing)
      await db.query(
        `update vault.idempotency set leased_until = '-infinity'
         where key_hash = $1 and holder = $2 and reply is null`,
        own,
      )
    },
    async forget() {
      clearInterval(renewing)
      await db.query(
        'delete from vault.idempotency where key_hash = $1 and holder = $2 and reply is null',
        own,
      )
    },
  }
}

const everyMs = 60_000

/**
 * Deletes expired answers, at once and then every minute. Several processes may do so.
 * @returns a function that stops the sweep and waits for the current one
 */
export function keepSweeping(
  idempotency: Pick<Idempotency, 'sweep'>,
  onFailure: (error: unknown) => void,
): () => Promise<void> {
  let sweeping = Promise.resolve()
  const sweep = () => {
    sweeping = sweeping.then(() => idempotency.sweep()).then(() => undefined, onFailure)
  }
  sweep()
  const timer = setInterval(sweep, everyMs)
  return async () => {
    clearInterval(timer)
    await sweeping
  }
}
