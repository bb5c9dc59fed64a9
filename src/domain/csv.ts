/**
 * Reads RFC 4180: quoted cells may contain commas, quotes and line breaks; lines end with CRLF or LF. Empty lines are
 * left out.
 * @returns the cells of each line with the number of the line that it begins on; undefined if a quote is not closed
 */
export function readCsv(text: string): { line: number; cells: string[] }[] | undefined {
  const lines: { line: number; cells: string[] }[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|$)/y
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
    if (end === ',' && isLast) cells.push('')
    if (end === ',' && !isLast) continue
    if (cells.length > 1 || cells[0] !== '') lines.push({ line: begunOn, cells })
    cells = []
    begunOn = line
  }
  return lines
}
