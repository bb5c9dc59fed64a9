import { type Hash, sameHash } from '../transparency/tree/edge.ts'
import { isObject } from './json.ts'
import { type EventName, eventWords, NotProved } from './not-proved.ts'
import { leafOfLine } from './record.ts'

/** How far after the first difference an event is searched for that stands elsewhere. */
const searched = 1024

/** A record of a directory, and its leaf; undefined for a line that is no record. */
type RecordLeaf = { leaf: Hash | undefined; name: EventName }

/** The first difference between the records of a directory and the leaves of its tiles, with what follows it. */
export type RecordComparison = {
  /**
   * @param leaf at the next index; undefined after the end of the log
   * @returns the leaf of the record
   */
  next: (leaf: Hash | undefined, record: Uint8Array | undefined) => Hash | undefined
  /** @returns the first event that differs, is missing, was added or stands in another order */
  difference: () => NotProved | undefined
}

/** Compares leaves with records one after another, with a bounded memory. */
export function compareRecords(): RecordComparison {
  let index = 0
  let first: number | undefined
  const leaves: Hash[] = []
  const records: RecordLeaf[] = []
  return {
    next(leaf, record) {
      const found = record && leafOfLine(record)
      if (first === undefined && !(leaf && found && sameHash(leaf, found))) first = index
      if (first !== undefined && index - first < searched) {
        if (leaf) leaves.push(leaf)
        if (record) records.push({ leaf: found, name: nameOf(record) })
      }
      index += 1
      return found
    },
    difference: () => (first === undefined ? undefined : classified(first, leaves, records)),
  }
}

/** The name of the event that a record is of, as far as it can be read. */
function nameOf(record: Uint8Array): EventName {
  try {
    const value: unknown = JSON.parse(Buffer.from(record).toString())
    if (!isObject(value)) return {}
    const { stream, revision, type } = value
    if (typeof stream !== 'string' || typeof revision !== 'number' || typeof type !== 'string') return {}
    return { stream, revision, type }
  } catch {
    return {}
  }
}

function classified(index: number, leaves: readonly Hash[], records: readonly RecordLeaf[]): NotProved {
  const [leaf] = leaves
  const [record] = records
  const name = { index, ...record?.name }
  const words = eventWords(name)
  if (!record)
    return new NotProved(
      'missing',
      `The records end before ${eventWords({ index })}, which the log has.`,
      name,
    )
  if (!leaf) return new NotProved('added', `The log ends before ${words}. It was added.`, name)
  const isOf = (hash: Hash, { leaf: found }: RecordLeaf) => found !== undefined && sameHash(hash, found)
  const isLater = leaves.some((other) => isOf(other, record))
  const comesLater = records.some((other) => isOf(leaf, other))
  if (isLater && comesLater)
    return new NotProved('order', `${words} stands earlier in the records than in the log.`, name)
  if (isLater)
    return new NotProved(
      'missing',
      `The records lack ${eventWords({ index })}, which stands in the log before ${eventWords(record.name)}.`,
      { index },
    )
  if (comesLater) return new NotProved('added', `The log does not have ${words}. It was added.`, name)
  return new NotProved('differs', `The log has other content at ${words}. The event was changed.`, name)
}
