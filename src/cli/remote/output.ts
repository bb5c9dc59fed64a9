import { asLine, fields, table } from '../../terminal/output.ts'
import type { Operation } from './operations/operation.ts'

const narrowest = 8
const gap = 2

/** The width of the terminal; undefined when the output is no terminal, where nothing is cut. */
export const terminalWidth = (): number | undefined =>
  process.stdout.isTTY ? (process.stdout.columns ?? 80) : undefined

/** The answer of an operation as lines for people. */
export function linesOf(operation: Operation, body: unknown, width: number | undefined): string[] {
  if (!isRecord(body)) return body === '' ? ['Done.'] : String(body).split('\n')
  const { columns } = operation
  const items = body[operation.items ?? 'items']
  if (!columns || !Array.isArray(items)) return details(body)
  if (items.length === 0) return ['Nothing found.']
  const rows = items.map((item: unknown) => Object.values(columns).map((path) => cell(at(item, path))))
  return table(fitted([Object.keys(columns), ...rows], width))
}

/** A resource stands alone in an answer, under its name; what is shown once stands beside it. */
function details(body: Record<string, unknown>): string[] {
  return Object.entries(body).flatMap(([name, value]) =>
    isRecord(value) ? fields(value) : fields({ [name]: value }),
  )
}

/** Cuts the widest columns until the rows fit. The first one is what other commands are given, and stays whole. */
export function fitted(rows: readonly (readonly string[])[], width: number | undefined): string[][] {
  const cells = rows.map((row) => row.map(asLine))
  if (width === undefined) return cells
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  )
  const total = () => widths.reduce((sum, one) => sum + one + gap, -gap)
  while (total() > width) {
    const widest = widths.indexOf(Math.max(...widths.slice(1)), 1)
    if (widest < 1 || (widths[widest] ?? 0) <= narrowest) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return cells.map((row) => row.map((text, column) => cut(text, widths[column] ?? text.length)))
}

const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`

function cell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (Array.isArray(value) && value.length === 0) return '-'
  if (Array.isArray(value)) return value.every(isScalar) ? value.join(',') : String(value.length)
  if (!isRecord(value)) return String(value)
  const named = value.name ?? value.id ?? value.email
  return typeof named === 'string' ? named : Object.values(value).filter(isScalar).join(' ')
}

const isScalar = (value: unknown): boolean => typeof value !== 'object'

/** The value at a path such as `license.id`. */
function at(item: unknown, path: string): unknown {
  return path.split('.').reduce((value, name) => (isRecord(value) ? value[name] : undefined), item)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const showAfterMs = 500

/**
 * Counts long work on stderr: redrawn in place at a terminal, an occasional line elsewhere. Short work shows nothing.
 * @param total how many there are, when it is known
 */
export function countProgress(title: string, unit: string, total?: number) {
  const started = performance.now()
  const terminal = process.stderr.isTTY
  let lastShown = started
  const line = (done: number): string => {
    const perSecond = Math.round(done / ((performance.now() - started) / 1000))
    const of =
      total === undefined ? '' : ` of ${inGroups(total)}, ${Math.floor((done / (total || 1)) * 100)} %`
    return `${title}: ${inGroups(done)}${of} ${unit}, ${inGroups(perSecond)}/s`
  }
  return {
    update(done: number): void {
      const now = performance.now()
      if (now - lastShown < (terminal ? 100 : 5000) || now - started < showAfterMs) return
      lastShown = now
      process.stderr.write(terminal ? `\r${line(done)}\x1b[K` : `${line(done)}\n`)
    },
    done(done: number): void {
      if (lastShown !== started)
        process.stderr.write(`${terminal ? '\r' : ''}${line(done)}${terminal ? '\x1b[K' : ''}\n`)
    },
  }
}

const inGroups = (value: number): string => value.toLocaleString('en-US')
