import { forgerSeed } from './alter-files.ts'
import { respelled } from './alter-text.ts'
import type { Genuine } from './genuine.ts'
import { checkpointOf, keysOf, signatureLine } from './keys.ts'
import type { Random } from './random.ts'
import { canonical, EventRecord, recordLeaf } from './record.ts'
import { leafOf, tilesOf, treeOf } from './tree.ts'
import { parsed, treeAt } from './work.ts'

/** A log as files, by their paths. */
export type LogFiles = Map<string, Buffer>

/** The log as its ledger gives it out. */
export const logOf = ({ checkpoint, records, tree }: Genuine): LogFiles =>
  new Map([
    ['checkpoint', Buffer.from(checkpoint)],
    ...tilesOf(tree.leaves),
    ['records.ndjson', Buffer.from(records.map((record) => `${canonical(record)}\n`).join(''))],
  ])

/** What may be answered: `refused`, or `true`, when all that is proved is true. */
export type Altered = { verdict: 'refused' | 'true' }
type Alter = (files: LogFiles, genuine: Genuine, random: Random) => Altered['verdict']

const tileIn = (files: LogFiles, random: Random): [string, Buffer] => {
  const name = random.of([...files.keys()].filter((each) => each.startsWith('tile/')))
  return [name, files.get(name) ?? Buffer.alloc(0)]
}

const linesIn = (files: LogFiles): string[] =>
  (files.get('records.ndjson') ?? Buffer.alloc(0)).toString().split('\n').slice(0, -1)

const setLines = (files: LogFiles, lines: readonly string[]): void =>
  void files.set('records.ndjson', Buffer.from(lines.map((line) => `${line}\n`).join('')))

/** A log of the forger with other events, under the checkpoint of the true one, or its own. */
const rewritten: Alter = (files, genuine, random) => {
  const [origin = ''] = genuine.checkpoint.split('\n')
  const at = random.below(genuine.records.length)
  const records = genuine.records.map((record, index) =>
    index === at ? { ...record, type: 'Forged' } : record,
  )
  const cutTo = random.of([records.length, at + 1])
  const leaves = records.slice(0, cutTo).map(recordLeaf)
  for (const name of [...files.keys()].filter((each) => each.startsWith('tile/'))) files.delete(name)
  for (const [name, tile] of tilesOf(leaves)) files.set(name, tile)
  setLines(
    files,
    records.slice(0, cutTo).map((record) => canonical(record)),
  )
  const own = checkpointOf(origin, leaves.length, treeOf(leaves).root(), keysOf(forgerSeed))
  const signatures = genuine.checkpoint.split('\n').slice(4).join('\n')
  files.set(
    'checkpoint',
    Buffer.from(
      random.of([genuine.checkpoint, own, `${own}${signatures}`, own.replace(/\u2014.*\n/, signatures)]),
    ),
  )
  return 'refused'
}

const ofCheckpoint: Alter = (files, genuine, random) => {
  const { checkpoint } = genuine
  const [origin = '', size = '', root = ''] = checkpoint.split('\n')
  const foreign = signatureLine('forger.example', keysOf(forgerSeed), `${origin}\n${size}\n${root}\n`)
  const [verdict, text] = random.of<readonly [Altered['verdict'], string]>([
    ['true', `${checkpoint}${foreign}`],
    ['refused', checkpoint.replace(size, String(Number(size) - 1))],
    ['refused', checkpoint.replace(size, String(2 ** 53))],
    ['refused', checkpoint.replace(root, treeAt(genuine, 3).root().toString('base64'))],
    ['refused', checkpoint.replace(origin, 'licenses.example.org')],
    ['refused', checkpoint.replace(/\u2014.*\n/, foreign)],
    ['refused', checkpoint.slice(0, -6)],
    ['refused', checkpoint.replaceAll('\n', '\r\n')],
    ['refused', '<html></html>'],
    ['refused', ''],
  ])
  files.set('checkpoint', Buffer.from(text))
  return verdict
}

const ofTiles: Alter = (files, _, random) => {
  const [name, tile] = tileIn(files, random)
  const at = random.below(tile.length)
  const changed = random.of([
    Buffer.from(tile.map((byte, index) => (index === at ? byte ^ 1 : byte))),
    tile.subarray(0, -32),
    tile.subarray(0, -1),
    Buffer.concat([tile, tile.subarray(0, 32)]),
    Buffer.concat([tile.subarray(32, 64), tile.subarray(0, 32), tile.subarray(64)]),
    Buffer.from(tile.toString('hex')),
    Buffer.alloc(0),
    undefined,
  ])
  if (changed?.equals(tile)) return 'true'
  if (changed) files.set(name, changed)
  else files.delete(name)
  return 'refused'
}

const ofRecords: Alter = (files, genuine, random) => {
  const lines = linesIn(files)
  const at = random.below(lines.length)
  const line = lines[at] ?? ''
  const record = parsed(EventRecord, line)
  const other = random.of(respelled).of(line)
  const changed = random.of<readonly string[]>([
    lines.toSpliced(at, 1),
    lines.toSpliced(at, 0, line),
    lines.toSpliced(at, 0, ''),
    lines.toSpliced(at, 1, lines[(at + 1) % lines.length] ?? ''),
    lines.with(at, canonical({ ...record, revision: 7000 })),
    lines.with(at, canonical(random.of(genuine.records))),
    lines.with(at, canonical({ ...record, data: { ...record?.data, quantity: 1000 } })),
    lines.with(at, other),
    lines.slice(0, at),
    [...lines, canonical({ ...record, revision: 7000 })],
    [...lines.slice(0, at), leafOf(line).toString('hex')],
    lines.map((each) => `${each}\r`),
  ])
  if (changed.join('\n') === lines.join('\n')) return 'true'
  setLines(files, changed)
  return 'refused'
}

/** Bytes of the records, and files that no log has. */
const ofFiles: Alter = (files, genuine, random) => {
  const records = files.get('records.ndjson') ?? Buffer.alloc(0)
  const kind = random.below(5)
  if (kind === 0) {
    files.set('records.ndjson', records.subarray(0, -1))
    return 'true'
  }
  if (kind === 1) {
    files.delete('records.ndjson')
    return 'true'
  }
  if (kind === 2) {
    files.set('records.ndjson', Buffer.concat([records.subarray(0, 9), Buffer.of(0xff), records.subarray(9)]))
    return 'refused'
  }
  if (kind === 3) {
    files.set('tile/0/009', Buffer.alloc(256 * 32))
    return 'true'
  }
  // An older state, which is a true one.
  files.set('checkpoint', Buffer.from(genuine.kept[0] ?? ''))
  return random.below(2) === 0 ? 'true' : ofCheckpoint(files, genuine, random)
}

/** Alterations of a log that is a directory; those of a served one leave its records alone. */
const alterations = { rewritten, ofCheckpoint, ofTiles, ofRecords, ofFiles }

/** @returns an altered log, and what may be answered */
export function forgeLog(genuine: Genuine, random: Random, isServed: boolean): { files: LogFiles } & Altered {
  const files = logOf(genuine)
  const { rewritten: rewrite, ...others } = alterations
  const choices = isServed
    ? [rewrite, others.ofCheckpoint, others.ofTiles, others.ofFiles]
    : [rewrite, ...Object.values(others)]
  const verdict = random.of(choices)(files, genuine, random)
  return { files, verdict }
}

/** Whether the records are those of the log from its first event on. */
export const areGenuineRecords = (files: LogFiles, genuine: Genuine, size: number): boolean => {
  const expected = genuine.records
    .slice(0, size)
    .map((record) => canonical(record))
    .join('\n')
  return (files.get('records.ndjson') ?? Buffer.alloc(0)).toString().trimEnd() === expected
}
