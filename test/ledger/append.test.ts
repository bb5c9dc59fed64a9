/**
 * An append happens at exactly the revision that it was decided on, and at most once, whatever the network
 * does. The store is behind a proxy here, which loses answers and drops requests.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { causeOf } from '../../src/commands/origin.ts'
import type { DomainEvent } from '../../src/domain/events.ts'
import { tenantStream } from '../../src/domain/streams.ts'
import { LedgerUnavailable } from '../../src/ledger/connection/unavailable.ts'
import { connectLedger, type Ledger, type LedgerLimits } from '../../src/ledger/ledger.ts'
import { openTestEventStore } from '../harness/event-store.ts'
import { beginning, eventsIn, origin, uniqueId } from '../harness/ledger.ts'
import { startTcpProxy, type TcpProxy } from '../harness/tcp-proxy.ts'

const undo: (() => unknown)[] = []
let proxy: TcpProxy
let ledger: Ledger
beforeAll(async () => {
  proxy = await startTcpProxy(await storePort())
  undo.push(() => proxy.close())
  ledger = connected({ tryMs: 400, callMs: 60_000 })
})
afterAll(async () => {
  for (const step of undo.reverse()) await step()
})
afterEach(() => {
  proxy.mode = 'pass'
})

function connected(limits: LedgerLimits): Ledger {
  const connection = connectLedger(`esdb://127.0.0.1:${proxy.port}?tls=false`, limits)
  undo.push(() => connection.close())
  return connection
}

async function storePort(): Promise<number> {
  const { url, stop } = await openTestEventStore(0)
  undo.push(stop)
  return Number(/:(\d+)/.exec(url)?.[1] ?? 2113)
}

const cause = causeOf(origin, beginning)
const suspended: DomainEvent = { type: 'TenantSuspended', data: { reason: null, at: beginning } }
const reinstated: DomainEvent = { type: 'TenantReinstated', data: { at: beginning } }
const newStream = () => tenantStream(uniqueId('append'))
const types = async (stream: string) =>
  (await eventsIn(ledger, stream)).map((entry) => (entry.readable ? entry.event.type : 'unreadable'))

describe('an append', () => {
  test('at the right revision writes all its events, in order, with their cause', async () => {
    const stream = newStream()
    const first = await ledger.append(stream, 'no_stream', [suspended, reinstated], cause)
    expect(first).toStrictEqual({ appended: true, revision: 1, position: expect.any(BigInt) as bigint })
    const second = await ledger.append(stream, 1, [suspended], cause)
    expect(second).toStrictEqual({ appended: true, revision: 2, position: expect.any(BigInt) as bigint })
    const entries = await eventsIn(ledger, stream)
    const metadata = {
      requestId: 'req_test',
      actor: 'system:test',
      causationId: 'req_test',
      correlationId: 'req_test',
      schema: 1,
      salt: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      at: beginning,
    }
    const recorded = {
      readable: true,
      stream,
      category: 'tenant',
      metadata,
      id: expect.any(String) as string,
    }
    expect(entries).toStrictEqual([
      { ...recorded, revision: 0, position: expect.any(BigInt) as bigint, event: suspended },
      { ...recorded, revision: 1, position: expect.any(BigInt) as bigint, event: reinstated },
      { ...recorded, revision: 2, position: second.appended ? second.position : -1n, event: suspended },
    ])
    expect(new Set(entries.map((entry) => (entry.readable ? entry.id : ''))).size).toBe(3)
  })

  test.each([
    ['a stream that should be new', 'no_stream'],
    ['a revision that has passed', 0],
    ['a revision that is yet to come', 5],
  ] as const)('at %s, when that is not how it is, writes nothing', async (_, expected) => {
    const stream = newStream()
    await ledger.append(stream, 'no_stream', [suspended, reinstated], cause)
    expect(await ledger.append(stream, expected, [suspended], cause)).toStrictEqual({ appended: false })
    expect(await types(stream)).toStrictEqual(['TenantSuspended', 'TenantReinstated'])
  })

  test('at a revision of a missing stream writes nothing', async () => {
    const stream = newStream()
    expect(await ledger.append(stream, 0, [suspended], cause)).toStrictEqual({ appended: false })
    expect(await types(stream)).toStrictEqual([])
  })

  test('wins once among many at the same revision', async () => {
    const stream = newStream()
    const racers = Array.from({ length: 20 }, () => ledger.append(stream, 'no_stream', [suspended], cause))
    const won = (await Promise.all(racers)).filter(({ appended }) => appended)
    expect(won).toHaveLength(1)
    expect(await types(stream)).toStrictEqual(['TenantSuspended'])
  })
})

describe('a network failure', () => {
  test('after the store has written: the retry gets the first answer, and nothing is duplicated', async () => {
    const stream = newStream()
    await ledger.append(stream, 'no_stream', [suspended], cause)
    proxy.mode = 'deaf'
    const append = ledger.append(stream, 0, [reinstated, suspended], cause)
    // The first answer is lost; the retry gets through on a new connection.
    setTimeout(() => {
      proxy.mode = 'pass'
      proxy.cut()
    }, 200)
    expect(await append).toStrictEqual({
      appended: true,
      revision: 2,
      position: expect.any(BigInt) as bigint,
    })
    expect(await types(stream)).toStrictEqual(['TenantSuspended', 'TenantReinstated', 'TenantSuspended'])
  })

  test('during many appends: each is written exactly once', async () => {
    const streams = Array.from({ length: 30 }, newStream)
    const appends = streams.map((stream) => ledger.append(stream, 'no_stream', [suspended], cause))
    proxy.cut()
    const outcomes = await Promise.all(appends)
    expect(outcomes.filter(({ appended }) => !appended)).toStrictEqual([])
    for (const stream of streams) expect(await types(stream)).toStrictEqual(['TenantSuspended'])
  })

  test('for longer than the time limit is reported as unavailable, and then appends work again', async () => {
    const stream = newStream()
    await ledger.append(stream, 'no_stream', [suspended], cause)
    const impatient = connected({ tryMs: 200, callMs: 600 })
    proxy.mode = 'mute'
    await expect(impatient.append(stream, 0, [reinstated], cause)).rejects.toBeInstanceOf(LedgerUnavailable)
    proxy.mode = 'pass'
    proxy.cut()
    expect(await ledger.append(newStream(), 'no_stream', [suspended], cause)).toMatchObject({
      appended: true,
    })
    expect((await types(stream)).length).toBeLessThanOrEqual(2)
  })
})
