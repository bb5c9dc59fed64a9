// A deleted stream cannot be read. A soft-deleted one can be written to again, a tombstoned one never.
import {
  ANY,
  BACKWARDS,
  END,
  NO_STREAM,
  STREAM_EXISTS,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import { describe, expect, test } from 'vitest'
import { collect, connect, numbered, numberedUpTo, uniqueStream } from './event-store.ts'

const { client } = await connect()

async function streamOf(count: number): Promise<string> {
  const stream = uniqueStream()
  await client.appendToStream(stream, numberedUpTo(count), { expectedRevision: NO_STREAM })
  return stream
}

async function revisions(stream: string): Promise<number[]> {
  return (await collect(client.readStream(stream))).map(({ event }) => Number(event?.revision))
}

describe('soft delete', () => {
  test('hides the stream, and a later append continues the old numbering', async () => {
    const stream = await streamOf(3)
    const { position } = await client.deleteStream(stream, { expectedRevision: 2n })
    expect(position?.commit).toBeGreaterThan(0n)
    await expect(revisions(stream)).rejects.toBeInstanceOf(StreamNotFoundError)

    const { nextExpectedRevision } = await client.appendToStream(stream, [numbered(3), numbered(4)], {
      expectedRevision: NO_STREAM,
    })
    expect(nextExpectedRevision).toBe(4n)
    expect(await revisions(stream)).toStrictEqual([3, 4])
  })

  test('also continues at the last revision, and recognizes repeated appends', async () => {
    const stream = await streamOf(2)
    await client.deleteStream(stream)
    const event = numbered(2)
    const first = await client.appendToStream(stream, event, { expectedRevision: 1n })
    expect(await client.appendToStream(stream, event, { expectedRevision: 1n })).toStrictEqual(first)
    expect(await revisions(stream)).toStrictEqual([2])
  })

  test('a deleted stream does not exist', async () => {
    const stream = await streamOf(1)
    await client.deleteStream(stream)
    const append = client.appendToStream(stream, numbered(1), { expectedRevision: STREAM_EXISTS })
    await expect(append).rejects.toBeInstanceOf(StreamDeletedError)
  })

  test('leaves the events in $all', async () => {
    const stream = uniqueStream()
    const { position } = await client.appendToStream(stream, numbered(0))
    await client.deleteStream(stream)
    if (!position) throw new Error('the append answered without a position')
    const [event] = await collect(client.readAll({ fromPosition: position, maxCount: 1 }))
    expect(event?.event).toMatchObject({ streamId: stream, revision: 0n })
  })

  test('at a wrong revision is refused with both versions', async () => {
    const stream = await streamOf(2)
    const error = await client
      .deleteStream(stream, { expectedRevision: 7n })
      .catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(WrongExpectedVersionError)
    expect(error).toMatchObject({ streamName: stream, expectedVersion: 7n, actualVersion: 1n })
    expect(await revisions(stream)).toStrictEqual([0, 1])
  })
})

test('a stream that never existed can be tombstoned but not deleted, whatever is expected', async () => {
  const stream = uniqueStream()
  for (const [expectedRevision, expected] of [
    [ANY, -2n],
    [NO_STREAM, -1n],
    [0n, 0n],
  ] as const) {
    const error = await client.deleteStream(stream, { expectedRevision }).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(WrongExpectedVersionError)
    expect(error).toMatchObject({ streamName: stream, expectedVersion: expected })
    expect(String(error)).toContain('Delete failed due to WrongExpectedVersion')
  }
  await client.appendToStream(stream, numbered(0), { expectedRevision: NO_STREAM })
  expect(await revisions(stream)).toStrictEqual([0])
  await client.tombstoneStream(uniqueStream(), { expectedRevision: ANY })
})

describe('tombstone', () => {
  test('is final for reads, appends and deletes', async () => {
    const stream = await streamOf(2)
    await client.tombstoneStream(stream, { expectedRevision: 1n })
    const deleted = { type: 'stream-deleted', streamName: stream }
    await expect(revisions(stream)).rejects.toMatchObject(deleted)
    await expect(client.appendToStream(stream, numbered(2))).rejects.toMatchObject(deleted)
    const credentials = { username: 'admin', password: 'changeit' }
    await expect(client.appendToStream(stream, numbered(2), { credentials })).rejects.toMatchObject(deleted)
    await expect(client.deleteStream(stream)).rejects.toMatchObject(deleted)
    await expect(client.tombstoneStream(stream)).rejects.toMatchObject(deleted)
    await expect(client.setStreamMetadata(stream, { maxCount: 1 })).rejects.toBeInstanceOf(StreamDeletedError)
  })

  test('ends the metadata of the stream, too', async () => {
    const stream = await streamOf(1)
    await client.setStreamMetadata(stream, { maxCount: 7 })
    await client.tombstoneStream(stream)
    const deleted = { type: 'stream-deleted', streamName: `$$${stream}` }
    await expect(revisions(`$$${stream}`)).rejects.toMatchObject(deleted)
    await expect(client.getStreamMetadata(stream)).rejects.toBeInstanceOf(StreamDeletedError)
    await expect(collect(client.subscribeToStream(`$$${stream}`))).rejects.toBeInstanceOf(StreamDeletedError)
    const bare = uniqueStream()
    await client.tombstoneStream(bare)
    await expect(revisions(`$$${bare}`)).rejects.toBeInstanceOf(StreamDeletedError)
  })

  test('is in $all with the largest revision', async () => {
    const stream = await streamOf(1)
    const { position } = await client.tombstoneStream(stream)
    if (!position) throw new Error('the tombstone has no position')
    const [event] = await collect(client.readAll({ fromPosition: position, maxCount: 1 }))
    expect(event?.event).toMatchObject({ streamId: stream, type: '$streamDeleted', revision: 2n ** 63n - 1n })
  })

  test('at a wrong revision is refused', async () => {
    const stream = await streamOf(1)
    const tombstone = client.tombstoneStream(stream, { expectedRevision: NO_STREAM })
    await expect(tombstone).rejects.toBeInstanceOf(WrongExpectedVersionError)
  })

  test('of a stream with a non-ASCII name is final, and reported as an unknown error', async () => {
    const stream = uniqueStream('größe')
    await client.appendToStream(stream, numbered(0))
    await client.tombstoneStream(stream)
    const unknown = { type: 'unknown', message: '2 UNKNOWN: Received HTTP status code 500' }
    await expect(revisions(stream)).rejects.toMatchObject(unknown)
  })
})

describe('stream metadata', () => {
  test('is read as it was set', async () => {
    const stream = await streamOf(1)
    await client.setStreamMetadata(stream, { maxCount: 7, owner: 'keyledger' })
    await client.setStreamMetadata(stream, { maxCount: 8, owner: 'keyledger' })
    const { metadata } = await client.getStreamMetadata(stream)
    expect(metadata).toStrictEqual({ maxCount: 8, owner: 'keyledger' })
  })

  test('truncateBefore and maxCount hide the events before', async () => {
    const stream = await streamOf(10)
    await client.setStreamMetadata(stream, { truncateBefore: 4 })
    expect(await revisions(stream)).toStrictEqual([4, 5, 6, 7, 8, 9])
    await client.setStreamMetadata(stream, { truncateBefore: 4, maxCount: 2 })
    expect(await revisions(stream)).toStrictEqual([8, 9])
    const backwards = await collect(client.readStream(stream, { direction: BACKWARDS, fromRevision: END }))
    expect(backwards.map(({ event }) => event?.revision)).toStrictEqual([9n, 8n])
    await client.setStreamMetadata(stream, {})
    expect(await revisions(stream)).toHaveLength(10)
  })

  test('maxAge hides events that are too old', async () => {
    const stream = await streamOf(2)
    await client.setStreamMetadata(stream, { maxAge: 3_600 })
    expect(await revisions(stream)).toHaveLength(2)
    await client.setStreamMetadata(stream, { maxAge: 1 })
    await expect.poll(() => revisions(stream)).toStrictEqual([])
  })

  test('set on a soft-deleted stream leaves the old events hidden', async () => {
    const stream = await streamOf(3)
    await client.deleteStream(stream)
    await client.setStreamMetadata(stream, { owner: 'keyledger' })
    await client.appendToStream(stream, numbered(3))
    expect(await revisions(stream)).toStrictEqual([3])
  })
})
