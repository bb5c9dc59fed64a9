// Guarantee: a ledger with NATS works whether or not NATS is available, reports it, and reconnects by itself.
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { connectFeed, optionsOf } from '../../src/webhooks/nats-feed.ts'
import { startNats } from '../harness/nats-server.ts'
import { createHost, freePort } from '../harness/process.ts'

const host = createHost()

const feeds: { close(): Promise<void> }[] = []
afterAll(() => Promise.all(feeds.map((feed) => feed.close())))

test('the feed connects to NATS when it starts late, and reconnects after a restart', async () => {
  const port = await freePort()
  const directory = host.path('nats')
  const failures: unknown[] = []
  const feed = connectFeed(`nats://127.0.0.1:${port}`, (error) => failures.push(error))
  feeds.push(feed)
  await feed.firstTry
  expect(failures).toHaveLength(1)
  expect(feed.isConnected()).toBe(false)

  const first = startNats(host, port, directory)
  await expect.poll(() => feed.isConnected()).toBe(true)
  await first.end('SIGKILL')
  await expect.poll(() => feed.isConnected()).toBe(false)
  startNats(host, port, directory)
  await expect.poll(() => feed.isConnected()).toBe(true)
})

test('the URL can contain the password or the token', async () => {
  for (const [asked, who] of [
    [['--user', 'ledger', '--pass', 'p@ss'], 'ledger:p%40ss@'],
    [['--auth', 't0ken'], 't0ken@'],
  ] as const) {
    const port = await freePort()
    startNats(host, port, host.path('nats'), asked)
    const failures: unknown[] = []
    const feed = connectFeed(`nats://${who}127.0.0.1:${port}`, (error) => failures.push(error))
    feeds.push(feed)
    await expect.poll(() => feed.isConnected()).toBe(true)
    expect(failures.map(String).filter((said) => said.includes('AUTHORIZATION'))).toStrictEqual([])
  }
})

test('a tls:// URL does not connect without TLS', async () => {
  const port = await freePort()
  startNats(host, port, host.path('nats'))
  const plain = connectFeed(`nats://127.0.0.1:${port}`, () => undefined)
  feeds.push(plain)
  await expect.poll(() => plain.isConnected()).toBe(true)
  const failures: unknown[] = []
  const feed = connectFeed(`tls://127.0.0.1:${port}`, (error) => failures.push(error))
  feeds.push(feed)
  await feed.firstTry
  expect(feed.isConnected()).toBe(false)
  expect(failures).toHaveLength(1)
})

test('the credentials of a URL are passed separately from the server', () => {
  expect(optionsOf('nats://127.0.0.1:4222')).toStrictEqual({ servers: '127.0.0.1:4222' })
  expect(optionsOf('tls://u:p@nats.example.com')).toStrictEqual({
    servers: 'nats.example.com',
    user: 'u',
    pass: 'p',
    tls: {},
  })
})

test('closing the feed does not wait for NATS', async () => {
  const feed = connectFeed(`nats://127.0.0.1:${await freePort()}`, () => undefined)
  await feed.close()
  expect(feed.isConnected()).toBe(false)
})

test('the server reports whether NATS is connected, and serves without it', async () => {
  const port = await freePort()
  const nats = startNats(host, port, host.path('nats'))
  const { environment } = await host.stores()
  const { address } = await host.serve({ ...environment, KEYLEDGER_NATS_URL: `nats://127.0.0.1:${port}` })
  const Readiness = z.looseObject({
    ready: z.boolean(),
    parts: z.looseObject({ nats: z.object({ ok: z.boolean(), required: z.literal(false) }) }),
  })
  const ask = async () => {
    const { ready, parts } = Readiness.parse(await (await fetch(`${address}/readyz`)).json())
    return { ready, nats: parts.nats.ok }
  }
  await expect.poll(ask).toStrictEqual({ ready: true, nats: true })
  await nats.end('SIGKILL')
  await expect.poll(ask).toStrictEqual({ ready: true, nats: false })
})
