import { z } from 'zod'
import { canonical, EventRecord, entryOf, isSalted, openOf, recordLeaf, sealedOf, shownOf } from './record.ts'
import { otherValue, valuesIn } from './values.ts'
import {
  type Alteration,
  base64Proof,
  Proof as EventProof,
  isBroken,
  type Line,
  leafText,
  type Pair,
  type Place,
  pairedNames,
  pairsIn,
  parsed,
  placeIn,
  recordAt,
  setPair,
  setPairs,
  sizeIn,
  stillIn,
  touchedBy,
  treeAt,
  type Work,
} from './work.ts'

/** Types whose record an archive may leave out, by the published format. */
const withholdable = ['LicenseImported', 'LicenseReminted', 'KeyMailAsked', 'DeliveryScheduled']

/** Replaces any value of a line of events, and, half the time, of its record alike. */
export const replaceValue: Alteration = (work, random) => {
  const place = placeIn(work, random)
  const pair = place?.pairs[place.at]
  if (!place || !pair) return undefined
  const values = valuesIn(pair.event)
  if (values.length === 0) return undefined
  const { path, from, to } = random.of(values)
  const event = `${pair.event.slice(0, from)}${otherValue(pair.event.slice(from, to), work.genuine, random)}${pair.event.slice(to)}`
  if (event.includes('\n')) return undefined
  const alike = random.below(2) === 0 ? recordAlike(event, place) : undefined
  setPair(work, place, { event, ...(alike !== undefined && { proof: alike }) })
  const isClaim = place.proof.leaf === undefined && path !== '/position'
  return {
    verdict: isClaim ? 'refused' : 'partly',
    touched: [...touchedBy(place), parsed(recordName, event)?.stream ?? place.line.stream],
    remains: stillIn(place.name, event),
  }
}

const recordName = EventRecord.pick({ stream: true })

/** The line of proofs for a changed line of events, with a record that says the same. */
function recordAlike(event: string, { proof }: Place): string | undefined {
  const record = parsed(EventRecord, event)
  const before = parsed(EventRecord, proof.record ?? '')
  if (!record || !before) return undefined
  const { keyHash } = before.data
  try {
    const { stream, revision, id, type, metadata } = record
    const data = keyHash === undefined ? record.data : { ...record.data, keyHash }
    return JSON.stringify({ ...proof, record: canonical({ stream, revision, id, type, metadata, data }) })
  } catch {
    return undefined
  }
}

/** Replaces any value of a line of proofs. */
export const replaceProof: Alteration = (work, random) => {
  const place = placeIn(work, random)
  const pair = place?.pairs[place.at]
  if (!place || !pair) return undefined
  const { from, to } = random.of(valuesIn(pair.proof))
  const proof = `${pair.proof.slice(0, from)}${otherValue(pair.proof.slice(from, to), work.genuine, random)}${pair.proof.slice(to)}`
  setPair(work, place, { proof })
  return { verdict: 'refused', touched: touchedBy(place), remains: stillIn(lastOf(place), proof) }
}

const lastOf = ({ name }: Place): string => name.replace('events/', 'proofs/')

/** Marks an event as withheld, whose type may be or may not. */
export const withhold: Alteration = (work, random) => {
  const place = placeIn(work, random)
  const known = place && recordAt(work.genuine, place.line.stream, place.line.revision)
  if (!place || !known || known[0] >= sizeIn(work)) return undefined
  const [index, record] = known
  const proof = base64Proof(treeAt(work.genuine, sizeIn(work)), index)
  const isLeaf = random.below(2) === 0
  const changed = isLeaf
    ? { index, leaf: leafText(entryOf(record)), proof }
    : { index, open: openOf(record), sealed: isSalted(record) ? sealedOf(record) : leafHex(record), proof }
  const text = JSON.stringify(changed)
  setPair(work, place, { event: JSON.stringify(bare(place.line, isLeaf)), proof: text })
  const isAllowed = withholdable.includes(record.type) && (isLeaf || isSalted(record))
  return {
    verdict: isAllowed ? 'partly' : 'refused',
    touched: touchedBy(place),
    remains: stillIn(lastOf(place), text),
  }
}

const leafHex = (record: EventRecord): string => recordLeaf(record).toString('hex')

/** A line without what a withheld one has to leave out. */
function bare(line: Line, isLeaf: boolean): object {
  const {
    id,
    metadata: { salt: _salt, causationId, ...metadata },
    ...others
  } = line
  return isLeaf
    ? { ...others, metadata }
    : { ...others, id, metadata: { ...metadata, ...(causationId !== undefined && { causationId }) } }
}

/** An invented event in the place of a genuine one, marked as withheld. */
export const inventWithheld: Alteration = (work, random) => {
  const place = placeIn(work, random)
  if (!place) return undefined
  const tree = treeAt(work.genuine, sizeIn(work))
  const index =
    random.below(3) === 0
      ? random.below(tree.leaves.length)
      : Math.max(0, Math.min(place.proof.index, tree.leaves.length - 1))
  if (!Number.isInteger(index)) return undefined
  const isTrueLeaf = random.below(3) > 0
  const leaf = isTrueLeaf ? (tree.leaves[index]?.toString('base64') ?? '') : leafText('invented')
  const type = random.of([...withholdable, place.line.type])
  const invented = {
    ...bare({ ...place.line, type }, true),
    data: { deviceLimit: 1_000_000, holder: null, ...place.line.data, quantity: 9999 },
  }
  const proof = JSON.stringify({ index, leaf, proof: base64Proof(tree, index) })
  setPair(work, place, { event: JSON.stringify(invented), proof })
  const isAllowed = isTrueLeaf && withholdable.includes(type)
  return {
    verdict: isAllowed ? 'partly' : 'refused',
    touched: touchedBy(place),
    remains: stillIn(lastOf(place), proof),
  }
}

/** An invented event with the proof of a genuine one, or with a genuine leaf beside its record. */
export const inventProved: Alteration = (work, random) => {
  const place = placeIn(work, random)
  if (!place) return undefined
  const tree = treeAt(work.genuine, sizeIn(work))
  const index = random.below(tree.leaves.length)
  const invented: EventRecord = {
    stream: place.line.stream,
    revision: place.line.revision,
    id: '00000000-0000-4000-8000-000000000000',
    type: random.of(['LicenseMinted', 'LicenseRevoked', 'SigningKeyPublished', 'KeyMailAsked', '__proto__']),
    data: { ...place.line.data, quantity: random.below(1000) },
    metadata: random.below(2) === 0 ? place.line.metadata : { salt: '00'.repeat(16) },
  }
  const hashes = base64Proof(tree, index)
  const leaf = tree.leaves[index]?.toString('base64')
  const proof = JSON.stringify(
    random.of([
      { index, record: canonical(invented), proof: hashes },
      { index, record: canonical(invented), leaf, proof: hashes },
      { index, open: openOf(invented), sealed: leafHex(invented), proof: hashes },
      { index, record: canonical(invented), proof: [] },
      { index, record: entryOf(invented), proof: hashes },
      { index, leaf: leafText(canonical(invented)), proof: hashes },
    ]),
  )
  setPair(work, place, { event: JSON.stringify(shownOf(invented, '1')), proof })
  return { verdict: 'refused', touched: touchedBy(place), remains: stillIn(lastOf(place), proof) }
}

/** The name of a file with its lines. */
function fileOf(
  work: Work,
  random: { of: <T>(choices: readonly T[]) => T },
): { name: string; pairs: Pair[] } | undefined {
  const names = pairedNames(work).filter((name) => pairsIn(work, name).length > 0)
  if (names.length === 0) return undefined
  const name = random.of(names)
  return { name, pairs: pairsIn(work, name) }
}

const streamsIn = (name: string, pairs: readonly Pair[]): string[] => [
  name,
  name.replace('events/', 'proofs/'),
  ...pairs.map(({ event }) => parsed(recordName, event)?.stream ?? name),
]

/** Cuts the start, the middle or the end. A cut end is a shorter history, which is true. */
export const cut: Alteration = (work, random) => {
  const file = fileOf(work, random)
  if (!file) return undefined
  const { name, pairs } = file
  const from = random.below(pairs.length)
  const count = 1 + random.below(pairs.length - from)
  setPairs(work, name, pairs.toSpliced(from, count))
  const isEnd = from + count === pairs.length
  return {
    verdict: isEnd ? 'partly' : 'refused',
    touched: [...streamsIn(name, pairs), 'license-'],
    remains: isBroken,
  }
}

/** Repeats a line somewhere. */
export const repeat: Alteration = (work, random) => {
  const file = fileOf(work, random)
  if (!file) return undefined
  const { name, pairs } = file
  setPairs(work, name, pairs.toSpliced(random.below(pairs.length + 1), 0, random.of(pairs)))
  return { verdict: 'refused', touched: streamsIn(name, pairs), remains: isBroken }
}

/** Swaps two lines, with or without their proofs. */
export const swap: Alteration = (work, random) => {
  const file = fileOf(work, random)
  if (!file || file.pairs.length < 2) return undefined
  const { name, pairs } = file
  const one = random.below(pairs.length - 1)
  const other = one + 1 + random.below(pairs.length - one - 1)
  const [first, second] = [pairs[one], pairs[other]]
  if (!first || !second || first.event === second.event || first.proof === second.proof) return undefined
  const kind = random.below(3)
  const exchange = (to: Pair, from: Pair): Pair => ({
    event: kind === 1 ? to.event : from.event,
    proof: kind === 2 ? to.proof : from.proof,
  })
  const swapped = pairs.with(one, exchange(first, second)).with(other, exchange(second, first))
  setPairs(work, name, swapped)
  return {
    verdict: 'refused',
    touched: streamsIn(name, pairs),
    remains: (later) =>
      isBroken(later) ||
      (kind > 0 && pairedNames(later).some((each) => pairsIn(later, each).some(isMismatched))),
  }
}

/** Whether the record of a line is that of another event. */
function isMismatched({ event, proof }: Pair): boolean {
  const line = parsed(recordName.extend({ revision: EventRecord.shape.revision }), event)
  const { record, open } = parsed(EventProof, proof) ?? {}
  const shown = parsed(EventRecord, record ?? open ?? '')
  return (
    line !== undefined &&
    shown !== undefined &&
    (line.stream !== shown.stream || line.revision !== shown.revision)
  )
}

/** A genuine event of the log that the archive does not have: the next one of its stream, or any of another stream. */
export const addGenuine: Alteration = (work, random) => {
  const file = fileOf(work, random)
  if (!file) return undefined
  const { name, pairs } = file
  const { genuine } = work
  const size = sizeIn(work)
  const tree = treeAt(genuine, size)
  const stream = random.of(genuine.records.slice(0, size)).stream
  const added = genuine.records
    .slice(0, size)
    .flatMap((record, index) => (record.stream === stream ? [{ record, index }] : []))
    .slice(0, 1 + random.below(3))
    .map(({ record, index }) => ({
      event: JSON.stringify(shownOf(record, String(index))),
      proof: JSON.stringify({ index, record: canonical(record), proof: base64Proof(tree, index) }),
    }))
  setPairs(work, name, [...pairs, ...added])
  return { verdict: 'partly', touched: [...streamsIn(name, pairs), stream] }
}

/** An invented event after the last one, marked as withheld, with the leaf of a later event. */
export const addWithheld: Alteration = (work, random) => {
  const file = fileOf(work, random)
  const last = file && parsed(lastLine, file.pairs.at(-1)?.event ?? '')
  if (!file || !last) return undefined
  const tree = treeAt(work.genuine, sizeIn(work))
  const index = tree.leaves.length - 1 - random.below(5)
  const event = JSON.stringify({
    stream: last.stream,
    revision: last.revision + 1,
    position: '99',
    type: random.of(withholdable),
    metadata: { schema: 1, actor: 'token:tok_forged' },
    data: { quantity: 1000, at: '2026-01-01T00:00:00.000Z' },
  })
  const proof = JSON.stringify({
    index,
    leaf: tree.leaves[index]?.toString('base64'),
    proof: base64Proof(tree, index),
  })
  setPairs(work, file.name, [...file.pairs, { event, proof }])
  return { verdict: 'partly', touched: streamsIn(file.name, file.pairs) }
}

const lastLine = recordName.extend({ revision: EventRecord.shape.revision })

/** The shape of a proof: fewer or more hashes, other lengths, other spellings of the same bytes, indexes that are none. */
export const bendProof: Alteration = (work, random) => {
  const place = placeIn(work, random)
  const pair = place?.pairs[place.at]
  const hashes = parsed(hashesOf, pair?.proof ?? '')?.proof
  if (!place || !pair || !hashes || hashes.length < 2) return undefined
  const at = random.below(hashes.length)
  const hash = hashes[at] ?? ''
  const { index } = place.proof
  const withHashes = (proof: unknown): string => JSON.stringify({ ...place.proof, proof })
  const withIndex = (text: string): string => pair.proof.replace(/"index":[^,]*/, `"index":${text}`)
  const proof = random.of([
    withHashes(hashes.toSpliced(at, 1)),
    withHashes(hashes.toSpliced(at, 0, hash)),
    withHashes(hashes.toReversed()),
    withHashes([]),
    withHashes(hashes.with(at, hash.slice(0, -4))),
    withHashes(hashes.with(at, hash.replace('=', ''))),
    withHashes(hashes.with(at, ` ${hash}`)),
    withHashes(hashes.with(at, `${hash}\n`)),
    withHashes(hashes.with(at, looseBits(hash))),
    withHashes(hashes.with(at, Buffer.from(hash, 'base64').toString('hex'))),
    withHashes(hashes.join('')),
    withHashes(Array.from({ length: 5000 }, () => hash)),
    withHashes({ ...hashes, length: hashes.length }),
    withIndex(String(index + 1)),
    withIndex(String(index === 0 ? 7 : index - 1)),
    withIndex(String(-1 - index)),
    withIndex(`${index}.5`),
    withIndex(`"${index}"`),
    withIndex(String(2 ** 53)),
    withIndex(String(2 ** 32 + index)),
    withIndex('1e999'),
    withIndex('null'),
    withIndex(`[${index}]`),
    'null',
    '[]',
    '"null"',
    '',
  ])
  if (proof === pair.proof) return undefined
  setPair(work, place, { proof })
  return {
    verdict: 'refused',
    touched: touchedBy(place),
    remains: (later) =>
      pairedNames(later).some((name) => pairsIn(later, name).some((other) => other.proof === proof)),
  }
}

const hashesOf = z.looseObject({ proof: z.array(z.string()) })

/** The same bytes, with bits set that base64 leaves unused. */
const looseBits = (hash: string): string => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const last = letters.indexOf(hash.at(-2) ?? '')
  return `${hash.slice(0, -2)}${letters[last | 3] === hash.at(-2) ? letters[last ^ 1] : letters[last | 3]}=`
}
