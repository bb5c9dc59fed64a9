import { withEscapedInvisible, withoutInvisible } from '../domain/plain-text.ts'

/** What `--json` changes: data for programs on stdout, one JSON value a command. */
export type OutputOptions = { json?: boolean }

/**
 * Data goes to stdout, as JSON when asked for, else as lines for people. Names and the like come from callers, and
 * terminals obey what is in them: no control, bidirectional or invisible character is printed, and no line is two.
 */
export function print(options: OutputOptions, data: unknown, lines: () => string[]): void {
  const text = options.json ? inJson(data, 2) : lines().map(asLine).join('\n')
  if (text !== '') process.stdout.write(`${text}\n`)
}

/** Messages go to stderr, and are as harmless as what {@link print} prints. */
export function printToStderr(message: string): void {
  process.stderr.write(`${message.split('\n').map(asLine).join('\n')}\n`)
}

/** A line for people, whatever is in it. */
export const asLine = (line: string): string => withoutInvisible(line.replace(/[\r\n\u2028\u2029]+/g, ' '))

/** A value for programs; what a terminal would obey is escaped, which means the same. */
export const inJson = (value: unknown, indent?: number): string =>
  withEscapedInvisible(JSON.stringify(value, null, indent))

/** Columns as wide as their widest cell. */
export function table(given: readonly (readonly string[])[]): string[] {
  const rows = given.map((row) => row.map(asLine))
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
