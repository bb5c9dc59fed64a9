// Guarantee: no connection that ends, at any moment and in any way, ends a process, and every request is answered.

import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { endBackends } from '../chaos/backends.ts'
import { createHost, hasEnded } from '../harness/process.ts'
import { startTcpProxy } from '../harness/tcp-proxy.ts'
import { testMs } from '../harness/time-limits.ts'
import { wholeVariable } from '../harness/variables.ts'
import { client, createVendor, productId } from './vendor.ts'

const host = createHost()
/** `KEYLEDGER_TEST_BREAKS_SECONDS=60` for the long run. */
const seconds = wholeVariable('KEYLEDGER_TEST_BREAKS_SECONDS', 4)

test('connections to the stores and of clients are ended at random under load', {
  timeout: testMs + seconds * 4000,
}, async () => {
  const { databaseUrl, environment } = await host.stores()
  const token = await createVendor(environment)
  const { host: place, port, user = '', password = '', database = '' } = new pg.Client(databaseUrl)
  const toPostgres = await startTcpProxy(place.startsWith('/') ? `${place}/.s.PGSQL.${port}` : port)
  const toEventStore = await startTcpProxy(Number(new URL(environment.KEYLEDGER_EVENTSTORE_URL ?? '').port))
  const server = await host.serve({
    ...environment,
    KEYLEDGER_WORKERS: '2',
    KEYLEDGER_DATABASE_URL: `postgresql://${user}:${password}@127.0.0.1:${toPostgres.port}/${database}`,
    KEYLEDGER_EVENTSTORE_URL: `esdb://127.0.0.1:${toEventStore.port}?tls=false`,
  })
  const vendor = client(server.address, token)
  await vendor.createProduct(1000)
  const { licenseKey } = await vendor.mint()

  const breaking = AbortSignal.timeout(seconds * 1000)
  const asking = new AbortController()
  const answers = new Map<string, number>()
  const keepAsking = async (path: string, body: object) => {
    while (!asking.signal.aborted) {
      const response = await fetch(server.address + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      await response.text()
      const retry = response.headers.get('retry-after') === null ? '' : ' with Retry-After'
      const answer = `${response.status}${retry}`
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
  }
  const keepBreaking = async () => {
    while (!breaking.aborted) {
      await sleep(300)
      for (const proxy of [toPostgres, toEventStore]) {
        if (Math.random() < 0.5) proxy.reset()
        else proxy.cut()
      }
      resetRequest(Number(new URL(server.address).port))
    }
  }
  const seat = { product_id: productId, license_key: licenseKey, device_id: 'laptop' }
  const requests = Promise.all([
    ...Array.from({ length: 4 }, () => keepAsking('/v1/licenses/validate', seat)),
    keepAsking('/v1/licenses/activate', { ...seat, name: 'Laptop' }),
    keepAsking('/v1/licenses', { productId }),
  ])
  await Promise.all([endBackends(databaseUrl, breaking), keepBreaking()])
  // A slow machine may not get a request through between two breaks: it does as soon as they end.
  answers.delete('200')
  await expect.poll(() => answers.get('200') ?? 0).toBeGreaterThan(0)
  asking.abort()
  await requests

  const expected = new Set(['200', '201', '503 with Retry-After'])
  expect([...answers.keys()].filter((answer) => !expected.has(answer))).toStrictEqual([])
  await expect.poll(async () => (await vendor.activate(licenseKey, 'laptop')).status).toBeLessThan(300)
  expect((await vendor.validate(licenseKey, 'laptop')).body.valid).toBe(true)

  // A worker that starts waits for the stores, too.
  server.child.kill('SIGHUP')
  while (!server.stderr().includes('worker.starts_again')) {
    toPostgres.reset()
    await sleep(10)
  }
  await expect.poll(() => [...server.stderr().matchAll(/"worker":\d+.*Serving/g)].length).toBe(3)
  expect(server.stderr()).not.toMatch(/process\.failed|worker\.(died|not_|refused)/)
  expect(hasEnded(server)).toBe(false)

  // One that is told to stop while it waits ends at once.
  await expect.poll(() => server.stderr()).toContain('The workers were replaced')
  const waits = () => server.stderr().split('worker.starts_again').length
  const before = waits()
  server.child.kill('SIGHUP')
  while (waits() === before) {
    toPostgres.reset()
    await sleep(10)
  }
  const ended = server.end('SIGTERM')
  while (!hasEnded(server)) {
    toPostgres.reset()
    await sleep(10)
  }
  expect(await ended).toMatchObject({ code: 0 })
  expect(server.stderr()).toContain('Ending before serving')
  await toPostgres.close()
  await toEventStore.close()
})

/** A client that resets its connection in the middle of a request. */
function resetRequest(port: number): void {
  const socket = connect(port, 'localhost')
  socket.on('error', () => undefined)
  socket.write('POST /v1/licenses HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{', () =>
    socket.resetAndDestroy(),
  )
}
