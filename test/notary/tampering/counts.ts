/** What was tampered with, how often, and how often the audit found it and named the exact place. */
export type Counts = { what: string; tampered: number; found: number; named: number }

/** @returns the counts as a table of Markdown */
export function countsTable(rows: readonly Counts[]): string {
  const count = (value: number) => value.toLocaleString('en-US')
  return [
    '| changed | times | found | named exactly |',
    '| --- | --- | --- | --- |',
    ...rows.map(
      ({ what, tampered, found, named }) =>
        `| ${what} | ${count(tampered)} | ${count(found)} | ${count(named)} |`,
    ),
  ].join('\n')
}
