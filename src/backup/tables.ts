/**
 * Which tables and columns of the durable schemas a backup contains. A new table is included unless it is
 * listed here; a test checks that each one was decided on.
 */

/** Tables of `vault` and `usage` that a backup excludes, and why. */
export const excludedTables: Readonly<Record<string, string>> = {
  'vault.sessions': 'a session that was ended since must not come back; people sign in again',
  'vault.challenges': 'lasts minutes and belongs to a session',
  'vault.customer_links': 'a link is good for fifteen minutes; people ask for another one',
  'vault.customer_sessions': 'as with sessions: people sign in again',
  'vault.known_devices': 'a browser is known again after the next sign-in',
  'vault.login_requests': 'lasts minutes; the program asks again',
  'vault.attempts': 'every allowance begins anew',
  'usage.writers': 'belongs to running processes',
  'usage.forgotten_refusals': 'concerns what running processes have in memory',
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

export const copyIn = (table: string, columns: readonly string[]): string =>
  `copy ${table} (${columns.join(', ')}) from stdin`
