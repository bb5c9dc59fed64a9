import { createHash } from 'node:crypto'
import { eventsOf } from './copy.ts'
import { isSameEvent, type RawEvent } from './event.ts'
import type { LogSource } from './log.ts'

export type LogComparison = {
  /** How many events are the same in both logs, counted from the start. */
  events: number
  streams: number
  /** SHA-256 over these events, in order. */
  digest: string
  /**
   * Streams whose events differ; empty when the logs are equal, or when only the order of their events differs.
   */
  differences: {
    stream: string
    difference: 'missing in the target' | 'only in the target' | 'not the same'
  }[]
  /** Whether both logs hold the same streams, in the same order. */
  equal: boolean
}

/**
 * Compares two logs event by event, in log order, in every field but the position. If they differ, it compares
 * a digest of each stream to find out which ones do.
 * @param most compares only this many events of the source; later ones are ignored
 * @throws LedgerUnavailable
 */
export async function compareLogs(
  source: LogSource,
  target: LogSource,
  most: number,
  onProgress: (progress: { events: number; position: bigint; head: bigint }) => void,
): Promise<LogComparison> {
  const head = (await source.head()) ?? 0n
  const digest = createHash('sha256')
  const others = eventsOf(target, undefined)
  let events = 0
  let streams = 0
  let equal = true
  for await (const event of firstOf(source, most)) {
    const { value, done } = await others.next()
    if (done || !isSameEvent(event, value)) {
      equal = false
      break
    }
    digest.update(bytesOf(event))
    events++
    if (event.revision === 0) streams++
    if (events % 500 === 0) onProgress({ events, position: event.position, head })
  }
  if (equal) equal = (await others.next()).done === true
  await others.return(undefined)
  const differences = equal ? [] : await differingStreams(source, target, most)
  return { events, streams, digest: digest.digest('hex'), differences, equal }
}

async function differingStreams(
  source: LogSource,
  target: LogSource,
  most: number,
): Promise<LogComparison['differences']> {
  const [expected, found] = await Promise.all([
    streamDigests(firstOf(source, most)),
    streamDigests(eventsOf(target, undefined)),
  ])
  const differences: LogComparison['differences'] = []
  for (const [stream, digest] of expected) {
    const other = found.get(stream)
    if (other === undefined) differences.push({ stream, difference: 'missing in the target' })
    else if (other !== digest) differences.push({ stream, difference: 'not the same' })
  }
  for (const stream of found.keys()) {
    if (!expected.has(stream)) differences.push({ stream, difference: 'only in the target' })
  }
  return differences
}

async function* firstOf(log: LogSource, most: number): AsyncIterable<RawEvent> {
  let left = most
  if (left === 0) return
  for await (const event of eventsOf(log, undefined)) {
    yield event
    if (--left === 0) return
  }
}

/** Computes a digest for each stream: the digest before an event is hashed together with that event. */
async function streamDigests(events: AsyncIterable<RawEvent>): Promise<Map<string, string>> {
  const digests = new Map<string, string>()
  for await (const event of events) {
    const before = digests.get(event.stream) ?? ''
    digests.set(event.stream, createHash('sha256').update(before).update(bytesOf(event)).digest('base64'))
  }
  return digests
}

/** Serializes an event without its position; different events have different bytes. */
function bytesOf({ id, stream, revision, type, isJson, data, metadata }: RawEvent): Buffer {
  const head = JSON.stringify([id, stream, revision, type, isJson, data.length, metadata.length])
  return Buffer.concat([Buffer.from(head), data, metadata])
}
