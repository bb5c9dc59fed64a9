import { readCsv } from '../csv.ts'

/** A row of a file as the API takes it, or why its line cannot be read. */
export type FileRow = { line: number; row: unknown } | { line: number; problem: string }

/** The columns of CSV, by the names of the fields in the API. */
export const columns = [
  'licenseKey',
  'keyTypeId',
  'email',
  'name',
  'quantity',
  'expiresAt',
  'status',
  'createdAt',
  'updatesUntil',
  'devices',
] as const
type Column = (typeof columns)[number]

/** `licenseKey`, `License key` and `license_key` are the same column. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9.]/g, '')
const columnOf = new Map<string, Column>(columns.map((name) => [plain(name), name]))
const metadataPrefix = /^\s*metadata\.(.+)$/i

/**
 * Reads CSV with a header line, or JSON lines in the shape of the API's rows.
 * @returns the rows, or what is wrong with the file as a whole
 */
export function rowsOfFile(text: string): FileRow[] | string {
  return /^\uFEFF?\s*\{/.test(text) ? rowsOfJson(text) : rowsOfCsv(text)
}

function rowsOfJson(text: string): FileRow[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  return lines.flatMap((json, index): FileRow[] => {
    if (json.trim() === '') return []
    const line = index + 1
    try {
      return [{ line, row: JSON.parse(json) }]
    } catch {
      return [{ line, problem: 'This line is no JSON.' }]
    }
  })
}

function rowsOfCsv(text: string): FileRow[] | string {
  const lines = readCsv(text)
  if (lines === undefined) return 'The file is no CSV: a quotation mark is not closed.'
  const [head, ...rest] = lines
  if (head === undefined) return 'The file is empty.'
  const fields = head.cells.map((name) => columnOf.get(plain(name)) ?? metadataPrefix.exec(name)?.[1]?.trim())
  const unknown = head.cells.filter((_, index) => fields[index] === undefined)
  if (unknown.length > 0)
    return `There are unknown columns: ${unknown.join(', ')}. Known ones are ${columns.join(', ')} and metadata.….`
  if (!fields.includes('licenseKey'))
    return 'The first line must name the columns, and one of them licenseKey.'
  const isOwn = head.cells.map((name) => columnOf.has(plain(name)))
  return rest.map(({ line, cells }): FileRow => {
    if (cells.length > fields.length) return { line, problem: 'This line has more cells than the first one.' }
    const row: Record<string, unknown> = {}
    const metadata: Record<string, string> = {}
    for (const [index, typed] of cells.entries()) {
      const cell = typed.trim()
      const field = fields[index]
      if (cell === '' || field === undefined) continue
      if (isOwn[index]) row[field] = cellValue(field, cell)
      else metadata[field] = cell
    }
    return { line, row: { ...row, ...(Object.keys(metadata).length > 0 && { metadata }) } }
  })
}

function cellValue(field: string, cell: string): unknown {
  switch (field) {
    case 'quantity':
      return /^\d{1,9}$/.test(cell) ? Number(cell) : cell
    case 'expiresAt':
    case 'createdAt':
    case 'updatesUntil':
      if (/^never$/i.test(cell)) return null
      return /^\d{4}-\d{2}-\d{2}$/.test(cell) ? `${cell}T00:00:00Z` : cell
    case 'status':
      return cell.toLowerCase()
    case 'devices':
      return cell.split(/[\s;|]+/).map((deviceId) => ({ deviceId }))
    default:
      return cell
  }
}
