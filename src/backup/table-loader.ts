import { once } from 'node:events'
import type { ClientBase } from 'pg'
import { type CopyStreamQuery, from as copyFrom } from 'pg-copy-streams'
import type { Manifest } from './format.ts'

/** Loads the bytes of tables, one table after another, within an open transaction. */
export type TableLoader = {
  write(table: string, bytes: Uint8Array): Promise<void>
  /** @throws Error when a table has another number of rows than the backup */
  end(): Promise<void>
}

export function createTableLoader(client: ClientBase, tables: Manifest['tables']): TableLoader {
  let open: { name: string; rows: CopyStreamQuery; done: Promise<unknown> } | undefined

  async function begin(name: string) {
    const table = tables.find((known) => known.name === name)
    if (!table) throw new Error(`the manifest does not describe ${name}`)
    // The backup contains the counts that the triggers would add.
    await client.query(`alter table ${name} disable trigger user`)
    const rows = client.query(copyFrom(copyIn(name, table.columns)))
    const done = once(rows, 'finish')
    // Reported at the end of the table.
    done.catch(() => undefined)
    return { name, rows, done }
  }

  async function end(): Promise<void> {
    if (!open) return
    const { name, rows, done } = open
    open = undefined
    rows.end()
    await done
    await client.query(`alter table ${name} enable trigger user`)
    const expected = tables.find((known) => known.name === name)?.rows
    if (rows.rowCount !== expected) {
      throw new Error(`${name} has ${rows.rowCount} rows, but the backup has ${expected}`)
    }
  }

  return {
    async write(table, bytes) {
      if (open?.name !== table) await end()
      open ??= await begin(table)
      if (!open.rows.write(bytes)) await Promise.race([once(open.rows, 'drain'), open.done])
    },
    end,
  }
}

/**
 * Which tables and columns of the durable schemas a backup contains. A new table is included unless it is
 * listed here; a test checks that each one was decided on.
 */

/** Tables of `vault` and `usage` that a backup excludes, and why. */
export const excludedTables: Readonly<Record<string, string>> = {
  'vault.sessions': 'a session that was ended since must not come back; people sign in again',
  'vault.challenges': 'lasts minutes and belongs to a session',
  'vault.provider_sign_ins': 'lasts minutes and belongs to a browser',
  'vault.logout_tokens': 'a token is good for minutes',
  'vault.customer_links': 'a link is good for fifteen minutes; people ask for another one',
  'vault.customer_sessions':
    'as with sessions: people sign in again, and their earlier visits are not known then',
  'vault.portal_viewings': 'lasts minutes and belongs to a session',
  'vault.known_devices': 'a browser is known again after the next sign-in',
  'vault.login_requests': 'lasts minutes; the program asks again',
  'vault.browser_activations': 'lasts minutes; the app asks again',
  'vault.attempts': 'every allowance begins anew',
  'usage.writers': 'belongs to running processes',
  'usage.forgotten_refusals': 'concerns what running processes have in memory',
  'usage.seat_ends': 'each seat that is taken gets a new end, since its device could not call meanwhile',
  'usage.seat_waits': 'who waits for a seat asks again',
  'usage.seats_kept': 'belongs to running processes',
  'usage.sightings': 'is kept for 30 days and no longer, in a backup either',
  'usage.rebuilds': 'tells of the read models of the other database',
}

/** Values that replace a column in the backup. */
const replaced: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // The log in the backup may lack the request of a stored answer. If the request is sent again, it runs again
  // with the ids, keys and time of its reservation: events in the log are not recorded twice, and the missing
  // ones are.
  'vault.idempotency': { reply: 'null::bytea', leased_until: "'-infinity'::timestamptz" },
}

/** The statement that exports a table. */
export function copyOut(table: string, columns: readonly string[]): string {
  const values = columns.map((column) => replaced[table]?.[column] ?? column)
  return `copy (select ${values.join(', ')} from ${table}) to stdout`
}

const copyIn = (table: string, columns: readonly string[]): string =>
  `copy ${table} (${columns.join(', ')}) from stdin`
