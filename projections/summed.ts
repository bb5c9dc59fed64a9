/**
 * Adds up the counts of rows with the same key, in the order of the keys. A row whose counts cancel out stays, so that the
 * table does not depend on how events are divided into batches.
 * @param counts the fields that are added up; all others are the key
 */
export function summed<Row extends object>(
  rows: readonly Row[],
  counts: readonly (keyof Row & string)[],
): Row[] {
  const sums = new Map<string, Row>()
  for (const row of rows) {
    const key = JSON.stringify(
      Object.entries(row).filter(([name]) => !counts.some((count) => count === name)),
    )
    const sum = sums.get(key)
    const added =
      sum && Object.fromEntries(counts.map((name) => [name, Number(sum[name]) + Number(row[name])]))
    sums.set(key, { ...row, ...added })
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}
