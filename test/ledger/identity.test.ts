/** A log has one identity, and keeps it. */
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningEventStore, startEventStore } from '../../infra/local/eventstore/server.ts'
import { causeOf } from '../../src/commands/origin.ts'
import { identityStream } from '../../src/domain/streams.ts'
import { identify } from '../../src/ledger/identity.ts'
import { connectLedger, type Ledger } from '../../src/ledger/ledger.ts'
import { checkLog, WrongLog } from '../../src/ledger/log-check.ts'
import { beginning, eventsIn, origin, temporaryDirectory } from '../harness/ledger.ts'

// A log without an identity; a shared one may have one.
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

const nothing = { ledgerId: undefined, position: -1n, event: undefined, movedAt: undefined }

test('many processes that identify a new log at once all get the same identity', async () => {
  expect(await ledger.identity()).toBeUndefined()
  await checkLog(ledger, nothing)
  const given = await Promise.all(
    Array.from({ length: 16 }, () => identify(ledger, causeOf(origin, beginning))),
  )
  expect(new Set(given)).toStrictEqual(new Set([await ledger.identity()]))
  expect(await eventsIn(ledger, identityStream)).toHaveLength(1)
})

test('an identity that cannot be read yet is waited for', async () => {
  let reads = 0
  const behind: Ledger = {
    ...ledger,
    identity: async () => (reads++ < 2 ? undefined : ledger.identity()),
  }
  expect(await identify(behind, causeOf(origin, beginning))).toBe(await ledger.identity())
})

test('the log is compared by its identity, and by the last applied event', async () => {
  const [first] = await eventsIn(ledger, identityStream)
  if (!first) throw new Error('it was just given')
  const ledgerId = await ledger.identity()
  const event = { position: first.position, id: first.id }
  const known = { ledgerId, position: first.position, event, movedAt: undefined }
  await checkLog(ledger, known)
  await checkLog(ledger, { ...known, ledgerId: undefined })

  const later = first.position + 1000n
  for (const wrong of [
    { ...known, ledgerId: '00000000-0000-4000-8000-000000000000' },
    { ...known, event: { ...event, id: '00000000-0000-4000-8000-000000000000' } },
    { ...known, event: { ...event, position: first.position - 1n } },
    { ...known, position: later, event: { ...event, position: later } },
    { ...known, position: later, event: undefined },
  ]) {
    await expect(checkLog(ledger, wrong)).rejects.toBeInstanceOf(WrongLog)
  }
})
