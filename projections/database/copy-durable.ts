import type { ClientBase, Pool } from 'pg'
import { withOwnConnection } from './connection.ts'

/** The schemas whose data is not in the log. Read models are built from the log and not copied. */
const durableSchemas = ['vault', 'usage', 'limits']
/** What was signed. The tree below it is computed from the log again. */
const signedTables = ['notary.logs', 'notary.checkpoint']
/** The currently running processes: meaningless in a copy. */
const notKept = 'limits.processes'
const rowsAtOnce = 200

/** The target database has rows already. */
export class DatabaseNotEmpty extends Error {
  constructor(table: string) {
    super(
      `The target database has rows in ${table}. Copy into an empty database: a copy never overwrites data.`,
    )
    this.name = 'DatabaseNotEmpty'
  }
}

/**
 * Copies every row of the durable schemas, in one snapshot, into an empty database with the schemas of this version. It
 * is one transaction: all rows or none.
 * @returns the number of copied rows
 * @throws DatabaseNotEmpty
 */
export async function copyDurableRows(source: Pool, target: Pool): Promise<number> {
  return withOwnConnection(source, (from) =>
    withOwnConnection(target, async (to) => {
      await from.query('begin isolation level repeatable read read only')
      await to.query('begin')
      const tables = await durableTables(to)
      for (const table of tables) await refuseRows(to, table)
      let rows = 0
      for (const table of tables) rows += await copyTable(from, to, table)
      await to.query('commit')
      await from.query('rollback')
      return rows
    }),
  )
}

/** Tables with triggers come first: the rows that their triggers write are replaced when the others are copied. */
async function durableTables(db: ClientBase): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where (n.nspname = any($1) or format('%I.%I', n.nspname, c.relname) = any($2)) and c.relkind in ('r', 'p') and not c.relispartition
     order by not exists (select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal), name`,
    [durableSchemas, signedTables],
  )
  return rows.map(({ name }) => name).filter((name) => name !== notKept)
}

async function refuseRows(db: ClientBase, table: string): Promise<void> {
  const { rowCount } = await db.query(`select from ${table} limit 1`)
  if (rowCount !== 0) throw new DatabaseNotEmpty(table)
}

/** Rows travel as JSON text that Postgres writes and reads, so that no value is rounded in JavaScript. */
async function copyTable(from: ClientBase, to: ClientBase, table: string): Promise<number> {
  await to.query(`delete from ${table}`)
  await from.query(
    `declare rows_to_copy no scroll cursor for select row_to_json(t)::text as row from ${table} t`,
  )
  let copied = 0
  for (;;) {
    const { rows } = await from.query<{ row: string }>(`fetch ${rowsAtOnce} from rows_to_copy`)
    if (rows.length === 0) break
    await to.query(
      `insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, $1::json)`,
      [`[${rows.map(({ row }) => row).join(',')}]`],
    )
    copied += rows.length
  }
  await from.query('close rows_to_copy')
  return copied
}
