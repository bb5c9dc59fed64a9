/**
 * Guarantee: the client for servers calls every operation against a real server, follows pages, sends one
 * Idempotency-Key over all attempts, keeps to Retry-After, and waits for a person's approval.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { approve, deny } from '../../src/gate/approvals.ts'
import {
  createServerClient,
  KeyledgerError,
  type ServerClient,
} from '../../src/sdk/javascript/server/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { approver } from '../harness/gate.ts'
import { makeProduct } from '../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let baseUrl: string
let client: ServerClient
let pauses: number[]
const sleep = async (ms: number) => void pauses.push(ms)
beforeAll(async () => {
  api = await openTestApi()
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' })
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  pauses = []
  client = createServerClient({ baseUrl: `${baseUrl}/`, token: tenant.token, sleep, random: () => 0.5 })
})
afterAll(() => api.close())

const Minted = z.object({ license: z.looseObject({ id: z.string() }), licenseKey: z.string() })
const mint = async (fields: object = {}, options = {}) =>
  Minted.parse(await client.mintLicense({ productId: 'editor', ...fields }, options))

test('lists are followed over their pages, with their filters', async () => {
  const made = []
  for (let number = 0; number < 5; number++) {
    api.ledger.clock.advance(1000)
    made.push(await mint({ metadata: { order: `list ${number % 2}` } }))
  }
  const found: unknown[] = []
  for await (const one of client.listLicenses({ product: 'editor', limit: 2, order: 'oldest' })) {
    found.push(z.object({ id: z.string() }).parse(one).id)
  }
  expect(found).toStrictEqual(made.map(({ license }) => license.id))
  const { items, nextCursor } = await client.listLicenses({ metadata: { order: 'list 1' }, limit: 1 }).page()
  expect({ items, more: nextCursor !== null }).toMatchObject({
    items: [{ id: made[3]?.license.id }],
    more: true,
  })
})

test('a dry run says what a call would change, and changes nothing', async () => {
  const { license } = await mint()
  const before = await api.ledger.ports.ledger.head()
  const rehearsed = await client.dryRun('revokeLicense', { id: license.id, reason: 'fraud' })
  expect(rehearsed).toMatchObject({ dryRun: true, wouldBeRefused: null, effect: { licenses: { count: 1 } } })
  const change = { productId: 'editor', keyTypeId: 'default', entitlements: ['sync'] }
  const { sentences } = await client.dryRun('updateKeyType', change)
  expect(sentences[0]).toMatch(/^\d+ licenses? gets? “sync”$/)
  expect(await client.dryRun('exportLicenses', { product: 'editor' })).toMatchObject({ dryRun: true })
  expect(await api.ledger.ports.ledger.head()).toBe(before)
})

test('a use and a hold whose answers are lost are sent again, and count once', async () => {
  const meters = [{ meter: 'calls', unit: 'calls', included: '10', period: 'month', overage: 'block' }]
  await client.createKeyType({ productId: 'editor', name: 'Metered', meters })
  const { licenseKey: license_key } = await mint({ keyTypeId: 'metered' })
  let sent = 0
  const lossy = createServerClient({
    ...{ baseUrl, token: tenant.token, sleep },
    async fetch(url, init) {
      const answer = await fetch(url, init)
      if (++sent % 2 === 1) throw new TypeError('fetch failed')
      return answer
    },
  })
  const of = { product_id: 'editor', license_key, meter: 'calls' }
  expect(await lossy.consumeMeter({ ...of, amount: '3', idempotency_key: 'a' })).toMatchObject({
    remaining: '7',
  })
  const placed = await lossy.holdMeter({ ...of, amount: '4', idempotency_key: 'b', seconds: 60 })
  const held = z.object({ hold_id: z.string() }).parse(placed)
  expect(await lossy.commitHold({ ...held, amount: '1' })).toStrictEqual({ committed: true })
  expect(await lossy.releaseHold(held)).toStrictEqual({ released: true })
  expect(sent).toBe(8)
  expect(await client.consumeMeter({ ...of, amount: '6', idempotency_key: 'c' })).toMatchObject({
    remaining: '0',
  })
})

test('an answer that is lost makes no second license: every attempt has the same key', async () => {
  const keys: unknown[] = []
  const lossy = createServerClient({
    baseUrl,
    token: tenant.token,
    sleep,
    async fetch(url, init) {
      keys.push(init.headers['idempotency-key'])
      const response = await fetch(url, init)
      if (keys.length < 3) throw new TypeError('connection lost')
      return response
    },
  })
  const before = await count()
  await lossy.mintLicense({ productId: 'editor' })
  expect([await count(), new Set(keys).size, keys.length]).toStrictEqual([before + 1, 1, 3])
  const [one, other] = [
    await mint({}, { idempotencyKey: 'order-1' }),
    await mint({}, { idempotencyKey: 'order-1' }),
  ]
  expect(one).toStrictEqual(other)
})

async function count(): Promise<number> {
  let number = 0
  for await (const _ of client.listLicenses({})) number++
  return number
}

/** Answers with these statuses instead of the server. */
function answering(...answers: { status: number; retryAfter?: string; body?: string }[]) {
  const asked: string[] = []
  const client = createServerClient({
    baseUrl,
    token: tenant.token,
    sleep,
    random: () => 0.5,
    async fetch(url, init) {
      asked.push(`${init.method} ${new URL(url).pathname}`)
      const { status, retryAfter, body = '{"error":"no"}' } = answers.shift() ?? { status: 200, body: '{}' }
      const headers = { 'content-type': 'application/json', ...(retryAfter && { 'retry-after': retryAfter }) }
      return new Response(body, { status, headers })
    },
  })
  return { client, asked }
}

test('Retry-After is kept to; without it pauses grow', async () => {
  pauses = []
  const { client, asked } = answering({ status: 429, retryAfter: '7' }, { status: 503 }, { status: 503 })
  await client.getLicense({ id: 'lic_1' })
  expect({ pauses, asked: asked.length }).toStrictEqual({ pauses: [7250, 500, 1000], asked: 4 })
})

test('a pause of more than a minute is left to the caller', async () => {
  pauses = []
  const { client, asked } = answering({ status: 429, retryAfter: '3600' })
  const call = client.getLicense({ id: 'lic_1' })
  await expect(call).rejects.toMatchObject({ status: 429, retryAfterSeconds: 3600 })
  expect({ pauses, asked: asked.length }).toStrictEqual({ pauses: [], asked: 1 })
})

test('what could be done twice is not sent again; a refusal never is', async () => {
  const once = answering({ status: 500 })
  await expect(once.client.testWebhookEndpoint({ id: 'first' })).rejects.toMatchObject({ status: 500 })
  const confirmed = answering({ status: 503 })
  await expect(
    confirmed.client.revokeLicense({ id: 'lic_1' }, { confirmation: 'cnf_1' }),
  ).rejects.toMatchObject({ status: 503 })
  const refused = answering({ status: 409 })
  await expect(refused.client.createProduct({ name: 'Editor' })).rejects.toMatchObject({ status: 409 })
  expect([once.asked, confirmed.asked, refused.asked].map(({ length }) => length)).toStrictEqual([1, 1, 1])
})

test('errors have the status, the message, the code and the id of the request', async () => {
  const error = await client.getLicense({ id: 'lic_none' }).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(KeyledgerError)
  expect(error).toMatchObject({
    status: 404,
    message: 'license not found',
  })
  expect(error instanceof KeyledgerError && error.requestId).toMatch(/^req_/)
  const call = client.validateLicense({ product_id: 'none', license_key: 'x', device_id: 'y' })
  await expect(call).rejects.toMatchObject({ status: 404, code: 'product_not_found' })
  const gone = createServerClient({ baseUrl: 'http://127.0.0.1:1', token: 'x', sleep })
  await expect(gone.verifyToken()).rejects.toMatchObject({ status: 0, code: 'no_answer' })
  await expect(client.getLicense({})).rejects.toThrow('getLicense needs id')
})

test('a gated operation waits for its approval, and runs once', async () => {
  const { license } = await mint()
  const asked: string[] = []
  const answer = await client.confirm(
    'revokeLicense',
    { id: license.id, reason: 'charged back' },
    {
      onApproval: ({ id, approveUrl }) => {
        asked.push(approveUrl)
        void approve(api.ledger.ports, tenant.tenantId, id, approver)
      },
    },
  )
  expect(answer).toMatchObject({ license: { id: license.id, status: 'revoked' } })
  expect(asked).toStrictEqual([expect.stringContaining('/dashboard/approvals/cnf_')])
})

test('a denied one is an error, and so is one that nobody can be asked about', async () => {
  const { license } = await mint()
  const denied = client.confirm(
    'revokeLicense',
    { id: license.id },
    { onApproval: ({ id }) => void deny(api.ledger.ports, tenant.tenantId, id, approver) },
  )
  await expect(denied).rejects.toMatchObject({ code: 'confirmation_denied' })
  const withoutCallback = client.confirm('revokeLicense', { id: license.id })
  await expect(withoutCallback).rejects.toMatchObject({ code: 'confirmation_needed' })
})

test('answers that are not JSON come as bytes', async () => {
  const { license } = await mint()
  const archive = await client.getEvidence({ id: license.id })
  expect(
    Buffer.from(archive as Uint8Array)
      .subarray(0, 2)
      .toString(),
  ).toBe('PK')
})
