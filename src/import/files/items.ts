import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { linesOf } from '../../async/lines.ts'
import { ImportProblem } from '../problem.ts'
import { csvLines } from './csv-lines.ts'

/** An object of an export file. */
export type ExportItem = {
  /** The list that it is part of: the name of its file up to the first dot. */
  list: string
  /** What the list belongs to, such as the policy of a list of entitlements. */
  of: string | null
  /** A file and a line or a position, for the report. */
  from: string
  data: unknown
}

const extensions = ['.jsonl', '.ndjson', '.json', '.csv'] as const
const extensionOf = (path: string) => extensions.find((extension) => path.toLowerCase().endsWith(extension))

/** A JSON file is read as a whole; larger ones have to be JSON lines. */
const maxJsonBytes = 64 * 1_048_576

/**
 * The files of an export: the file itself, or those of a directory by name.
 * @throws ImportProblem when there is none
 */
export async function exportFiles(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new ImportProblem(`${path} does not exist.`)
  if (!found.isDirectory()) return [path]
  const names = (await readdir(path)).filter((name) => extensionOf(name) !== undefined).sort()
  if (names.length === 0)
    throw new ImportProblem(`${path} has no export files. They end with ${extensions.join(', ')}.`)
  return names.map((name) => join(path, name))
}

/**
 * The objects of an export, file by file. CSV and JSON lines are read line by line; each line of JSON is an object or
 * a page of an API.
 * @throws ImportProblem when a file as a whole cannot be read; a line that cannot be read is an item with a problem
 */
export async function* itemsOf(
  files: readonly string[],
): AsyncIterable<ExportItem | { from: string; problem: string }> {
  for (const file of files) {
    const name = basename(file)
    const list = name.split('.')[0] ?? ''
    switch (extensionOf(file)) {
      case '.csv':
        for await (const { line, cells, problem } of csvLines(file)) {
          const from = `${name}:${line}`
          yield problem === undefined ? { list, of: null, from, data: cells } : { from, problem }
        }
        break
      case '.jsonl':
      case '.ndjson':
        yield* jsonLines(file, { name, list })
        break
      default:
        yield* wholeJson(file, { name, list })
    }
  }
}

type ListInFile = { name: string; list: string }

async function* jsonLines(file: string, { name, list }: ListInFile) {
  let line = 0
  for await (const text of linesOf(file)) {
    line++
    if (text.trim() === '') continue
    const from = `${name}:${line}`
    const read = parsed(text)
    if (read === undefined) yield { from, problem: 'The line is not JSON.' }
    else yield* itemsIn(read.value, { list, from })
  }
}

async function* wholeJson(file: string, { name, list }: ListInFile) {
  if ((await stat(file)).size > maxJsonBytes) {
    throw new ImportProblem(
      `${name} is larger than 64 MiB. Write one object a line into a file that ends with .jsonl, as jq -c does.`,
    )
  }
  const read = parsed(await readFile(file, 'utf8'))
  if (read === undefined)
    throw new ImportProblem(`${name} is not JSON. For CSV, its name has to end with .csv.`)
  yield* itemsIn(read.value, { list, from: name })
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text.replace(/^\uFEFF/, '')) }
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A page of an API has its objects in `data` or `sales`; an array has them itself; anything else is one object. */
function* itemsIn(value: unknown, place: { list: string; from: string }): Iterable<ExportItem> {
  const page = isObject(value) ? value : {}
  const list = typeof page.list === 'string' ? page.list : place.list
  const of = typeof page.of === 'string' ? page.of : null
  const within = [value, page.data, page.sales].find((items) => Array.isArray(items))
  if (!within) {
    yield { list, of, from: place.from, data: isObject(page.data) ? page.data : value }
    return
  }
  for (const [index, data] of within.entries()) yield { list, of, from: `${place.from}#${index + 1}`, data }
}
