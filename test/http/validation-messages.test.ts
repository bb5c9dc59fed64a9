/**
 * Guarantee: what is wrong with an input is told in a sentence that names the field. Every query parameter and every field of
 * every described operation is sent with wrong values.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { issueCheckoutKey } from '../../src/commands/client-keys.ts'
import { inputWords, sentenceOf } from '../../src/domain/input-words.ts'
import { importRowOf } from '../../src/http/licenses/import-row.ts'
import { asOf } from '../../src/http/query.ts'
import { numberIn } from '../../src/http/schemas.ts'
import { createTestApp, makeTenant, openTestApi, type TestApi } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { sdkKeyOf } from './apps.ts'
import { makeProduct } from './samples.ts'
import { type WrongRequest, wrongRequests } from './wrong-inputs.ts'

/** Phrases of zod's own messages. */
const ofZod =
  /Invalid (?:input|option|string|key|ISO|discriminator)|\bexpected \w+, received\b|Too (?:big|small)|Unrecognized key/

let api: TestApi
let send: (request: WrongRequest) => Promise<{ status: number; text: string }>
beforeAll(async () => {
  api = await openTestApi()
  const { ports } = api.ledger
  const { tenantId, token } = await makeTenant(api.ledger)
  await makeProduct(api.ask, token, 'editor')
  const sdkKey = await sdkKeyOf(api.ledger, tenantId)
  const { checkoutKey } = await issueCheckoutKey(ports, tenantId, origin)
  const known = new Map<string, ReturnType<typeof ports.findToken>>()
  const app = await createTestApp(api.ledger, {
    ...ports,
    // One look-up for all requests: they are refused before they reach a store.
    findToken: (hash) => {
      const found = known.get(hash) ?? ports.findToken(hash)
      known.set(hash, found)
      return found
    },
  })
  send = async ({ method, path, query, body }) => {
    const filled = path.replace('{tenantId}', tenantId).replace('{productId}', 'editor')
    const answer = await app.inject({
      method: method as 'GET',
      url:
        filled
          .replace('{provider}', 'paddle')
          .replace('{tag}', 'fr')
          .replace(/\{\w+\}/g, 'absent') + query,
      headers: {
        authorization: `Bearer ${path.endsWith('/checkout') ? checkoutKey : token}`,
        'x-service-sdk-key': sdkKey,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
    return { status: answer.statusCode, text: answer.body }
  }
})
afterAll(() => api.close())

/** An import answers for each row, and what apps say about themselves is left out instead. */
const accepts = ({ path, field, body }: WrongRequest) =>
  (path === '/v1/licenses/import' && field !== 'body' && JSON.stringify(body).includes('"licenses":[')) ||
  (isOfApps(path) &&
    ['app_version', 'sdk_version', 'platform', 'sdk', 'app_built_at', 'app_channel'].includes(field))

const isOfApps = (path: string) =>
  path.startsWith('/{tenantId}/') || /^\/v1\/licenses\/(activate|validate)$/.test(path)

/** It answers with the codes of OAuth. */
const isOAuth = ({ path }: WrongRequest) => path.startsWith('/v1/login/device')

test('a wrong value in any field of any operation is refused with a sentence that names the field', async () => {
  const requests = wrongRequests(api.app.swagger()).filter((request) => !accepts(request))
  expect(requests.length).toBeGreaterThan(500)
  const wrong: unknown[] = []
  for (const request of requests) {
    const { status, text } = await send(request)
    const named = isOAuth(request) || request.field === 'body' || text.includes(request.field)
    if (status !== 400 || ofZod.test(text) || !named) wrong.push([status, text.slice(0, 300), shown(request)])
  }
  expect(wrong).toStrictEqual([])
})

const shown = ({ method, path, query, body, field }: WrongRequest): string =>
  `${method} ${path}${query.slice(0, 60)} ${field} ${(JSON.stringify(body) ?? '').slice(0, 200)}`

const sentence = (schema: z.ZodType, value: unknown): string => {
  const { error } = schema.safeParse(value, { error: inputWords })
  return error ? sentenceOf(error, 'the body') : ''
}

test.each<[string, z.ZodType, unknown, string]>([
  ['a missing field', z.object({ name: z.string() }), {}, 'name is required'],
  ['a missing choice', z.object({ unit: z.enum(['day', 'year']) }), {}, 'unit is required: one of day, year'],
  ['another type', z.object({ name: z.string() }), { name: 1 }, 'name must be a string'],
  ['no object', z.object({}), [], 'the body must be an object'],
  [
    'a number out of range',
    z.object({ n: z.int().min(1).max(100_000) }),
    { n: 0 },
    'n must be a whole number from 1 to 100,000',
  ],
  [
    'a number of another type',
    z.object({ n: z.int().min(1).max(9) }),
    { n: '1' },
    'n must be a whole number from 1 to 9',
  ],
  ['a fraction', z.object({ n: z.int() }), { n: 0.5 }, 'n must be a whole number'],
  ['zero', z.object({ n: z.int().positive() }), { n: 0 }, 'n must be a whole number of at least 1'],
  [
    'no number in a query',
    z.object({ limit: numberIn(1, 100) }),
    { limit: 'x' },
    'limit must be a whole number from 1 to 100',
  ],
  [
    'a limit of 0',
    z.object({ limit: numberIn(1, 100) }),
    { limit: '0' },
    'limit must be a whole number from 1 to 100',
  ],
  ['an empty text', z.object({ name: z.string().min(1) }), { name: '' }, 'name must not be empty'],
  [
    'a short text',
    z.object({ name: z.string().min(6) }),
    { name: 'a' },
    'name must have at least 6 characters',
  ],
  [
    'a long text',
    z.object({ name: z.string().max(2) }),
    { name: 'abc' },
    'name must have at most 2 characters',
  ],
  [
    'an unknown choice',
    z.object({ order: z.enum(['newest', 'oldest']) }),
    { order: 'x' },
    'order must be one of newest, oldest',
  ],
  ['another constant', z.object({ type: z.literal('a') }), { type: 'b' }, 'type must be a'],
  [
    'an unknown field',
    z.strictObject({ a: z.string().optional() }),
    { x: 1 },
    'unknown field "x"; known are a',
  ],
  [
    'unknown fields deeper',
    z.object({ list: z.array(z.strictObject({})) }),
    { list: [{ x: 1, y: 2 }] },
    'list[0]: unknown fields "x", "y"; there are none here',
  ],
  [
    'a time in a list',
    z.object({ licenses: z.array(z.object({ expiresAt: z.iso.datetime() })) }),
    { licenses: [{ expiresAt: '2026-01-01T00:00:00Z' }, { expiresAt: 'soon' }] },
    'licenses[1].expiresAt must be an ISO 8601 time with its time zone, such as 2027-11-21T00:00:00.000Z',
  ],
  [
    'a name of a pair',
    z.object({ m: z.record(z.string().max(2), z.string()) }),
    { m: { abc: '' } },
    'm.abc: the name must have at most 2 characters',
  ],
  ['an odd name', z.record(z.string(), z.string()), { 'a b': 1 }, '["a b"] must be a string'],
  [
    'a union',
    z.object({ id: z.union([z.string(), z.int()]) }),
    { id: true },
    'id must be a string or a whole number',
  ],
  [
    'an option of a union',
    z.object({ from: z.union([z.null(), z.object({ email: z.string() })]) }),
    { from: { email: 1 } },
    'from.email must be a string',
  ],
  [
    'an unknown kind',
    z.object({
      a: z.discriminatedUnion('type', [
        z.object({ type: z.literal('x') }),
        z.object({ type: z.literal('y') }),
      ]),
    }),
    { a: { type: 'z' } },
    'a.type must be one of x, y',
  ],
  [
    'a moment',
    z.object({ asOf }),
    { asOf: 'x' },
    'asOf must be the sequence of an event or an ISO 8601 time with its time zone, such as 2027-11-21T00:00:00.000Z',
  ],
])('%s', (_, schema, value, expected) => {
  expect(sentence(schema, value)).toBe(expected)
})

test('a row of an import is told its first fault', () => {
  const row = { licenseKey: 'OLD-000001', devices: [{ deviceId: 'a' }, { deviceId: '' }] }
  expect(importRowOf(row)).toBe('devices[1].deviceId must not be empty')
})
