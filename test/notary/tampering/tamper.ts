import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { RawEvent } from '../../../src/ledger/raw/event.ts'
import type { AuditProblem } from '../../../src/notary/audit/findings.ts'
import { placeName } from '../../../src/notary/audit/sentences.ts'

/** What the audit has to name. A place is a stream and a revision, such as `license-lic_1@4`. */
export type Named = Pick<AuditProblem, 'index'> & {
  kind: string
  event: string | null
  before: string | null
  was: string | null
}

/** An attacker who writes to the file of the event store, whose rows have no checksums of their own. */
export type Tampering = {
  name: string
  /** Changes the file, and says what the audit has to find. Undefined when there is nothing of that kind to change there. */
  change(file: DatabaseSync, history: readonly RawEvent[], random: Random): Named | undefined
}

/** A number from 0 below the given one. */
export type Random = (below: number) => number

const nameAt = (events: readonly RawEvent[], index: number): string | null => {
  const event = events[index]
  return event ? placeName(event) : null
}

const eventAt = (events: readonly RawEvent[], index: number): RawEvent => {
  const event = events[index]
  if (!event) throw new Error(`there is no event at ${index}`)
  return event
}

const changedByte = (bytes: Uint8Array, random: Random): Uint8Array => {
  const copy = Uint8Array.from(bytes)
  const at = random(copy.length)
  copy[at] = (copy[at] ?? 0) ^ (1 + random(255))
  return copy
}

/** One column of a random event. */
const changedColumn = (
  name: string,
  column: string,
  value: (event: RawEvent, random: Random) => Uint8Array | string,
): Tampering => ({
  name,
  change(file, history, random) {
    const index = random(history.length)
    const event = eventAt(history, index)
    file
      .prepare(`update events set ${column} = ? where position = ?`)
      .run(value(event, random), Number(event.position))
    const before = nameAt(history, index - 1)
    return { kind: 'changed', index, event: placeName(event), before, was: null }
  },
})

const otherDigit = (text: string, random: Random): string => {
  const at = Array.from(text, (digit, place) => (digit === '-' ? -1 : place)).filter((place) => place >= 0)
  const place = at[random(at.length)] ?? 0
  const digit = ((Number.parseInt(text[place] ?? '0', 16) + 1 + random(15)) % 16).toString(16)
  return text.slice(0, place) + digit + text.slice(place + 1)
}

const streamIdOf = (file: DatabaseSync, stream: string): number =>
  Number(file.prepare('select stream_id as id from streams where name = ?').get(stream)?.id)

/** The head that the store keeps of a stream has to fit its events, so that the ledger goes on. */
function setHead(file: DatabaseSync, stream: string): void {
  file
    .prepare(
      `update streams set head = (select coalesce(max(revision), -1) from events e where e.stream_id = streams.stream_id)
       where name = ?`,
    )
    .run(stream)
}

/** Renumbers the later events of a stream, one by one, because no two may have the same revision. */
function renumber(file: DatabaseSync, { stream, revision }: RawEvent, by: 1 | -1): void {
  const [id, order] = [streamIdOf(file, stream), by === 1 ? 'desc' : 'asc']
  const later = file
    .prepare(
      `select position from events where stream_id = ? and revision ${by === 1 ? '>=' : '>'} ? order by revision ${order}`,
    )
    .all(id, revision)
  const change = file.prepare('update events set revision = revision + ? where position = ?')
  for (const row of later) change.run(by, Number(row.position))
}

/** What is known of a removed event: the gap in its stream, or what the tree says of the first events of tiles, and of its last. */
function knownOf(history: readonly RawEvent[], index: number, hasGap: boolean): string | null {
  const { stream, revision } = eventAt(history, index)
  const isNamed = index % 256 === 0 || index === history.length - 1
  const hasNext = history.some((other) => other.stream === stream && other.revision > revision)
  return isNamed || (hasGap && hasNext) ? placeName({ stream, revision }) : null
}

const removed = (name: string, renumbered: boolean): Tampering => ({
  name,
  change(file, history, random) {
    const index = random(history.length)
    const event = eventAt(history, index)
    file.prepare('delete from events where position = ?').run(Number(event.position))
    if (renumbered) renumber(file, event, -1)
    setHead(file, event.stream)
    const kind = index === history.length - 1 ? 'ends_early' : 'missing'
    const before = nameAt(history, index - 1)
    return { kind, index, event: null, before, was: knownOf(history, index, !renumbered) }
  },
})

/** A made-up event before a random one: at the end of its stream, or among its events, which are then renumbered. */
const added = (name: string, renumbered: boolean): Tampering => ({
  name,
  change(file, history, random) {
    const index = random(history.length)
    const model = eventAt(history, random(history.length))
    const ofStream = history.filter(({ stream }) => stream === model.stream)
    const next = ofStream.find(({ position }) => position >= eventAt(history, index).position)
    if (renumbered !== (next !== undefined)) return undefined
    const revision = next?.revision ?? ofStream.length
    if (next) renumber(file, next, 1)
    file
      .prepare(
        `insert into events (position, stream_id, revision, id, type, is_json, created_ms, metadata, data)
         select ?, stream_id, ?, ?, type, is_json, created_ms, metadata, data from events where position = ?`,
      )
      .run(Number(eventAt(history, index).position) - 1, revision, randomUUID(), Number(model.position))
    setHead(file, model.stream)
    const event = placeName({ stream: model.stream, revision })
    return { kind: 'added', index, event, before: nameAt(history, index - 1), was: null }
  },
})

/** Exchanges the positions of two events, by way of one that is free. */
function exchangePositions(file: DatabaseSync, one: RawEvent, other: RawEvent): void {
  const move = file.prepare('update events set position = ? where position = ?')
  const [from, to] = [Number(one.position), Number(other.position)]
  move.run(-1, from)
  move.run(from, to)
  move.run(to, -1)
}

const swapped: Tampering = {
  name: 'an event swapped with its neighbor',
  change(file, history, random) {
    const index = random(history.length - 1)
    const [one, other] = [eventAt(history, index), eventAt(history, index + 1)]
    exchangePositions(file, one, other)
    return {
      kind: 'swapped',
      index,
      event: placeName(other),
      before: nameAt(history, index - 1),
      was: null,
    }
  },
}

/** The two take each other's revisions, too, so that the stream looks whole. */
const swappedInStream: Tampering = {
  name: 'an event swapped with the next one of its stream, both renumbered',
  change(file, history, random) {
    const index = random(history.length)
    const one = eventAt(history, index)
    const other = history.find(
      ({ stream, revision }) => stream === one.stream && revision === one.revision + 1,
    )
    if (!other) return undefined
    exchangePositions(file, one, other)
    const change = file.prepare('update events set revision = ? where position = ?')
    change.run(-1, Number(one.position))
    change.run(other.revision, Number(other.position))
    change.run(one.revision, Number(one.position))
    const isNext = history[index + 1] === other
    const kind = isNext ? 'swapped' : 'changed'
    return { kind, index, event: placeName(one), before: nameAt(history, index - 1), was: null }
  },
}

const otherRevision: Tampering = {
  name: 'its revision',
  change(file, history, random) {
    const index = random(history.length)
    const event = eventAt(history, index)
    const head = history.filter(({ stream }) => stream === event.stream).length - 1
    const revision = head + 1 + random(500)
    file.prepare('update events set revision = ? where position = ?').run(revision, Number(event.position))
    setHead(file, event.stream)
    const before = nameAt(history, index - 1)
    return { kind: 'changed', index, event: placeName({ ...event, revision }), before, was: placeName(event) }
  },
}

const otherStream: Tampering = {
  name: 'its stream',
  change(file, history, random) {
    const index = random(history.length)
    const event = eventAt(history, index)
    const { stream } = eventAt(history, random(history.length))
    if (stream === event.stream) return undefined
    const revision = history.filter((other) => other.stream === stream).length
    file
      .prepare('update events set stream_id = ?, revision = ? where position = ?')
      .run(streamIdOf(file, stream), revision, Number(event.position))
    setHead(file, event.stream)
    setHead(file, stream)
    const before = nameAt(history, index - 1)
    return { kind: 'changed', index, event: placeName({ stream, revision }), before, was: null }
  },
}

const cut: Tampering = {
  name: 'a stream cut at its end',
  change(file, history, random) {
    const { stream } = eventAt(history, random(history.length))
    const ofStream = history.filter((event) => event.stream === stream)
    const gone = ofStream.slice(random(ofStream.length))
    for (const { position } of gone)
      file.prepare('delete from events where position = ?').run(Number(position))
    setHead(file, stream)
    const index = history.indexOf(eventAt(gone, 0))
    const isEnd = gone.length === history.length - index
    const before = nameAt(history, index - 1)
    const was = knownOf(history, index, false)
    return { kind: isEnd ? 'ends_early' : 'missing', index, event: null, before, was }
  },
}

function restoreTo(file: DatabaseSync, history: readonly RawEvent[], events: number): void {
  file.prepare('delete from events where position >= ?').run(Number(eventAt(history, events).position))
  for (const stream of new Set(history.slice(events).map((event) => event.stream))) setHead(file, stream)
}

const restored: Tampering = {
  name: 'the log restored to an older copy',
  change(file, history, random) {
    const index = random(history.length)
    restoreTo(file, history, index)
    const was = knownOf(history, index, false)
    return { kind: 'ends_early', index, event: null, before: nameAt(history, index - 1), was }
  },
}

/** New events, as many as were lost at most, in streams of before. */
const restoredAndContinued: Tampering = {
  name: 'the log restored to an older copy and continued',
  change(file, history, random) {
    const index = 1 + random(history.length - 1)
    restoreTo(file, history, index)
    const lost = history.length - index
    const heads = new Map<string, number>()
    for (const { stream } of history.slice(0, index)) heads.set(stream, (heads.get(stream) ?? -1) + 1)
    let first: string | null = null
    for (let more = 1 + random(Math.min(lost, 20)), at = 0; at < more; at += 1) {
      const model = eventAt(history, random(index))
      const revision = (heads.get(model.stream) ?? -1) + 1
      heads.set(model.stream, revision)
      file
        .prepare(
          `insert into events (position, stream_id, revision, id, type, is_json, created_ms, metadata, data)
           select ?, stream_id, ?, ?, type, is_json, created_ms, metadata, data from events where position = ?`,
        )
        .run(
          Number(eventAt(history, index).position) + at * 64,
          revision,
          randomUUID(),
          Number(model.position),
        )
      first ??= placeName({ stream: model.stream, revision })
    }
    const before = nameAt(history, index - 1)
    if (lost > 1) return { kind: 'other_log', index, event: first, before, was: null }
    const lastWas = placeName(eventAt(history, index))
    if (first === lastWas) return { kind: 'changed', index, event: first, before, was: null }
    return { kind: 'missing', index, event: null, before, was: lastWas }
  },
}

/** Every kind of tampering with the file of the event store. */
export const tamperings: readonly Tampering[] = [
  changedColumn("one byte of an event's data", 'data', ({ data }, random) => changedByte(data, random)),
  changedColumn('one digit of its id', 'id', ({ id }, random) => otherDigit(id, random)),
  changedColumn('one byte of its metadata', 'metadata', ({ metadata }, random) =>
    changedByte(metadata, random),
  ),
  otherRevision,
  otherStream,
  changedColumn('its type', 'type', ({ type }, random) => {
    const at = random(type.length)
    return `${type.slice(0, at)}${type[at] === 'x' ? 'y' : 'x'}${type.slice(at + 1)}`
  }),
  changedColumn('its kind of content', 'is_json', () => '0'),
  removed('an event removed', false),
  removed('an event removed, later ones renumbered', true),
  added('an event added at the end of its stream', false),
  added('an event added, later ones renumbered', true),
  swapped,
  swappedInStream,
  cut,
  restored,
  restoredAndContinued,
]
