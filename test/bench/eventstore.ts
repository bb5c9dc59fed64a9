import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { type EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import { openEventStore } from '../../infra/local/eventstore/engine/event-store.ts'
import type { ProposedEvent } from '../../infra/local/eventstore/storage/event.ts'
import { clientOf } from '../../src/ledger/connection/client.ts'

export interface EventStoreFigures {
  /** From the start of the process with 1,000,000 events to the first event read. */
  openMs: number
  /** Events per second through the client: the lower rate of reading `$all` and of reading one stream. */
  readPerSecond: number
  /** Appends of one event per second through the client, 64 at a time, each at an exact revision. */
  appendPerSecond: number
}

const EVENTS = 1_000_000
const LONG_STREAM = 'license-long'
const LONG_STREAM_EVENTS = 200_000
const APPENDERS = 64
const APPENDS = 20_000

const entry = join(import.meta.dirname, '../../infra/local/eventstore/main.ts')

export async function benchEventStore(log: (line: string) => void): Promise<EventStoreFigures> {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-bench-'))
  let store: ChildProcessByStdio<null, Readable, null> | undefined
  try {
    log(`filling the event store with ${EVENTS} events`)
    await fill(directory)

    const start = performance.now()
    store = spawn(process.execPath, [entry, '--directory', directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const client = clientOf(await readyUrl(store.stdout))
    await count(client.readStream(LONG_STREAM, { maxCount: 1 }))
    const openMs = performance.now() - start
    log(`open: ${openMs.toFixed()} ms`)

    const all = await rate(() => count(client.readAll({ maxCount: 200_000 })))
    log(`read of $all: ${all.toFixed()} events/s`)
    const stream = await rate(() => count(client.readStream(LONG_STREAM)))
    log(`read of one stream: ${stream.toFixed()} events/s`)
    const small = await rate(() => readTail(client, 1_000))
    log(`reads of a few events, one after the other: ${small.toFixed()} reads/s`)
    const appendPerSecond = await rate(() => appendConcurrently(client))
    log(`appends, ${APPENDERS} at a time: ${appendPerSecond.toFixed()} appends/s`)

    await client.dispose()
    return { openMs, readPerSecond: Math.min(all, stream), appendPerSecond }
  } finally {
    if (store?.kill('SIGTERM')) await once(store, 'exit')
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Writes directly through the store's engine, because filling is not measured. */
async function fill(directory: string): Promise<void> {
  const store = await openEventStore(directory)
  try {
    for (let written = 0; written < LONG_STREAM_EVENTS; written += 1_000) {
      await store.append(LONG_STREAM, written - 1, proposals(1_000))
    }
    const perStream = 10
    for (let written = LONG_STREAM_EVENTS; written < EVENTS; written += 100 * perStream) {
      const names = Array.from({ length: 100 }, (_, index) => `license-${written + index * perStream}`)
      await Promise.all(names.map((name) => store.append(name, 'no_stream', proposals(perStream))))
    }
  } finally {
    store.close()
  }
}

function proposals(count: number): ProposedEvent[] {
  return Array.from({ length: count }, () => ({
    id: randomUUID(),
    type: 'DeviceActivated',
    isJson: true,
    metadata: Buffer.from(JSON.stringify({ requestId: randomUUID(), actor: 'token:bench', schema: 1 })),
    data: Buffer.from(JSON.stringify({ deviceId: randomUUID(), at: new Date().toISOString() })),
  }))
}

/** Waits until the process of a store listens. */
export async function readyUrl(output: Readable): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const message: unknown = JSON.parse(line)
    if (typeof message === 'object' && message && 'url' in message) return String(message.url)
  }
  throw new Error('the event store ended before it was ready')
}

async function count(events: AsyncIterable<unknown>): Promise<number> {
  let counted = 0
  for await (const _ of events) counted += 1
  return counted
}

async function rate(work: () => Promise<number>): Promise<number> {
  const start = performance.now()
  const done = await work()
  return (done * 1_000) / (performance.now() - start)
}

async function readTail(client: EventStoreDBClient, reads: number): Promise<number> {
  for (let read = 0; read < reads; read += 1) {
    await count(client.readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 3 }))
  }
  return reads
}

async function appendConcurrently(client: EventStoreDBClient): Promise<number> {
  const perAppender = Math.floor(APPENDS / APPENDERS)
  const appender = async (): Promise<void> => {
    const stream = `license-${randomUUID()}`
    for (let revision = 0; revision < perAppender; revision += 1) {
      const event = jsonEvent({
        type: 'DeviceActivated',
        data: { deviceId: randomUUID() },
        metadata: { schema: 1 },
      })
      const expectedRevision = revision === 0 ? 'no_stream' : BigInt(revision - 1)
      await client.appendToStream(stream, event, { expectedRevision })
    }
  }
  await Promise.all(Array.from({ length: APPENDERS }, appender))
  return perAppender * APPENDERS
}
