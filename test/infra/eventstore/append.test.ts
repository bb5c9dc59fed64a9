// An append is written completely, once, and only at the revision that its writer expected.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectHttp2, constants } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import {
  ANY,
  type AppendExpectedRevision,
  type AppendResult,
  binaryEvent,
  DeadlineExceededError,
  type JSONEventData,
  MaxAppendSizeExceededError,
  NO_STREAM,
  STREAM_EXISTS,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect, connect, isEmbedded, numbered, numberedUpTo, uniqueStream } from './event-store.ts'

const { client, url } = await connect()

/** For calls below the client. */
const origin = new URL(url.replace(/^esdb:\/\/([^?/]+).*$/, 'http://$1'))
const grpcCall = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' }

/** With its own credentials, a call uses the classic `Append`, otherwise `BatchAppend`. */
const kinds = [
  { name: 'BatchAppend', options: {} },
  { name: 'Append', options: { credentials: { username: 'admin', password: 'changeit' } } },
]

async function refusal(append: Promise<AppendResult>): Promise<unknown> {
  return append.then(
    () => 'appended',
    (error: unknown) => {
      if (!(error instanceof WrongExpectedVersionError)) return error
      const { streamName, expectedVersion, actualVersion } = error
      return { streamName, expectedVersion, actualVersion }
    },
  )
}

async function idsIn(stream: string): Promise<(string | undefined)[]> {
  return (await collect(client.readStream(stream))).map(({ event }) => event?.id)
}

describe.each(kinds)('$name', ({ options }) => {
  const append = (
    stream: string,
    events: JSONEventData[],
    expectedRevision: AppendExpectedRevision,
  ): Promise<AppendResult> => client.appendToStream(stream, events, { ...options, expectedRevision })

  test('numbers events from zero and returns the revision and position of the last', async () => {
    const stream = uniqueStream()
    const first = await append(stream, numberedUpTo(3), NO_STREAM)
    const second = await append(stream, [numbered(3)], 2n)
    const events = await collect(client.readStream(stream))
    expect(events.map(({ event }) => event?.revision)).toStrictEqual([0n, 1n, 2n, 3n])
    expect([first, second]).toStrictEqual([
      { success: true, nextExpectedRevision: 2n, position: events[2]?.event?.position },
      { success: true, nextExpectedRevision: 3n, position: events[3]?.event?.position },
    ])
  })

  test('any and stream_exists accept an existing stream', async () => {
    const stream = uniqueStream()
    await append(stream, [numbered(0)], ANY)
    await append(stream, [numbered(1)], STREAM_EXISTS)
    expect((await append(stream, [numbered(2)], ANY)).nextExpectedRevision).toBe(2n)
  })

  test('a wrong expectation is refused with both versions', async () => {
    const stream = uniqueStream()
    expect(await refusal(append(stream, [numbered(0)], 5n))).toStrictEqual({
      streamName: stream,
      expectedVersion: 5n,
      actualVersion: 'no_stream',
    })
    expect(await refusal(append(stream, [numbered(0)], STREAM_EXISTS))).toStrictEqual({
      streamName: stream,
      expectedVersion: 'stream_exists',
      actualVersion: 'no_stream',
    })
    await append(stream, numberedUpTo(2), NO_STREAM)
    expect(await refusal(append(stream, [numbered(0)], NO_STREAM))).toStrictEqual({
      streamName: stream,
      expectedVersion: 'no_stream',
      actualVersion: 1n,
    })
    expect(await refusal(append(stream, [numbered(0)], 0n))).toStrictEqual({
      streamName: stream,
      expectedVersion: 0n,
      actualVersion: 1n,
    })
    expect(await idsIn(stream)).toHaveLength(2)
  })

  test('the same events at the same revisions get the first answer', async () => {
    const stream = uniqueStream()
    const [opening, more] = [numberedUpTo(2), numberedUpTo(2)]
    const first = await append(stream, opening, NO_STREAM)
    const second = await append(stream, more, 1n)
    await append(stream, [numbered(9)], 3n)
    expect(await append(stream, opening, NO_STREAM)).toStrictEqual(first)
    expect(await append(stream, more, 1n)).toStrictEqual(second)
    expect(await idsIn(stream)).toHaveLength(5)
  })

  test('events that only partly match the stored ones are refused', async () => {
    const stream = uniqueStream()
    const events = numberedUpTo(2)
    await append(stream, events, NO_STREAM)
    const wrong = { streamName: stream, expectedVersion: 'no_stream', actualVersion: 1n }
    expect(await refusal(append(stream, [...events, numbered(2)], NO_STREAM))).toStrictEqual(wrong)
    expect(await refusal(append(stream, [...events.slice(0, 1), numbered(1)], NO_STREAM))).toStrictEqual(
      wrong,
    )
    expect(await refusal(append(stream, events.slice(1), NO_STREAM))).toStrictEqual(wrong)
    expect(await idsIn(stream)).toStrictEqual(events.map(({ id }) => id))
  })

  test('an append over 1 MiB is refused and writes nothing', async () => {
    const stream = uniqueStream()
    const half = { type: 'Big', data: new Uint8Array(600 * 1024) }
    const append = client.appendToStream(stream, [binaryEvent(half), binaryEvent(half)], options)
    const error = await append.catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(MaxAppendSizeExceededError)
    expect(error).toMatchObject({ maxAppendSize: 1024 * 1024 })
    await expect(idsIn(stream)).rejects.toMatchObject({ type: 'stream-not-found' })
  })
})

test('an append in several parts is one append', async () => {
  const stream = uniqueStream()
  const events = numberedUpTo(50)
  const result = await client.appendToStream(stream, events, {
    expectedRevision: NO_STREAM,
    batchAppendSize: 300,
  })
  expect(result.nextExpectedRevision).toBe(49n)
  expect(await idsIn(stream)).toStrictEqual(events.map(({ id }) => id))
})

test('an append in several parts that is refused is answered once', async () => {
  const big = Array.from({ length: 5 }, () => binaryEvent({ type: 'Big', data: new Uint8Array(400 * 1024) }))
  const append = client.appendToStream(uniqueStream(), big, { batchAppendSize: 300 * 1024 })
  await expect(append).rejects.toBeInstanceOf(MaxAppendSizeExceededError)
  await expect(client.appendToStream(uniqueStream(), [numbered(0)])).resolves.toMatchObject({ success: true })
})

test('one of many writers at the same revision wins', async () => {
  const stream = uniqueStream()
  const appends = Array.from({ length: 20 }, (_, n) =>
    client.appendToStream(stream, [numbered(n), numbered(n)], { expectedRevision: NO_STREAM }),
  )
  const outcomes = await Promise.allSettled(appends)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await idsIn(stream)).toHaveLength(2)
})

test.runIf(isEmbedded)(
  'a repeated append at any revision is recognized while its ids are remembered',
  async () => {
    const stream = uniqueStream()
    const event = numbered(0)
    const first = await client.appendToStream(stream, event)
    expect(await client.appendToStream(stream, event)).toStrictEqual(first)
    expect(await client.appendToStream(stream, event, { expectedRevision: STREAM_EXISTS })).toStrictEqual(
      first,
    )
  },
)

test('any sequence of appends and retries behaves like a list of ids', async () => {
  const attempt = fc.record({
    expected: fc.integer({ min: -1, max: 6 }),
    ids: fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 3 }),
  })
  const law = fc.asyncProperty(fc.array(attempt, { maxLength: 12 }), async (attempts) => {
    const stream = uniqueStream()
    const ids = Array.from({ length: 8 }, () => randomUUID())
    const model: string[] = []
    for (const { expected, ids: chosen } of attempts) {
      const events = chosen.map((index) => ({ ...numbered(index), id: ids[index] ?? '' }))
      const proposed = events.map(({ id }) => id)
      const there = model.slice(expected + 1, expected + 1 + proposed.length)
      const repeated = expected < model.length - 1 && there.join() === proposed.join()
      const fits = expected === model.length - 1
      if (fits) model.push(...proposed)

      const expectedRevision = expected === -1 ? NO_STREAM : BigInt(expected)
      const outcome = client.appendToStream(stream, events, { expectedRevision })
      if (fits || repeated) {
        await expect(outcome).resolves.toMatchObject({
          nextExpectedRevision: BigInt(expected + proposed.length),
        })
      } else {
        await expect(outcome).rejects.toBeInstanceOf(WrongExpectedVersionError)
      }
    }
    if (model.length > 0) expect(await idsIn(stream)).toStrictEqual(model)
  })
  await fc.assert(law, { numRuns: 60 })
})

test('an append whose deadline has passed is refused for that reason, however large it is', async () => {
  const stream = uniqueStream()
  const big = binaryEvent({ type: 'Big', data: new Uint8Array(1024 * 1024) })
  for (const batchAppendSize of [300 * 1024, 4 * 1024 * 1024]) {
    const append = client.appendToStream(stream, [big, big], { deadline: -5000, batchAppendSize })
    await expect(append).rejects.toBeInstanceOf(DeadlineExceededError)
  }
  await expect(client.appendToStream(stream, [numbered(0)])).resolves.toMatchObject({ success: true })
})

/** Frames a message as gRPC does. */
function framed(message: streams.AppendReq): Buffer {
  const bytes = message.serializeBinary()
  const head = Buffer.alloc(5)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

function partsOf(stream: string, events: number): streams.AppendReq[] {
  const name = new shared.StreamIdentifier().setStreamName(Buffer.from(stream))
  const options = new streams.AppendReq.Options().setStreamIdentifier(name).setNoStream(new shared.Empty())
  const proposals = Array.from({ length: events }, () => {
    const proposed = new streams.AppendReq.ProposedMessage()
    proposed.setId(new shared.UUID().setString(randomUUID())).setData(Buffer.from('{}'))
    proposed.getMetadataMap().set('type', 'Numbered').set('content-type', 'application/json')
    return new streams.AppendReq().setProposedMessage(proposed)
  })
  return [new streams.AppendReq().setOptions(options), ...proposals]
}

/** Cancels a call as a client does. Node's own `close` would first mark the call as complete. */
function resetFrame(streamId: number): Buffer {
  const rstStream = 3
  const frame = Buffer.alloc(13)
  frame.writeUIntBE(4, 0, 3)
  frame.writeUInt8(rstStream, 3)
  frame.writeUInt32BE(streamId, 5)
  frame.writeUInt32BE(constants.NGHTTP2_CANCEL, 9)
  return frame
}

// Over a connection without TLS, which a real store may not accept.
test.runIf(isEmbedded)(
  'a client may send two megabytes of appends before the first is processed',
  async () => {
    const session = connectHttp2(origin)
    const granted = new Promise<unknown>((resolve) => {
      session.on('remoteSettings', ({ initialWindowSize }) => {
        // Skips the update at the start of each connection; see RFC 9113, 6.9.2.
        if (initialWindowSize !== 65_535) resolve(initialWindowSize)
      })
    })
    const call = session.request({ ...grpcCall, ':path': '/event_store.client.streams.Streams/BatchAppend' })
    expect(await granted).toBe(2 * 1024 * 1024)
    call.end()
    call.resume()
    await once(call, 'close')
    session.close()
  },
)

test.runIf(isEmbedded)('an append whose connection breaks before its end writes nothing', async () => {
  const stream = uniqueStream()
  for (let rounds = 0; rounds < 20; rounds++) {
    const socket = connectTcp(Number(origin.port), origin.hostname)
    const session = connectHttp2(origin, { createConnection: () => socket })
    const call = session.request({ ...grpcCall, ':path': '/event_store.client.streams.Streams/Append' })
    call.on('error', () => undefined)
    for (const part of partsOf(stream, 1 + (rounds % 3))) {
      await new Promise((resolve) => call.write(framed(part), resolve))
      // The store has received it once it has answered another call.
      await client.appendToStream(uniqueStream(), [numbered(0)])
    }
    if (rounds % 2 === 1) {
      socket.write(resetFrame(call.id ?? 0))
      await client.appendToStream(uniqueStream(), [numbered(0)])
    }
    session.destroy()
    if (!session.destroyed) await once(session, 'close')
    await client.appendToStream(uniqueStream(), [numbered(0)])
  }
  await expect(idsIn(stream)).rejects.toThrow(StreamNotFoundError)
})
