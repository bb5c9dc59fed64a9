import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { appendFile, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { linesOf } from '../../async/lines.ts'
import { ImportProblem } from '../problem.ts'
import type { ApiChoice, ApiList, ApiLists } from './lists.ts'
import { type Api, getPage } from './request.ts'

/** How far a download is. It is written after each page, so that a killed download continues with the next one. */
const State = z.object({
  /** How many lists are complete. */
  lists: z.int(),
  /** The page that comes next in the list after those. */
  page: z.int(),
  /** Its address; null for the first one. */
  next: z.string().nullable(),
  /** The length of each file; what is behind it was written by a process that died. */
  lengths: z.record(z.string(), z.int()),
  complete: z.boolean(),
})
type State = z.infer<typeof State>

const begin: State = { lists: 0, page: 1, next: null, lengths: {}, complete: false }

/** Called after each page. @param pages how many the list has; undefined if the API does not tell */
type OnPage = (list: string, page: number, pages: number | undefined) => void

type Download = { api: Api; lists: ApiLists; choice: ApiChoice; directory: string; onPage: OnPage }

/** Whether the directory has a whole download. */
export const isComplete = (directory: string): boolean => readState(directory).complete

/**
 * Downloads the lists of an API into a directory that only its owner can read, as JSON lines with a page each: the
 * form that an import reads. A download that was interrupted continues; a complete one is left as it is.
 * @throws ImportProblem, ImportUnavailable
 */
export async function download({ api, lists, choice, directory, onPage }: Download): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  let state = readState(directory)
  if (state.complete) return
  const fetched = (list: string) => objectsIn(fileOf(directory, list))
  let at = 0
  for await (const list of lists.lists(choice, fetched)) {
    if (at++ < state.lists) continue
    state = await downloadList(list, state)
  }
  writeState(directory, { ...state, complete: true })

  async function downloadList(list: ApiList, from: State): Promise<State> {
    const file = fileOf(directory, list.list)
    if (existsSync(file)) await truncate(file, from.lengths[list.list] ?? 0)
    for (let now = from; ; ) {
      const body = await getPage(api, now.next ?? list.first)
      const { data, next, pages } = pageOf(api.name, () => {
        return { data: Items.parse(body), ...lists.pageInfo(list, now.page, body) }
      })
      await appendFile(file, `${JSON.stringify({ list: list.list, of: list.of, data })}\n`, { mode: 0o600 })
      onPage(list.list, now.page, pages)
      const lengths = { ...now.lengths, [list.list]: (await stat(file)).size }
      const { lists: done, page } = now
      now = next === null ? { ...begin, lists: done + 1, lengths } : { ...now, page: page + 1, next, lengths }
      writeState(directory, now)
      if (next === null) return now
    }
  }
}

const fileOf = (directory: string, list: string) => join(directory, `${list}.jsonl`)
const stateFile = (directory: string) => join(directory, 'download.state')

function readState(directory: string): State {
  const file = stateFile(directory)
  return existsSync(file) ? State.parse(JSON.parse(readFileSync(file, 'utf8'))) : begin
}

/** In one step, so that a crash leaves the former state or the new one. */
function writeState(directory: string, state: State): void {
  const file = stateFile(directory)
  writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** An answer of another shape must not look like an empty list. */
function pageOf<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch {
    throw new ImportProblem(`${name} answered with a page in an unknown form.`)
  }
}

const Items = z.union([
  z.array(z.unknown()),
  z.looseObject({ data: z.array(z.unknown()) }).transform(({ data }) => data),
  z.looseObject({ sales: z.array(z.unknown()) }).transform(({ sales }) => sales),
])

const Line = z.object({ data: z.array(z.unknown()) })

async function* objectsIn(file: string): AsyncIterable<unknown> {
  if (!existsSync(file)) return
  for await (const line of linesOf(file)) {
    if (line !== '') yield* Line.parse(JSON.parse(line)).data
  }
}
