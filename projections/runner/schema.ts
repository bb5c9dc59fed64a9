import { createHash } from 'node:crypto'
import type { ClientBase, Pool } from 'pg'
import { liveSchema } from '../database/pool.ts'
import { projectors } from '../projectors.ts'

const ownTables = `
  -- How far the log has been applied to the tables beside this one: committed with them, or not at all.
  create table checkpoint (
    only_row boolean primary key default true check (only_row),
    position bigint not null,
    -- The last of the ledger's own events up to there. An event of others at that position may be scavenged one day.
    event_position bigint,
    event_id text,
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

/** Increment it when the meaning of a table changes without its definition: the next start then rebuilds. */
const generation = 10

const tableDdl = projectors.flatMap(({ tables }) => tables.map(({ ddl }) => ddl))

/** Identifies the version of all tables. Read models are never migrated: a new version is built beside the old one. */
export const fingerprint: string = createHash('sha256')
  .update([String(generation), ownTables, ...tableDdl].join('\n'))
  .digest('hex')
  .slice(0, 16)

/** The position before the first event. */
export const startOfLog = -1n

/**
 * Creates the empty tables of every read model in a new schema. Must run in a transaction.
 * @param logged false creates unlogged tables: faster to write, but empty after a crash
 */
export async function createReadModelSchema(db: ClientBase, schema: string, logged = true): Promise<void> {
  await db.query(`create schema ${schema}; set local search_path = ${schema}`)
  for (const ddl of [ownTables, ...tableDdl]) {
    await db.query(logged ? ddl : ddl.replaceAll('create table', 'create unlogged table'))
  }
  await db.query('insert into checkpoint (position, fingerprint) values ($1, $2)', [startOfLog, fingerprint])
}

/**
 * Drops the indexes of a schema that are neither unique nor needed to apply events.
 * @returns the statements that create them again
 */
export async function dropQueryIndexes(db: ClientBase, schema: string): Promise<string[]> {
  const { rows } = await db.query<{ name: string; definition: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and not i.indisunique and c.relname <> all($2)
     order by c.relname`,
    [schema, projectors.flatMap(({ applyIndexes }) => applyIndexes ?? [])],
  )
  if (rows.length > 0) await db.query(`drop index ${rows.map(({ name }) => name).join(', ')}`)
  return rows.map(({ definition }) => definition)
}

/** The fingerprint of the live tables; undefined when there are none. */
export async function liveFingerprint(db: ClientBase | Pool): Promise<string | undefined> {
  const { rows } = await db.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    `${liveSchema}.checkpoint`,
  ])
  if (!rows[0]?.exists) return undefined
  const found = await db.query<{ fingerprint: string }>(`select fingerprint from ${liveSchema}.checkpoint`)
  return found.rows[0]?.fingerprint
}
