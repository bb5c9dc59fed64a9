/**
 * When the store stops or hangs and comes back, callers get an error in time, and then calls work again on new
 * connections. These tests stop the store's process, so it is always the embedded one.
 */
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { causeOf } from '../../src/commands/origin.ts'
import type { DomainEvent } from '../../src/domain/events.ts'
import { tenantStream } from '../../src/domain/streams.ts'
import { LedgerUnavailable } from '../../src/ledger/connection/unavailable.ts'
import { follow } from '../../src/ledger/follow.ts'
import { connectLedger, type Ledger } from '../../src/ledger/ledger.ts'
import { beginning, eventsIn, origin, temporaryDirectory, uniqueId } from '../harness/ledger.ts'
import { decimalVariable } from '../harness/variables.ts'
import { StoreProcess } from '../infra/eventstore/store-process.ts'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

const cause = causeOf(origin, beginning)
const suspended: DomainEvent = { type: 'TenantSuspended', data: { reason: null, at: beginning } }
const newStream = () => tenantStream(uniqueId('outage'))
const limits = { tryMs: 500, callMs: 1500 }
/** How long the store is down; long enough for a failed search of the cluster. */
const outageMs = decimalVariable('KEYLEDGER_TEST_OUTAGE_SECONDS', 2.5) * 1000

async function startStore(directory: string, port = 0) {
  const process_ = new StoreProcess('--directory', directory, '--port', String(port))
  undo.push(() => process_.child.kill('SIGKILL'))
  const { url } = await process_.ready()
  return { ...process_, process_, port: Number(new URL(url.replace('esdb:', 'http:')).port) }
}

async function openStore() {
  const directory = temporaryDirectory()
  undo.push(() => rmSync(directory, { recursive: true, force: true }))
  const store = await startStore(directory)
  return { directory, ...store }
}

function connected(url: string): Ledger {
  const ledger = connectLedger(url, limits)
  undo.push(() => ledger.close())
  return ledger
}

/**
 * Appends with retries while the store is down, as the callers of a server do. An attempt that was reported as
 * failed may have been written: then the stream exists, and the next attempt is refused for that.
 */
async function appendAtLast(ledger: Ledger, stream: string): Promise<void> {
  await expect
    .poll(() => ledger.append(stream, 'no_stream', [suspended], cause).catch(() => undefined))
    .toBeDefined()
}

test.each([
  ['one address', (port: number) => `esdb://127.0.0.1:${port}?tls=false`],
  [
    'two seeds, of which one is not listening',
    (port: number) => `esdb://127.0.0.1:${port},127.0.0.1:1?tls=false`,
  ],
])('after an outage appends and reads go on, over %s', async (_, addressOf) => {
  const store = await openStore()
  const ledger = connected(addressOf(store.port))
  const before = newStream()
  await ledger.append(before, 'no_stream', [suspended], cause)
  await store.process_.end('SIGKILL')
  const until = performance.now() + outageMs
  while (performance.now() < until) {
    const append = ledger.append(newStream(), 'no_stream', [suspended], cause)
    await expect(append).rejects.toBeInstanceOf(LedgerUnavailable)
    await expect(ledger.head()).rejects.toBeInstanceOf(LedgerUnavailable)
  }
  await startStore(store.directory, store.port)
  const after = newStream()
  await appendAtLast(ledger, after)
  expect(await eventsIn(ledger, before)).toHaveLength(1)
  expect(await eventsIn(ledger, after)).toHaveLength(1)
})

test('an append that waits for a restart of the store is written once', async () => {
  const store = await openStore()
  const ledger = connectLedger(`esdb://127.0.0.1:${store.port},127.0.0.1:1?tls=false`, {
    tryMs: 1000,
    callMs: 60_000,
  })
  undo.push(() => ledger.close())
  const stream = newStream()
  await ledger.append(stream, 'no_stream', [suspended], cause)
  await store.process_.end('SIGKILL')
  const appends = Array.from({ length: 20 }, () =>
    ledger.append(newStream(), 'no_stream', [suspended], cause),
  )
  const next = ledger.append(stream, 0, [suspended], cause)
  await sleep(outageMs)
  await startStore(store.directory, store.port)
  expect(await next).toMatchObject({ appended: true, revision: 1 })
  for (const append of appends) expect(await append).toMatchObject({ appended: true, revision: 0 })
  expect(await eventsIn(ledger, stream)).toHaveLength(2)
})

test('a hanging store causes an error in time, and followers continue afterwards', async () => {
  const store = await openStore()
  const ledger = connected(
    `esdb://127.0.0.1:${store.port}?tls=false&keepAliveInterval=300&keepAliveTimeout=300`,
  )
  const first = newStream()
  await ledger.append(first, 'no_stream', [suspended], cause)
  const stop = new AbortController()
  const seen: string[] = []
  const breaks: unknown[] = []
  const following = (async () => {
    const entries = follow(ledger, undefined, stop.signal, (error) => breaks.push(error))
    for await (const entry of entries) seen.push(entry.stream)
  })()
  await expect.poll(() => seen).toStrictEqual([first])

  store.child.kill('SIGSTOP')
  const frozen = newStream()
  const calls = [
    ledger.append(frozen, 'no_stream', [suspended], cause),
    ledger.head(),
    ledger.readPage(undefined, 10),
    eventsIn(ledger, first),
  ]
  const outcomes = await Promise.allSettled<unknown>(calls)
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(LedgerUnavailable) as unknown })
  }
  await expect.poll(() => breaks.length).toBeGreaterThan(0)

  store.child.kill('SIGCONT')
  const after = newStream()
  await appendAtLast(ledger, after)
  await expect.poll(() => seen).toContain(after)
  // Appends sent to the hanging store may have been written, at most once.
  expect((await eventsIn(ledger, frozen)).length).toBeLessThanOrEqual(1)
  expect(new Set(seen).size).toBe(seen.length)
  stop.abort()
  await following
})
