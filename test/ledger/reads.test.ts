/** Reading leaves the connection as it is, that all others use too, whether or not there is anything to read. */
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningEventStore, startEventStore } from '../../infra/local/eventstore/server.ts'
import { causeOf } from '../../src/commands/services.ts'
import type { DomainEvent } from '../../src/domain/events.ts'
import { connectLedger, type Ledger } from '../../src/ledger/ledger.ts'
import { tenantStream } from '../../src/ledger/streams.ts'
import { beginning, eventsIn, origin, temporaryDirectory, uniqueId } from '../harness/ledger.ts'

// A connection of its own: what others read on it would count, too.
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

/** More cancelled reads than an HTTP/2 server takes from one connection before it ends it: 1,000, and 33 a second. */
const many = 2000
const lanes = 32

test('streams that are not there are read as often as anybody likes', async () => {
  const absent = Array.from({ length: many }, () => tenantStream(uniqueId('absent'))).values()
  const lane = async () => {
    for (const stream of absent) expect(await eventsIn(ledger, stream)).toStrictEqual([])
  }
  await Promise.all(Array.from({ length: lanes }, lane))
})

test('a reader that leaves early takes nothing from those after it', async () => {
  const stream = tenantStream(uniqueId('read'))
  await ledger.append(stream, 'no_stream', [suspended, suspended, suspended], cause)
  for (let times = 0; times < 20; times++) {
    for await (const { revision } of ledger.readStream(stream)) {
      expect(revision).toBe(0)
      break
    }
  }
  expect((await eventsIn(ledger, stream)).map(({ revision }) => revision)).toStrictEqual([0, 1, 2])
})
