/**
 * When the store does not answer in time and its clock differs from this machine's, the error, the command line
 * and the HTTP answer report the difference. The store is behind a server with a wrong clock here.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { failureOf } from '../../src/app/exit.ts'
import { causeOf } from '../../src/commands/origin.ts'
import type { DomainEvent } from '../../src/domain/events.ts'
import { tenantStream } from '../../src/domain/streams.ts'
import { problemOf } from '../../src/http/errors.ts'
import { LedgerUnavailable } from '../../src/ledger/connection/unavailable.ts'
import { connectLedger, type Ledger } from '../../src/ledger/ledger.ts'
import { openTestEventStore } from '../harness/event-store.ts'
import { beginning, origin, uniqueId } from '../harness/ledger.ts'
import { startTcpProxy, type TcpProxy } from '../harness/tcp-proxy.ts'
import { waitMs } from '../harness/time-limits.ts'

const undo: (() => unknown)[] = []
let proxy: TcpProxy
let ahead = 0
/** Answers HTTP/1 requests with its time, and forwards everything else to the store. */
const front = createServer((client) => {
  client.on('error', () => undefined)
  client.once('data', (first) => {
    if (first.toString('latin1', 0, 4) === 'GET ') {
      const date = new Date(Date.now() + ahead).toUTCString()
      client.end(`HTTP/1.1 200 OK\r\ndate: ${date}\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const store = connect(proxy.port, '127.0.0.1')
    store.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.on('close', () => store.destroy())
    store.write(first)
    client.pipe(store).pipe(client)
  })
})
beforeAll(async () => {
  const { url, stop } = await openTestEventStore(0)
  undo.push(stop)
  proxy = await startTcpProxy(Number(/:(\d+)/.exec(url)?.[1] ?? 2113))
  undo.push(() => proxy.close())
  await once(front.listen(0, '127.0.0.1'), 'listening')
  undo.push(() => front.close())
})
afterEach(() => {
  proxy.mode = 'pass'
})
afterAll(async () => {
  for (const step of undo.reverse()) await step()
})

const suspended: DomainEvent = { type: 'TenantSuspended', data: { reason: null, at: beginning } }
const append = (ledger: Ledger) =>
  ledger.append(tenantStream(uniqueId('clocks')), 'no_stream', [suspended], causeOf(origin, beginning))

/** The error of an append that the store writes but whose answer is lost. */
async function unanswered(storeAhead: number): Promise<LedgerUnavailable> {
  ahead = storeAhead
  const url = `esdb://127.0.0.1:${(front.address() as AddressInfo).port}?tls=false`
  const limits = { tryMs: waitMs, callMs: waitMs }
  const ledger = connectLedger(url, limits)
  try {
    proxy.mode = 'pass'
    expect(await append(ledger)).toMatchObject({ appended: true })
    proxy.mode = 'deaf'
    Object.assign(limits, { tryMs: 300, callMs: 310 })
    const error: unknown = await append(ledger).catch((thrown: unknown) => thrown)
    if (!(error instanceof LedgerUnavailable)) throw new Error('the append did not fail', { cause: error })
    return error
  } finally {
    await ledger.close()
  }
}

const answered = (error: LedgerUnavailable) =>
  problemOf(Object.assign(error, { code: error.reason ?? '' }), 'it is safe to retry').message

test.each([
  [20_000, 'behind'],
  [-20_000, 'ahead of'],
])('a store whose clock is %i ms off is named in the error', async (storeAhead, way) => {
  const error = await unanswered(storeAhead)
  expect(error.reason).toBe('no_answer')
  const difference = `this machine's clock is \\d+\\.\\d s ${way} the event store`
  const message = `does not respond in time; ${difference}: synchronize the clocks \\(.*\\)$`
  expect(error.message).toMatch(new RegExp(message))
  expect(failureOf(error).message).toMatch(new RegExp(`^A store does not respond: .*${message}`))
  expect(answered(error)).toMatch(
    new RegExp(`^the ledger does not respond, and ${difference}; it is safe to retry$`),
  )
})

test('clocks that agree are not mentioned', async () => {
  const error = await unanswered(0)
  expect(error.message).toMatch(/does not respond in time$/)
  expect(answered(error)).toBe('the ledger does not respond; it is safe to retry')
})
