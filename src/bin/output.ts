/** What `--json` changes: data for programs on stdout, one JSON value a command. */
export type OutputOptions = { json?: boolean }

/** Data goes to stdout, as JSON when asked for, else as lines for people. */
export function print(options: OutputOptions, data: unknown, lines: () => string[]): void {
  const text = options.json ? JSON.stringify(data, null, 2) : lines().join('\n')
  if (text !== '') process.stdout.write(`${text}\n`)
}

/** Columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** One line a field; what is nested follows indented. */
export function fields(view: object, indent = ''): string[] {
  return Object.entries(view).flatMap(([name, value]: [string, unknown]) =>
    Array.isArray(value) && value.some((item) => typeof item === 'object')
      ? [`${indent}${name}:`, ...value.flatMap((item: object) => ['', ...fields(item, `${indent}  `)])]
      : [`${indent}${name}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`],
  )
}
