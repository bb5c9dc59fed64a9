import { formula } from '../domain/csv.ts'

/** The value of a cell. Callers turn lists and records into text themselves. */
export type Cell = string | number | boolean | Decimal | null | undefined

/** A number with more digits than a floating-point number holds, such as `-0.000001`: it is written as it is. */
export type Decimal = { decimal: string }

/**
 * One line of RFC 4180: quoted where necessary, ended by CRLF. An apostrophe before a formula keeps spreadsheets
 * from running it, as OWASP recommends.
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`

function csvCell(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  // Numbers are safe, also negative ones; only text from others can be a formula.
  if (typeof cell === 'object') return cell.decimal
  const text = typeof cell === 'string' && formula.test(cell) ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
