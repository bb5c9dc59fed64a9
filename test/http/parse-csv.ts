/** Strictly reads RFC 4180: every line ends with CRLF, and a quote in a quoted cell is doubled. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    let cell = ''
    if (text[at] === '"') {
      for (at++; ; at++) {
        if (at >= text.length) throw new Error('a quote is not closed')
        if (text[at] === '"' && text[++at] !== '"') break
        cell += text[at]
      }
    } else {
      for (; at < text.length && text[at] !== ',' && text[at] !== '\r'; at++) {
        if (text[at] === '"' || text[at] === '\n') throw new Error(`${text[at]} stands unquoted`)
        cell += text[at]
      }
    }
    row.push(cell)
    if (text[at] === ',') at++
    else if (text.startsWith('\r\n', at)) {
      rows.push(row)
      row = []
      at += 2
    } else throw new Error('a cell ends with neither a comma nor CRLF')
  }
  if (row.length > 0) throw new Error('the last line does not end')
  return rows
}
