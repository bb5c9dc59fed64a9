import type { ClientBase } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { Connection } from '../../projections/database/connection.ts'
import { appliedMigrations } from '../../projections/database/migrate.ts'
import { isBeingRestored, RestoreUnfinished } from '../../projections/database/restoring.ts'
import type { RawLog } from '../ledger/raw/log.ts'
import type { ArchiveWriter } from './archive-writer.ts'
import { createParts } from './compression.ts'
import { BackupError } from './errors.ts'
import { type Manifest, nameOfLogPart, nameOfTablePart, type Table } from './format.ts'
import { createLogDigest, lineOf } from './log-part.ts'
import type { Pace } from './pace.ts'
import { copyOut, excludedTables } from './table-loader.ts'

/** COPY formats timestamps and bytes by the session's settings; a restore uses the same ones. */
export const copySettings = '-c timezone=UTC -c datestyle=ISO -c bytea_output=hex -c extra_float_digits=1'

/**
 * Writes the rows of the durable schemas from one snapshot.
 * @param databaseUrl with the role that owns the durable schemas
 */
export async function dumpTables(
  databaseUrl: string,
  archive: ArchiveWriter,
  pace: Pace,
): Promise<Pick<Manifest, 'tables' | 'migrations'>> {
  const client = new Connection({
    connectionString: databaseUrl,
    options: copySettings,
    application_name: 'keyledger backup',
  })
  await client.connect()
  try {
    await client.query('begin isolation level repeatable read, read only')
    if (await isBeingRestored(client)) throw new RestoreUnfinished()
    const found = await tablesOf(client)
    if (found.length === 0) {
      throw new BackupError(
        'The database contains no ledger. Start keyledger once, or choose another database.',
      )
    }
    const tables: Table[] = []
    for (const { name, columns } of found) {
      tables.push({ name, columns, rows: await dumpTable(client, name, columns, archive, pace) })
    }
    return { tables, migrations: await appliedMigrations(client) }
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function tablesOf(client: ClientBase): Promise<{ name: string; columns: string[] }[]> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select n.nspname || '.' || c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
     where n.nspname in ('vault', 'usage') and c.relkind = 'r'
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     group by n.nspname, c.relname order by n.nspname, c.relname`,
  )
  return rows.filter(({ name }) => !Object.hasOwn(excludedTables, name))
}

async function dumpTable(
  client: ClientBase,
  table: string,
  columns: readonly string[],
  archive: ArchiveWriter,
  pace: Pace,
): Promise<number> {
  const parts = createParts(async (number, bytes) => {
    await archive.add(nameOfTablePart(table, number), bytes)
    await pace.rest()
  })
  const rows = client.query(copyTo(copyOut(table, columns)))
  for await (const chunk of rows as AsyncIterable<Buffer>) await parts.write(chunk)
  await parts.flush()
  return rows.rowCount
}

/**
 * Writes the log up to a position.
 * @param cut the last position to include; undefined for an empty log
 */
export async function dumpLog(
  log: RawLog,
  cut: bigint | undefined,
  archive: ArchiveWriter,
  {
    pace,
    onProgress,
  }: { pace: Pace; onProgress: (done: { events: number; position: bigint; head: bigint }) => void },
): Promise<Manifest['log']> {
  const parts = createParts((number, bytes) => archive.add(nameOfLogPart(number), bytes))
  const digest = createLogDigest()
  let events = 0
  let firstEventId: string | null = null
  let lastEventId: string | null = null
  let headPosition: string | null = null
  for await (const page of cut === undefined ? [] : log.pages(undefined, pace.eventsPerPage)) {
    const own = page.events.filter(({ position }) => position <= (cut ?? -1n))
    for (const event of own) digest.add(event)
    const last = own.at(-1)
    if (last) {
      firstEventId ??= own[0]?.id ?? null
      lastEventId = last.id
      headPosition = String(last.position)
      events += own.length
      await parts.write(Buffer.from(own.map(lineOf).join('')))
    }
    if (page.through >= (cut ?? -1n)) break
    onProgress({ events, position: page.through, head: cut ?? 0n })
    await pace.rest()
  }
  await parts.flush()
  return { events, firstEventId, lastEventId, headPosition, sha256: digest.hex() }
}
