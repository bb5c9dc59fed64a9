/**
 * Guarantee: a connection that stalls anywhere is closed with 408 and its memory is freed; a slow notification or
 * import is read to its end; and there are never more connections than configured.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { projectionLock } from '../../projections/database/advisory-locks.ts'
import { type ConnectionBounds, defaultBounds } from '../../src/config/shown.ts'
import { takeConnections } from '../../src/http/listening.ts'
import { makeTenant, openTestApi, type TestApi } from '../harness/api.ts'
import { makeProduct } from './samples.ts'

let api: TestApi
afterEach(() => api.close())

type Listens = { app: FastifyInstance; port: number }

/** A server that listens itself, and one that is handed each connection, as the workers are. */
const ways = {
  'listens itself': async ({ app }: TestApi) => {
    await app.listen({ port: 0, host: '127.0.0.1' })
    return app.server
  },
  'is handed its connections': async ({ app }: TestApi) => {
    await app.ready()
    const { take } = takeConnections(app)
    const door = createServer({ allowHalfOpen: true, pauseOnConnect: true }, take).listen(0, '127.0.0.1')
    await once(door, 'listening')
    onTestFinished(() => void door.close())
    return door
  },
}

type Line = { socket: Socket; answer: Promise<string> }

/** A connection, and everything that is received on it until it is closed. */
function dial({ port }: Listens): Line {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.setEncoding('utf8').on('data', (more: string) => {
    text += more
  })
  // Writing to a connection that the peer has closed emits an error.
  socket.on('error', () => undefined)
  return { socket, answer: new Promise((resolve) => socket.once('close', () => resolve(text))) }
}

const post = (path: string, length: number, type = 'application/json') =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n`

const ping = '/webhooks/gumroad/nobody?token=x'

async function drip(socket: Socket, times: number, everyMs = 50): Promise<void> {
  for (let time = 0; time < times && !socket.destroyed; time++) {
    socket.write(' ')
    await setTimeout(everyMs)
  }
}

describe.each(Object.entries(ways))('a server that %s', (_, listen) => {
  async function listening(bounds: Partial<ConnectionBounds>): Promise<Listens> {
    api = await openTestApi({ connections: { ...defaultBounds, ...bounds } })
    const { port } = (await listen(api)).address() as AddressInfo
    return { app: api.app, port }
  }

  test('incomplete headers get 408, and the connection is closed', async () => {
    const { socket, answer } = dial(await listening({ headersMs: 200, requestMs: 30_000 }))
    socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n')
    expect(await answer).toMatch(/^HTTP\/1\.1 408 .*\r\n\r\n\{"error":"the request did not arrive in time/s)
  })

  test('a silent connection is closed', async () => {
    const { answer } = dial(await listening({ headersMs: 200 }))
    expect(await answer).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('a stalled body gets 408, also when it arrives byte by byte', async () => {
    const app = await listening({ headersMs: 200, requestMs: 300 })
    const stalled = dial(app)
    stalled.socket.write(`${post('/v1/login/device', 500)}{`)
    const dripping = dial(app)
    dripping.socket.write(post('/v1/login/device', 8000))
    const dripped = drip(dripping.socket, 10_000)
    expect(await stalled.answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(await dripping.answer).toMatch(/^HTTP\/1\.1 408 /)
    await dripped
  })

  test('a request that already got 401 loses its connection when its body stalls', async () => {
    const { socket, answer } = dial(await listening({ headersMs: 200, requestMs: 300 }))
    socket.write(`${post('/v1/products', 500)}{`)
    expect(await answer).toMatch(/^HTTP\/1\.1 401 .*HTTP\/1\.1 408 /s)
  })

  test('a notification can take longer than other requests while its bytes arrive', async () => {
    // Far above a pause of a busy machine between two bytes.
    const limitMs = 4000
    const { socket, answer } = dial(await listening({ headersMs: limitMs, requestMs: limitMs }))
    socket.write(post(ping, 10, 'application/x-www-form-urlencoded'))
    await drip(socket, 10, limitMs / 8)
    socket.end()
    expect(await answer).toMatch(/^HTTP\/1\.1 400 .*Invalid request/s)
  })

  test('a stalled notification gets 408', async () => {
    const { socket, answer } = dial(await listening({ headersMs: 100, requestMs: 100, stallMs: 300 }))
    socket.write(`${post(ping, 30, 'application/x-www-form-urlencoded')}resource_name`)
    expect(await answer).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('the processing of an import can take longer than a body may stall', async () => {
    const app = await listening({ stallMs: 200 })
    const { token } = await makeTenant(api.ledger)
    await makeProduct(api.ask, token, 'editor')
    const body = JSON.stringify({ productId: 'editor', licenses: [{ licenseKey: 'KEY-ONE' }] })
    // A response waits for the read models.
    const holder = await api.ledger.db.connect()
    await holder.query('select pg_advisory_lock($1)', [projectionLock])
    const { socket, answer } = dial(app)
    const head = post('/v1/licenses/import', Buffer.byteLength(body)).trimEnd()
    socket.write(`${head}\r\nauthorization: Bearer ${token}\r\nconnection: close\r\n\r\n${body}`)
    await setTimeout(1000)
    await holder.query('select pg_advisory_unlock($1)', [projectionLock])
    holder.release()
    expect(await answer).toMatch(/^HTTP\/1\.1 200 .*"imported":1/s)
  })

  test('the memory of stalled bodies is freed', async () => {
    const listens = await listening({ headersMs: 1000, requestMs: 1000 })
    const requests: WeakRef<object>[] = []
    const { server } = listens.app
    server.on('request', (request) => requests.push(new WeakRef(request)))
    const part = Buffer.alloc(500_000, ' ')
    const lines = Array.from({ length: 40 }, () => dial(listens))
    for (const { socket } of lines)
      socket.write(Buffer.concat([Buffer.from(post('/v1/login/device', 1e6)), part]))
    await Promise.all(lines.map(({ answer }) => answer))
    expect(requests).toHaveLength(40)
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    await expect
      .poll(() => {
        collect()
        return requests.filter((request) => request.deref() !== undefined).length
      })
      .toBe(0)
    expect(await new Promise((resolve) => server.getConnections((_, count) => resolve(count)))).toBe(0)
  })

  test('a connection over the limit is closed at once', async () => {
    const app = await listening({ most: 1 })
    const first = dial(app)
    first.socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n')
    await new Promise((resolve) => first.socket.once('data', resolve))
    expect(await dial(app).answer).toBe('')
    first.socket.end()
    expect(await first.answer).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('an idle connection is closed after a response', async () => {
    const { socket, answer } = dial(await listening({ idleMs: 500 }))
    socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n')
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /)
  })
})
