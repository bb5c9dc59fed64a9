import { createHash } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { linesOf } from '../../async/lines.ts'
import type { Piece, Shared } from '../sources/source.ts'

/** How many files the pieces are spread over. One file at a time is read into memory. */
const parts = 128
const flushAt = 64 * 1024

/** The pieces of an export, those of one license together, whatever the order of the export. */
export type Grouped = {
  shared: Shared
  /** The pieces of each license, in the order in which the export has the first piece of each. */
  groups(): AsyncIterable<Piece[]>
  /** Deletes the files, which hold license keys. */
  remove(): void
}

/**
 * Spreads the pieces over files by the hash of their group, so that a license and its devices meet without holding
 * all of them in memory, and sorts each file, so that reading all of them side by side gives the order of the export. The
 * directory is emptied first: a killed import may have left files there.
 */
export async function groupOnDisk(pieces: AsyncIterable<Piece>, directory: string): Promise<Grouped> {
  const remove = () => rmSync(directory, { recursive: true, force: true })
  remove()
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const files = Array.from({ length: parts }, (_, part) => join(directory, `${part}.jsonl`))
  const writers = files.map(createWriter)
  const shared = new Map<string, Map<string, unknown>>()
  try {
    let order = 0
    for await (const piece of pieces) {
      const { kind, id, group, data } = piece
      if (group !== null) writers[partOf(group)]?.write(JSON.stringify({ order: order++, piece }))
      else {
        const known = shared.get(kind) ?? new Map<string, unknown>()
        shared.set(kind, known.set(id, data))
      }
    }
  } finally {
    for (const writer of writers) writer.close()
  }
  for (const file of files) if (existsSync(file)) await sortGroups(file)
  const none: ReadonlyMap<string, unknown> = new Map()
  return {
    shared: {
      get: (kind, id) => (id == null ? undefined : shared.get(kind)?.get(id)),
      all: (kind) => shared.get(kind) ?? none,
    },
    groups: () => merged(files.map(sortedFile).filter((file) => existsSync(file))),
    remove,
  }
}

const partOf = (group: string): number => createHash('sha256').update(group).digest().readUInt8(0) % parts

type Group = { order: number; pieces: Piece[] }

const sortedFile = (file: string): string => `${file}.sorted`

/**
 * Writes the groups of a file side by side, the one that began first at the front. An object that was read twice counts
 * once, as it was read last: pages of an API overlap while it changes.
 */
async function sortGroups(file: string): Promise<void> {
  const groups = new Map<string, { order: number; pieces: Map<string, Piece> }>()
  for (const line of (await readFile(file, 'utf8')).split('\n')) {
    if (line === '') continue
    const { order, piece } = JSON.parse(line) as { order: number; piece: Piece }
    const group = piece.group ?? ''
    const known = groups.get(group) ?? { order, pieces: new Map<string, Piece>() }
    known.pieces.set(`${piece.kind} ${piece.id}`, piece)
    groups.set(group, known)
  }
  const writer = createWriter(sortedFile(file))
  // A map keeps the order in which its groups began.
  for (const { order, pieces } of groups.values()) {
    writer.write(JSON.stringify({ order, pieces: [...pieces.values()] } satisfies Group))
  }
  writer.close()
  rmSync(file)
}

/** The groups of sorted files, by their order over all files. */
async function* merged(files: readonly string[]): AsyncIterable<Piece[]> {
  const readers = files.map((file) => linesOf(file)[Symbol.asyncIterator]())
  const nextOf = async (reader: AsyncIterator<string>): Promise<Group | undefined> => {
    const read = await reader.next()
    return read.done === true ? undefined : (JSON.parse(read.value) as Group)
  }
  const heads = new Map<AsyncIterator<string>, Group>()
  const advance = async (reader: AsyncIterator<string>) => {
    const head = await nextOf(reader)
    if (head) heads.set(reader, head)
    else heads.delete(reader)
  }
  try {
    for (const reader of readers) await advance(reader)
    while (heads.size > 0) {
      const [reader, { pieces }] = [...heads].reduce((first, other) =>
        other[1].order < first[1].order ? other : first,
      )
      yield pieces
      await advance(reader)
    }
  } finally {
    for (const reader of readers) await reader.return?.()
  }
}

function createWriter(file: string) {
  let opened: number | undefined
  let buffered: string[] = []
  let length = 0
  const flush = () => {
    if (length === 0) return
    opened ??= openSync(file, 'a', 0o600)
    writeSync(opened, buffered.join(''))
    buffered = []
    length = 0
  }
  return {
    write(line: string) {
      buffered.push(line, '\n')
      length += line.length + 1
      if (length > flushAt) flush()
    },
    close() {
      flush()
      if (opened !== undefined) closeSync(opened)
    },
  }
}
