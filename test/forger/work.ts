import { z } from 'zod'
import type { Genuine } from './genuine.ts'
import type { Random } from './random.ts'
import type { EventRecord } from './record.ts'
import { leafOf, type Tree, treeOf } from './tree.ts'
import { filesIn } from './zip.ts'

/**
 * What a truthful verifier may answer to an alteration: `refused`, when it changes what is claimed; `partly`, when all that is still
 * claimed as proved is true, so that the verifier may refuse it or prove the rest; `same`, when it changes no claim at all.
 */
export type Verdict = 'refused' | 'partly' | 'same'

/** What an alteration did. */
export type Altered = {
  verdict: Verdict
  /** Files, streams and words, one of which a refusal has to name. */
  touched: readonly string[]
  /** Whether it is still there; later alterations may remove it again. */
  remains?: (work: Work) => boolean
}

/** The files of an archive while they are altered. */
export type Work = {
  genuine: Genuine
  /** The archive that the forger began with. */
  base: string
  files: Map<string, Buffer>
}

/** @returns undefined when the archive has nothing that could be altered so */
export type Alteration = (work: Work, random: Random) => Altered | undefined

export const beginWith = (genuine: Genuine, base: string): Work => ({
  genuine,
  base,
  files: new Map(filesIn(archiveNamed(genuine, base))),
})

export function archiveNamed({ archives }: Genuine, name: string): Buffer {
  const archive = archives.get(name)
  if (!archive) throw new Error(`there is no archive ${name}`)
  return archive
}

/** A line of events and its line of proofs, as text. */
export type Pair = { event: string; proof: string }

/** The names of the files of events that have a file of proofs. */
export const pairedNames = ({ files }: Work): string[] =>
  [...files.keys()].filter((name) => /^events\/[^/]*\.jsonl$/.test(name) && files.has(proofsName(name)))

export const proofsName = (name: string): string => name.replace('events/', 'proofs/')

const linesOf = (content: Buffer | undefined): string[] =>
  (content?.toString() ?? '').split('\n').slice(0, -1)

export function pairsIn({ files }: Work, name: string): Pair[] {
  const proofs = linesOf(files.get(proofsName(name)))
  return linesOf(files.get(name)).map((event, at) => ({ event, proof: proofs[at] ?? '' }))
}

/** Replaces the lines; without any, the archive loses both files. */
export function setPairs({ files }: Work, name: string, pairs: readonly Pair[]): void {
  const textOf = (lines: readonly string[]) => Buffer.from(lines.map((line) => `${line}\n`).join(''))
  if (pairs.length === 0) {
    files.delete(name)
    files.delete(proofsName(name))
    return
  }
  files.set(name, textOf(pairs.map(({ event }) => event)))
  files.set(proofsName(name), textOf(pairs.map(({ proof }) => proof)))
}

export const Line = z.looseObject({
  stream: z.string(),
  revision: z.number(),
  type: z.string(),
  data: z.record(z.string(), z.unknown()),
  metadata: z.record(z.string(), z.unknown()),
})
export type Line = z.infer<typeof Line>

export const Proof = z.looseObject({
  index: z.number(),
  record: z.string().optional(),
  open: z.string().optional(),
  leaf: z.string().optional(),
})
export type Proof = z.infer<typeof Proof>

/** A line as the forger reads it; undefined when earlier alterations left nothing to read, or nested it too deeply. */
export function parsed<S extends z.ZodType>(schema: S, text: string): z.infer<S> | undefined {
  if (/\[{99}|(?:\{"a":){99}/.test(text)) return undefined
  try {
    return schema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** A place in an archive whose line and proof can be read. */
export type Place = { name: string; at: number; pairs: Pair[]; line: Line; proof: Proof }

export function placesIn(work: Work): Place[] {
  return pairedNames(work).flatMap((name) => {
    const pairs = pairsIn(work, name)
    return pairs.flatMap((pair, at) => {
      const line = parsed(Line, pair.event)
      const proof = parsed(Proof, pair.proof)
      return line && proof ? [{ name, at, pairs, line, proof }] : []
    })
  })
}

export function placeIn(work: Work, random: Random): Place | undefined {
  const places = placesIn(work)
  return places.length === 0 ? undefined : random.of(places)
}

/** Replaces the line, its proof or both, and says what was touched. */
export function setPair(work: Work, { name, at, pairs }: Place, pair: Partial<Pair>): void {
  setPairs(
    work,
    name,
    pairs.map((other, index) => (index === at ? { ...other, ...pair } : other)),
  )
}

export const touchedBy = ({ name, line }: Pick<Place, 'name' | 'line'>): string[] => [
  name,
  proofsName(name),
  line.stream,
]

/** Whether a text that an alteration wrote is still in a file. */
export const stillIn =
  (name: string, text: string) =>
  ({ files }: Work): boolean =>
    files.get(name)?.includes(text) ?? false

/** The number of leaves that the checkpoint of an archive covers. */
export function sizeIn({ files, genuine }: Work): number {
  const size = Number((files.get('proofs/checkpoint')?.toString() ?? '').split('\n')[1])
  return size > 0 && size <= genuine.records.length ? size : genuine.records.length
}

const trees = new Map<number, Tree>()

/** The tree of the log when it had so many leaves. */
export function treeAt({ tree: { leaves } }: Genuine, size: number): Tree {
  const known = trees.get(size)
  if (known) return known
  const tree = treeOf(leaves.slice(0, size))
  trees.set(size, tree)
  return tree
}

export const base64Proof = (tree: Tree, index: number): string[] =>
  tree.proof(index).map((hash) => hash.toString('base64'))

/** The genuine record at a place of the log. */
export const recordAt = (
  { records }: Genuine,
  stream: string,
  revision: number,
): [number, EventRecord] | undefined => {
  const index = records.findIndex((record) => record.stream === stream && record.revision === revision)
  const record = records[index]
  return record && [index, record]
}

export const leafText = (entry: string): string => leafOf(entry).toString('base64')

/** Whether the streams of the archive do not begin with revision 0, or have gaps, repetitions or another order. */
export function isBroken(work: Work): boolean {
  const next = new Map<string, number>()
  return placesIn(work).some(({ line: { stream, revision } }) => {
    const expected = next.get(stream) ?? 0
    next.set(stream, expected + 1)
    return revision !== expected
  })
}
