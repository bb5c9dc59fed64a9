import { createHash } from 'node:crypto'
import type { ClientBase, Pool } from 'pg'
import { liveSchema } from '../database/pool.ts'
import { projectors } from '../projectors.ts'

const ownTables = `
  -- How far the log has been folded into the tables beside this one: committed with them, or not at all.
  create table checkpoint (
    only_row boolean primary key default true check (only_row),
    position bigint not null,
    -- By the clock of the database.
    moved_at timestamptz not null default clock_timestamp(),
    fingerprint text not null
  );
  -- Streams with an event that cannot be applied. Their later events wait; all other streams go on.
  create table parked (
    stream text primary key,
    revision int not null,
    position bigint not null,
    type text not null,
    problem text not null,
    parked_at timestamptz not null default now()
  )`

/**
 * Grows whenever the meaning of a table changes without its definition doing so, and makes the next start rebuild.
 */
const generation = 1

/** Names a version of all tables together. Read models are never migrated: another version is built beside them. */
export const fingerprint: string = createHash('sha256')
  .update([String(generation), ownTables, ...projectors.map(({ ddl }) => ddl)].join('\n'))
  .digest('hex')
  .slice(0, 16)

/** Before the first event: an empty log and a log that has not been looked at are the same. */
export const beforeAll = -1n

/** Makes the empty tables of every read model in a schema of their own. */
export async function createReadModelSchema(db: ClientBase, schema: string): Promise<void> {
  await db.query(`create schema ${schema}; set local search_path = ${schema}`)
  for (const ddl of [ownTables, ...projectors.map((projector) => projector.ddl)]) await db.query(ddl)
  await db.query('insert into checkpoint (position, fingerprint) values ($1, $2)', [beforeAll, fingerprint])
}

/** Which version the live tables are: undefined when there are none. */
export async function liveFingerprint(db: ClientBase | Pool): Promise<string | undefined> {
  const { rows } = await db.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    `${liveSchema}.checkpoint`,
  ])
  if (!rows[0]?.exists) return undefined
  const found = await db.query<{ fingerprint: string }>(`select fingerprint from ${liveSchema}.checkpoint`)
  return found.rows[0]?.fingerprint
}
