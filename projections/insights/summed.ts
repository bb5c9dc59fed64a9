/** A row of counts by day: its key columns, and its counts. */
export type CountRow = Record<string, string | number>

/**
 * Adds up the counts of rows with the same key, in the order of the keys. A row whose counts cancel out stays, so that the
 * table does not depend on how events are divided into batches.
 * @param counts the columns that are added up; all others are the key
 */
export function summed(rows: readonly CountRow[], counts: readonly string[]): CountRow[] {
  const sums = new Map<string, CountRow>()
  for (const row of rows) {
    const key = JSON.stringify(Object.entries(row).filter(([name]) => !counts.includes(name)))
    const sum = sums.get(key)
    if (!sum) sums.set(key, { ...row })
    else for (const name of counts) sum[name] = Number(sum[name]) + Number(row[name])
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

/** The day in UTC of a moment: `2026-03-01`. */
export const utcDate = (at: string): string => at.slice(0, 10)

/** The statement that adds rows of counts to a table. */
export const addTo = (table: string, keys: readonly string[], counts: readonly string[]): string =>
  `insert into ${table} as t select * from json_populate_recordset(null::${table}, $1)
   on conflict (${keys.join(', ')}) do update set
   ${counts.map((name) => `${name} = t.${name} + excluded.${name}`).join(', ')}`
