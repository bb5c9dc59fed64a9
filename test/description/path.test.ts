/**
 * Guarantee: a value in a path is seen by the route as exactly that value, or refused: it never leads to another route. So for
 * the tools of agents, the remote command line and the SDK.
 */

import fc from 'fast-check'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NotInPath, pathTo, segment } from '../../src/description/path.ts'
import { segment as segmentOfSdk } from '../../src/sdk/javascript/license-key.ts'
import { makeTenant, openTestApi, type TestApi } from '../harness/api.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'

let api: TestApi
const app = Fastify({ routerOptions: { maxParamLength: 16_384 } })
app.get('/things/:id/parts', ({ params }) => ({ params }))
app.get('/things', () => 'all things')
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(async () => {
  await api.close()
  await app.close()
})

const tricky = fc.constantFrom(
  ...[
    '',
    '.',
    '..',
    '...',
    '/',
    '..;',
    '%2e%2e',
    '%2E',
    '.%2e',
    '%',
    '?',
    '#',
    '\\',
    '..\\',
    '\0',
    '\n',
    '\t',
    ' ',
  ],
  ...['\ud800', '\udfff', 'lic_1', 'ü', '\u202e', '__proto__', '%2F', '//', '../..'],
)
const values = fc.oneof(
  tricky,
  fc.string({ unit: 'binary' }),
  fc.array(tricky, { maxLength: 4 }).map((parts) => parts.join('')),
)

const segments = [(value: string) => segment(value), (value: string) => segmentOfSdk('id', value)]

test.each(segments)('the route sees the value, or it is refused', async (of) => {
  await fc.assert(
    fc.asyncProperty(values, async (id) => {
      let path: string
      try {
        path = `/things/${of(id)}/parts`
      } catch (error) {
        expect(error).not.toBeInstanceOf(URIError)
        expect(['', '.', '..'].includes(id) || !id.isWellFormed()).toBe(true)
        return
      }
      // As the clients and `inject` do.
      const { pathname, search, hash } = new URL(path, 'http://localhost')
      expect([search, hash]).toStrictEqual(['', ''])
      const { statusCode, body } = await app.inject(pathname)
      expect([statusCode, JSON.parse(body)]).toStrictEqual([200, { params: { id } }])
    }),
    { numRuns: 500 },
  )
})

test('an id of dots does not list what belongs to all customers', async () => {
  const { token } = await makeTenant(api.ledger)
  await makeProduct(api.ask, token, 'editor')
  await mint(api.ask, token, 'editor')
  await makeCustomer(api.ask, token)
  const use = async (customerId: string) => {
    const { body } = await api.app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' },
      payload: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_licenses_of_customer', arguments: { customerId } },
      },
    })
    return body
  }
  for (const dots of ['.', '..']) expect(await use(dots)).toContain('is not an id')
  for (const other of ['%2e%2e', '../../licenses', '..\\', '?', '#'])
    expect(await use(other)).toContain('Refused (404, customer_not_found): customer not found')
})

test('a refusal is a sentence', () => {
  expect(() => pathTo`/v1/licenses/${'..'}/revoke`).toThrow(
    new NotInPath('".." is not an id; copy the id from a list'),
  )
})
