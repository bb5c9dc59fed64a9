type Separator = ',' | ';' | '\t'

/** What separates the cells of a file with this first line: commas, unless it has more semicolons or tabs. */
export function separatorOf(head: string): Separator {
  const count = (separator: Separator) => head.split(separator).length
  return ([';', '\t'] as const).reduce<Separator>(
    (best, other) => (count(other) > count(best) ? other : best),
    ',',
  )
}

/**
 * Spreadsheets take text that begins with these characters for a formula, which could send the sheet's data
 * elsewhere. Apostrophes may be before it, so that one that was added can be told from one of the text.
 */
export const formula = /^'*[=+\-@\t\r\n＝＋－＠]/

/** The text of a cell before an apostrophe was put in front of a formula. */
export const withoutPrefix = (text: string): string =>
  text.startsWith("'") && formula.test(text) ? text.slice(1) : text

/**
 * Reads RFC 4180: quoted cells may contain commas, quotes and line breaks; lines end with CRLF or LF. Empty lines are
 * left out.
 * @param separator what separates cells: a comma, a semicolon or a tab
 * @returns the cells of each line with the number of the line that it begins on; undefined if a quote is not closed
 */
export function readCsv(
  text: string,
  separator: Separator = ',',
): { line: number; cells: string[] }[] | undefined {
  const lines: { line: number; cells: string[] }[] = []
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^"${separator}\\r\\n]*))(${separator}|\\r\\n|\\n|$)`, 'y')
  const given = text.replace(/^\uFEFF/, '')
  let cells: string[] = []
  let line = 1
  let begunOn = 1
  while (cell.lastIndex < given.length) {
    const [whole, quoted, plain = '', end] = cell.exec(given) ?? []
    if (whole === undefined) return undefined
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    line += whole.split('\n').length - 1
    const isLast = cell.lastIndex === given.length
    if (end === separator && isLast) cells.push('')
    if (end === separator && !isLast) continue
    if (cells.length > 1 || cells[0] !== '') lines.push({ line: begunOn, cells })
    cells = []
    begunOn = line
  }
  return lines
}
