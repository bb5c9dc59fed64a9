/** Reads never end the shared connection, whether or not there is anything to read. */
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningEventStore, startEventStore } from '../../infra/local/eventstore/server.ts'
import { causeOf } from '../../src/commands/origin.ts'
import type { DomainEvent } from '../../src/domain/events.ts'
import type { LogEntry } from '../../src/domain/recorded.ts'
import { tenantStream } from '../../src/domain/streams.ts'
import { connectLedger, type Ledger } from '../../src/ledger/ledger.ts'
import { beginning, eventsIn, origin, temporaryDirectory, uniqueId } from '../harness/ledger.ts'

// A separate connection, because other reads would count, too.
const directory = temporaryDirectory()
let store: RunningEventStore
let ledger: Ledger
beforeAll(async () => {
  store = await startEventStore({ directory })
  ledger = connectLedger(store.url)
})
afterAll(async () => {
  await ledger.close()
  await store.close()
  rmSync(directory, { recursive: true, force: true })
})

const cause = causeOf(origin, beginning)
const suspended: DomainEvent = { type: 'TenantSuspended', data: { reason: null, at: beginning } }

/** More cancelled reads than an HTTP/2 server accepts before it closes a connection: 1,000, and 33 a second. */
const many = 2000
const lanes = 32

test('missing streams can be read any number of times', async () => {
  const absent = Array.from({ length: many }, () => tenantStream(uniqueId('absent'))).values()
  const lane = async () => {
    for (const stream of absent) expect(await eventsIn(ledger, stream)).toStrictEqual([])
  }
  await Promise.all(Array.from({ length: lanes }, lane))
})

test('readers can stop early any number of times', async () => {
  const stream = tenantStream(uniqueId('left'))
  await ledger.append(stream, 'no_stream', [suspended, suspended, suspended], cause)
  const times = Array.from({ length: many }).values()
  const lane = async () => {
    for (const _ of times) {
      for await (const { revision } of ledger.readStream(stream)) {
        expect(revision).toBe(0)
        break
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  expect(revisions(await eventsIn(ledger, stream))).toStrictEqual([0, 1, 2])
})

test.each([0, 1, 199, 200, 201, 400, 401])(
  'a stream of %i events is read completely, and so are its first ones',
  async (length) => {
    const stream = tenantStream(uniqueId('long'))
    const events = Array.from({ length }, () => suspended)
    if (length > 0) await ledger.append(stream, 'no_stream', events, cause)
    const all = [...events.keys()]
    expect(revisions(await eventsIn(ledger, stream))).toStrictEqual(all)
    for (const most of [1, 200, 201]) {
      const first: number[] = []
      for await (const { revision } of ledger.readStream(stream, most)) first.push(revision)
      expect(first).toStrictEqual(all.slice(0, most))
    }
  },
)

const revisions = (entries: readonly LogEntry[]) => entries.map(({ revision }) => revision)
