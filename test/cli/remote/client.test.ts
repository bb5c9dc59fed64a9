// Guarantee: a request that a server turns away for now is sent again after the time it names, with the same
// Idempotency-Key; one that may have been executed is not, unless the server does nothing twice; the token goes to
// its own server alone.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { serverAddress } from '../../../src/cli/remote/address.ts'
import { createClient, pauseMs, retryAfterIn } from '../../../src/cli/remote/client.ts'
import { RemoteError } from '../../../src/cli/remote/errors.ts'
import { CommandMisused, CommandUnavailable } from '../../../src/terminal/exit-codes.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => void
let answers: Answer[] = []
const requests: { key: string | undefined; authorization: string | undefined }[] = []
const pauses: number[] = []
const server = createServer((request, response) => {
  const { 'idempotency-key': key, authorization } = request.headers
  requests.push({ key: key?.toString(), authorization })
  request.resume()
  ;(answers.shift() ?? done)(response, request)
})
let address: string
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const at = server.address()
  address = `http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}`
})
afterAll(() => void server.close())
beforeEach(() => {
  answers = []
  requests.length = 0
  pauses.length = 0
})

const client = () =>
  createClient(address, {
    token: 'kl_pat_x',
    retries: 3,
    sleep: async (ms) => {
      pauses.push(ms)
    },
  })
const done: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
}
const status =
  (code: number, headers: Record<string, string> = {}, body: unknown = { error: `number ${code}` }): Answer =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
const lost: Answer = (_, request) => void request.socket.destroy()

const post = { method: 'POST', path: '/v1/products', body: { name: 'Editor' } } as const
const gated = { ...post, repeatable: false } as const

test.each([
  ['429', post, status(429, { 'retry-after': '2' })],
  ['503', post, status(503, { 'retry-after': '2' })],
  ['409 of a request that is still running', post, status(409, { 'retry-after': '2' })],
  ['a lost answer', post, lost],
  ['429 of a gated request', gated, status(429, { 'retry-after': '2' })],
])('after %s the request is sent again with the same key', async (_, call, answer) => {
  answers = [answer, answer]
  expect((await client().call(call)).body).toStrictEqual({ ok: true })
  expect(requests).toHaveLength(3)
  expect(new Set(requests.map(({ key }) => key)).size).toBe(1)
  if (answer !== lost) expect(Math.min(...pauses)).toBeGreaterThanOrEqual(2000)
})

test.each([
  ['503 of a gated request', gated, status(503), RemoteError],
  ['a lost answer of a gated request', gated, lost, CommandUnavailable],
  ['409', post, status(409), RemoteError],
  ['404', post, status(404), RemoteError],
])('after %s it is not sent again', async (_, call, answer, error) => {
  answers = [answer]
  await expect(client().call(call)).rejects.toThrow(error)
  expect(requests).toHaveLength(1)
})

test('it gives up after some attempts, with the message of the server', async () => {
  answers = Array.from({ length: 9 }, () => status(503))
  await expect(client().call(post)).rejects.toMatchObject({ message: 'number 503', code: 3 })
  expect(requests).toHaveLength(4)
})

test.each([
  [400, 2],
  [401, 1],
  [404, 1],
  [422, 1],
  [429, 3],
  [500, 3],
])('status %i ends the command with %i', (number, code) => {
  expect(new RemoteError('no', { status: number }).code).toBe(code)
})

test('the message of each form of errors is shown', async () => {
  answers = [
    status(404, {}, { error: { code: 'product_not_found', message: 'product not found' } }),
    status(400, {}, { error: 'invalid_scope' }),
    status(500, { 'request-id': 'req_1' }, {}),
  ]
  await expect(client().call(post)).rejects.toThrow('product not found')
  await expect(client().call(post)).rejects.toMatchObject({
    message: 'invalid_scope',
    oauthError: 'invalid_scope',
  })
  await expect(client().call(post)).rejects.toThrow(
    'The server answered with 500.\nReport it with this id: req_1',
  )
})

test('a redirect is not followed', async () => {
  answers = [status(308, { location: 'https://elsewhere.example.com/' })]
  await expect(client().call(post)).rejects.toThrow('https://elsewhere.example.com/')
  expect(requests).toHaveLength(1)
})

test('pauses grow, have jitter and a maximum, and are never shorter than the server asks', () => {
  expect([0, 1, 2, 9].map((attempt) => pauseMs(attempt, undefined, () => 0.5))).toStrictEqual([
    500, 1000, 2000, 30_000,
  ])
  expect(pauseMs(0, retryAfterIn(new Headers({ 'retry-after': '7' })), () => 0)).toBe(7000)
  expect(pauseMs(0, retryAfterIn(new Headers({ 'retry-after': 'soon' })), () => 0)).toBe(250)
})

describe('the address of a server', () => {
  test.each([
    ['https://keyledger.example.com/', 'https://keyledger.example.com'],
    ['keyledger.example.com', 'https://keyledger.example.com'],
    ['https://example.com/keyledger/', 'https://example.com/keyledger'],
    ['localhost:8080', 'http://localhost:8080'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('%s is %s', (given, expected) => {
    expect(serverAddress(given, { insecureHttp: false })).toBe(expected)
  })

  test.each([
    'http://example.com',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'ftp://example.com',
    'https://user:secret@example.com',
    'https://example.com/?a=b',
    '',
  ])('%j is refused', (given) => {
    expect(() => serverAddress(given, { insecureHttp: false })).toThrow(CommandMisused)
  })

  test('http to another machine is possible on request', () => {
    expect(serverAddress('http://keyledger.internal', { insecureHttp: true })).toBe(
      'http://keyledger.internal',
    )
  })
})
