/**
 * Guarantee: the SDK key is shown only to members who may and have just proved who they are, each time with a record in
 * the audit log, and a form that is sent twice rotates it once.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct } from '../http/samples.ts'
import { type Client, clientOf, type Seen } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let client: Client
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  client = clientOf(api.app)
  await client.signIn(await makeMember(api.ledger, tenant.tenantId, 'admin'))
})
afterAll(() => api.close())

const path = '/dashboard/settings/sdk-key'
const keyOf = ({ text }: Seen): string => /id="secret"[^>]*value="([^"]+)"/.exec(text)?.[1] ?? ''

test('the first SDK key is created, shown again, and rotated once for a form that is sent twice', async () => {
  const first = fieldsOf(await client.get(path))
  const created = keyOf(await client.post(path, { ...first, action: 'reveal' }))
  expect(created).toMatch(/^kl_sdk_/)
  const form = await client.get(path)
  expect(form.text).not.toContain(created)
  const shown = await client.post(path, { ...fieldsOf(form), action: 'reveal' })
  expect(keyOf(shown)).toBe(created)
  const rotate = { ...fieldsOf(await client.get(path)), action: 'rotate' }
  const rotated = keyOf(await client.post(path, rotate))
  expect(rotated).not.toBe(created)
  expect(keyOf(await client.post(path, rotate))).toBe(rotated)
  const { body } = await api.ask('GET', '/v1/audit?action=revealed', { token: tenant.token })
  expect((body as { items: unknown[] }).items).toHaveLength(2)
})

test('an identity that was proved too long ago is proved again first', async () => {
  api.ledger.clock.advance(10 * 60_000)
  const form = await client.get(path)
  expect(form.status).toBe(200)
  const asked = await client.post(path, { ...fieldsOf(form), action: 'reveal' })
  expect(asked.text).toContain('Confirm your identity')
  expect(asked.text).not.toContain('kl_sdk_')
})

test('prices are not saved while Stripe is not connected, and what was typed stays', async () => {
  const selling = '/dashboard/products/editor/selling'
  const fields = { ...fieldsOf(await client.get(selling)), 'price-default': 'price_1' }
  const seen = await client.post(selling, fields)
  expect(seen.status).toBe(422)
  expect(wordsOf(seen)).toContain('Stripe is not connected.')
  expect(fieldsOf(seen)).toMatchObject({ 'price-default': 'price_1' })
  await client.post(`${selling}/verify`)
  expect(wordsOf(await client.get(selling))).toContain('Nothing was verified')
  expect((await client.get(selling)).text).toContain(`/${tenant.tenantId}/editor/pricing`)
})
