import { createHash } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Piece, Shared } from '../sources/source.ts'

/** How many files the pieces are spread over. One file at a time is read into memory. */
const parts = 128
const flushAt = 64 * 1024

/** The pieces of an export, those of one license together, whatever the order of the export. */
export type Grouped = {
  shared: Shared
  /** The pieces of each license, always in the same order. */
  groups(): AsyncIterable<Piece[]>
  /** Deletes the files, which hold license keys. */
  remove(): void
}

/**
 * Spreads the pieces over files by the hash of their group, so that a license and its devices meet without holding
 * all of them in memory. The directory is emptied first: a killed import may have left files there.
 */
export async function groupOnDisk(pieces: AsyncIterable<Piece>, directory: string): Promise<Grouped> {
  const remove = () => rmSync(directory, { recursive: true, force: true })
  remove()
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const writers = Array.from({ length: parts }, (_, part) => createWriter(join(directory, `${part}.jsonl`)))
  const shared = new Map<string, Map<string, unknown>>()
  try {
    for await (const piece of pieces) {
      const { kind, id, group, data } = piece
      if (group !== null) writers[partOf(group)]?.write(JSON.stringify(piece))
      else {
        const known = shared.get(kind) ?? new Map<string, unknown>()
        shared.set(kind, known.set(id, data))
      }
    }
  } finally {
    for (const writer of writers) writer.close()
  }
  const none: ReadonlyMap<string, unknown> = new Map()
  return {
    shared: {
      get: (kind, id) => (id == null ? undefined : shared.get(kind)?.get(id)),
      all: (kind) => shared.get(kind) ?? none,
    },
    async *groups() {
      for (let part = 0; part < parts; part++) yield* groupsIn(join(directory, `${part}.jsonl`))
    },
    remove,
  }
}

const partOf = (group: string): number => createHash('sha256').update(group).digest().readUInt8(0) % parts

/** An object that was read twice counts once, as it was read last: pages of an API overlap while it changes. */
async function* groupsIn(file: string): AsyncIterable<Piece[]> {
  if (!existsSync(file)) return
  const groups = new Map<string, Map<string, Piece>>()
  for (const line of (await readFile(file, 'utf8')).split('\n')) {
    if (line === '') continue
    const piece = JSON.parse(line) as Piece
    const group = piece.group ?? ''
    const known = groups.get(group) ?? new Map<string, Piece>()
    groups.set(group, known.set(`${piece.kind} ${piece.id}`, piece))
  }
  for (const group of groups.values()) yield [...group.values()]
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
