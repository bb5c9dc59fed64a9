/**
 * Guarantee: a vendor who mints or remints a license can have the key mailed to its holder. It is sealed in the
 * vault only until the mail was accepted, and a key that was replaced meanwhile is not sent.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { mailedKeyPrefix } from '../../src/domain/licenses/keys.ts'
import { destroySpentMailedKeys } from '../../src/reactions/deliveries.ts'
import { makeTenant, type TestApi, type TestTenant } from '../harness/api.ts'
import { openMailingApi, refused, taken } from '../harness/mailing.ts'
import { makeProduct, mint } from '../http/samples.ts'

const mailing = openMailingApi()
const { sent } = mailing
let api: TestApi
let tenant: TestTenant
beforeAll(() => {
  api = mailing.api
})
beforeEach(async () => {
  sent.length = 0
  mailing.answer = () => taken
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { name: 'Acme Editor', keyTypes: [{ name: 'Pro' }] })
})

const post = (path: string, body: object) => api.ask('POST', path, { token: tenant.token, body })
const ada = { email: 'ada@example.com', name: 'Ada Lovelace', sendKey: true }

async function statuses(): Promise<string[]> {
  const all = { after: undefined, limit: 100 }
  const { items } = await listDeliveries(api.ledger.db, tenant.tenantId, { channel: 'mail' }, all)
  return items.map(({ event, status }) => `${event} ${status}`)
}

async function keptKeys(): Promise<number> {
  const { rows } = await api.ledger.db.query(
    'select from vault.secrets where tenant_id = $1 and starts_with(name, $2)',
    [tenant.tenantId, mailedKeyPrefix],
  )
  return rows.length
}

test('a minted key is mailed once with its own text, and then destroyed', async () => {
  await api.ask('PUT', '/v1/products/editor/mail', {
    token: tenant.token,
    body: {
      replyTo: 'help@acme.example',
      subject: 'Your order',
      text: 'Thanks for the order {{license_key}}',
    },
  })
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor', ada)
  await expect.poll(statuses).toStrictEqual(['license.key_mail delivered'])
  await expect.poll(keptKeys).toBe(0)
  expect(sent).toHaveLength(1)
  expect(sent[0]).toMatchObject({
    to: { name: 'Ada Lovelace', email: 'ada@example.com' },
    replyTo: 'help@acme.example',
    subject: 'Your license key for Acme Editor',
  })
  expect(sent[0]?.text).toContain(`Here is your license key for Acme Editor (Pro):\n\n    ${licenseKey}\n`)
  expect(sent[0]?.text).not.toContain('buying')
  expect(sent[0]?.html).toContain(licenseKey)
})

test('a mint without sendKey mails and keeps no key', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor', { email: 'ada@example.com' })
  expect((await post(`/v1/licenses/${id}/remint`, {})).status).toBe(200)
  expect(await keptKeys()).toBe(0)
  expect(await statuses()).toStrictEqual([])
})

test('the key of a remint is mailed until it is accepted', async () => {
  mailing.answer = () => refused
  const { id } = await mint(api.ask, tenant.token, 'editor', { email: 'ada@example.com' })
  const { body } = await post(`/v1/licenses/${id}/remint`, { sendKey: true, keepDevices: true })
  await expect.poll(() => sent.length).toBe(1)
  expect(await keptKeys()).toBe(1)
  mailing.answer = () => taken
  api.ledger.clock.advance(60_000)
  await expect.poll(statuses).toStrictEqual(['license.key_mail delivered'])
  await expect.poll(keptKeys).toBe(0)
  const { licenseKey } = body as { licenseKey: string }
  expect(sent.map(({ text }) => text.includes(licenseKey))).toStrictEqual([true, true])
})

test('a key that is replaced before its mail is accepted is not sent', async () => {
  mailing.answer = () => refused
  const { id } = await mint(api.ask, tenant.token, 'editor', ada)
  await expect.poll(() => sent.length).toBe(1)
  mailing.answer = () => taken
  await post(`/v1/licenses/${id}/remint`, { sendKey: true })
  await expect.poll(() => sent.length).toBe(2)
  api.ledger.clock.advance(60_000)
  await expect
    .poll(async () => (await statuses()).toSorted())
    .toStrictEqual(['license.key_mail abandoned', 'license.key_mail delivered'])
  expect(sent).toHaveLength(2)
})

test('sendKey returns 409 without an email address or when the mails of the product are off', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor')
  const unaddressed = { status: 409, body: { error: expect.stringContaining('no email address') as string } }
  expect(await post('/v1/licenses', { productId: 'editor', sendKey: true })).toMatchObject(unaddressed)
  expect(await post(`/v1/licenses/${id}/remint`, { sendKey: true })).toMatchObject(unaddressed)
  await api.ask('PUT', '/v1/products/editor/mail', { token: tenant.token, body: { enabled: false } })
  const off = {
    status: 409,
    body: { error: expect.stringContaining('mails of the product are off') as string },
  }
  expect(await post('/v1/licenses', { productId: 'editor', ...ada })).toMatchObject(off)
  expect(await keptKeys()).toBe(0)
})

test('a key that a failed request left in the vault is destroyed after ten minutes', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor', { email: 'ada@example.com' })
  const { secrets } = api.ledger.ports
  for (const left of [`${id}.${'a'.repeat(64)}`, `lic_unknown.${'b'.repeat(64)}`]) {
    await secrets.keep(tenant.tenantId, `${mailedKeyPrefix}${left}`, 'ACME-key')
  }
  const failures: unknown[] = []
  const sweep = destroySpentMailedKeys(api.ledger.ports, (failed) => failures.push(failed)).poll
  await sweep()
  expect(await keptKeys()).toBe(2)
  await api.ledger.db.query(
    `update vault.secrets set created_at = now() - interval '11 minutes' where tenant_id = $1`,
    [tenant.tenantId],
  )
  await sweep()
  expect(await keptKeys()).toBe(0)
  expect(failures).toStrictEqual([])
})
