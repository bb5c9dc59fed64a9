/** What a cell may hold. Lists and records go in as text that whoever makes the row has chosen. */
export type Cell = string | number | boolean | null | undefined

/** Spreadsheets take a text that begins like this for a formula, which could send the sheet's data elsewhere. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/

/**
 * One line of RFC 4180: cells quoted where they must be, ended by CRLF. A text that a spreadsheet would run as a
 * formula is kept from that by an apostrophe before it, as OWASP recommends.
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`

function csvCell(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  // A negative number is a number; only what others have written can be meant as something else.
  const text = typeof cell === 'string' && formula.test(cell) ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
