import { withEscapedInvisible, withoutInvisible } from '../domain/plain-text.ts'

/** With `--json`, a command prints its data to stdout as one JSON value. */
export type OutputOptions = { json?: boolean }

/**
 * Prints data to stdout, as JSON with `--json`, else as lines. Names come from callers and terminals execute escape
 * sequences, so control, bidirectional and invisible characters are removed, and each line stays one line.
 */
export function print(options: OutputOptions, data: unknown, lines: () => string[]): void {
  const text = options.json ? inJson(data, 2) : lines().map(asLine).join('\n')
  if (text !== '') process.stdout.write(`${text}\n`)
}

/** Prints a message to stderr, cleaned in the same way as by {@link print}. */
export function printToStderr(message: string): void {
  process.stderr.write(`${message.split('\n').map(asLine).join('\n')}\n`)
}

/** Text as one safe line. */
export const asLine = (line: string): string => withoutInvisible(line.replace(/[\r\n\u2028\u2029]+/g, ' '))

/** A value as JSON, in which characters that control a terminal are escaped. */
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

/** One line per field; nested fields follow indented. */
export function fields(view: object, indent = ''): string[] {
  return Object.entries(view).flatMap(([name, value]: [string, unknown]) =>
    Array.isArray(value) && value.some((item) => typeof item === 'object')
      ? [`${indent}${name}:`, ...value.flatMap((item: object) => ['', ...fields(item, `${indent}  `)])]
      : [`${indent}${name}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`],
  )
}

const cut = new AbortController()

/** Aborts when nothing reads stdout any more, as after `| head -1`: what prints on and on then ends in order. */
export const outputCut: AbortSignal = cut.signal

/** Whether a write failed because nothing reads the output any more. */
export const isCutOutput = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EPIPE'

/**
 * Lets the process live when its output is no longer read: the write fails with EPIPE, which would end it with a stack trace. A command
 * that changes something finishes, and a server goes on.
 */
export function surviveCutOutput(): void {
  const ignored = (error: Error) => {
    if (!isCutOutput(error)) throw error
  }
  process.stderr.on('error', ignored)
  process.stdout.on('error', (error: Error) => {
    ignored(error)
    cut.abort()
  })
}
