import { basename } from 'node:path'
import { linesOf } from '../../async/lines.ts'
import { separatorOf } from '../../domain/csv.ts'
import { ImportProblem } from '../problem.ts'

/** A line of CSV by the names of its columns, with the number of the line that it begins on. */
export type CsvLine = { line: number; cells: Record<string, string>; problem?: string }

/** A quote that is never closed would make one cell of the rest of the file. */
const maxRecordLength = 1_048_576

/**
 * Reads RFC 4180 line by line: quoted cells may contain commas, quotes and line breaks. The first line names the
 * columns; a semicolon or a tab separates them if the first line has more of those than commas. Empty lines are left
 * out.
 * @throws ImportProblem when the file is empty, or a quote is not closed
 */
export async function* csvLines(file: string): AsyncIterable<CsvLine> {
  let names: string[] | undefined
  let separator = ','
  for await (const { line, text } of records(file)) {
    if (names === undefined) {
      separator = separatorOf(text)
      names = cellsOf(text, separator).map((name) => name.trim())
      continue
    }
    if (text.trim() === '') continue
    const values = cellsOf(text, separator)
    if (values.length > names.length) {
      yield { line, cells: {}, problem: 'The line has more cells than the first line has names.' }
      continue
    }
    yield { line, cells: Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])) }
  }
  if (names === undefined) throw new ImportProblem(`${basename(file)} is empty.`)
}

/** Lines of the file, joined while a quote is open. */
async function* records(file: string): AsyncIterable<{ line: number; text: string }> {
  const name = basename(file)
  let line = 0
  let open: { line: number; text: string } | undefined
  for await (const read of linesOf(file)) {
    line++
    const part = line === 1 ? read.replace(/^\uFEFF/, '') : read
    // Quotes within quotes are doubled, so an odd number of them opens or closes a cell.
    const changes = part.split('"').length % 2 === 0
    if (open === undefined) {
      if (changes) open = { line, text: part }
      else yield { line, text: part }
      continue
    }
    open.text += `\n${part}`
    if (open.text.length > maxRecordLength) throw new ImportProblem(notClosed(name, open.line))
    if (!changes) continue
    yield open
    open = undefined
  }
  if (open) throw new ImportProblem(notClosed(name, open.line))
}

const notClosed = (name: string, line: number) => `${name}: the quotation mark on line ${line} is not closed.`

function cellsOf(record: string, separator: string): string[] {
  const cells: string[] = []
  let from = 0
  while (from <= record.length) {
    if (record[from] === '"') {
      const end = closingQuote(record, from)
      cells.push(record.slice(from + 1, end).replaceAll('""', '"'))
      const next = record.indexOf(separator, end + 1)
      from = next < 0 ? record.length + 1 : next + 1
      continue
    }
    const next = record.indexOf(separator, from)
    const end = next < 0 ? record.length : next
    cells.push(record.slice(from, end))
    from = next < 0 ? record.length + 1 : next + 1
  }
  return cells
}

function closingQuote(record: string, opening: number): number {
  for (let at = record.indexOf('"', opening + 1); at >= 0; at = record.indexOf('"', at + 2)) {
    if (record[at + 1] !== '"') return at
  }
  return record.length
}
