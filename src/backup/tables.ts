/**
 * Which rows of the durable schemas a backup holds. A new table is kept, unless it is left out here; a test asks for
 * the decision.
 */

/** Tables of `vault` and `usage` that a backup leaves out, and why. */
export const excludedTables: Readonly<Record<string, string>> = {
  'vault.sessions': 'a session that was ended since must not come back; people sign in again',
  'vault.challenges': 'lasts minutes and belongs to a session',
  'vault.known_devices': 'a browser is known again after the next sign-in',
  'vault.login_requests': 'lasts minutes; the program asks again',
  'vault.attempts': 'every allowance begins anew',
  'usage.writers': 'belongs to running processes',
  'usage.rebuilds': 'tells of the read models of the other database',
}

/** What stands in a column of the backup instead of its value. */
const replaced: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // The request that an answer belongs to may be missing in the log of the backup. Sent again, it runs again with the
  // ids, the keys and the moment of its reservation: what the log holds is not done twice, and the rest is done.
  'vault.idempotency': { reply: 'null::bytea', leased_until: "'-infinity'::timestamptz" },
}

/** The statement that reads what a backup holds of a table. */
export function copyOut(table: string, columns: readonly string[]): string {
  const values = columns.map((column) => replaced[table]?.[column] ?? column)
  return `copy (select ${values.join(', ')} from ${table}) to stdout`
}

export const copyIn = (table: string, columns: readonly string[]): string =>
  `copy ${table} (${columns.join(', ')}) from stdin`
