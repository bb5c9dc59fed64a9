/**
 * Guarantee: the holder of a license is told by mail before it expires and when it has, once each, only where the product has
 * the setting. What is no longer true when it would be sent is not sent.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { dayIn } from '../../src/domain/portal/languages.ts'
import { recordExpiries } from '../../src/reactions/expiries.ts'
import { noticeExpiries } from '../../src/reactions/expiring.ts'
import { makeTenant, type TestApi, type TestTenant } from '../harness/api.ts'
import { beginning } from '../harness/ledger.ts'
import { openMailingApi, refused, taken } from '../harness/mailing.ts'
import { importRows, makeProduct, mint } from '../http/samples.ts'
import { purchase } from '../sales/notifications.ts'
import { openShop } from '../sales/shop.ts'

const mailing = openMailingApi()
const { sent } = mailing
let api: TestApi
let tenant: TestTenant
beforeAll(() => {
  api = mailing.api
})
const pro = { name: 'Pro', duration: { count: 30, unit: 'day' } }
beforeEach(async () => {
  sent.length = 0
  mailing.answer = () => taken
  api.ledger.clock.set(beginning)
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [
      pro,
      { ...pro, name: 'Soft', onExpiry: 'fallback' },
      { ...pro, name: 'Grace', graceSeconds: 86_400 },
    ],
    expiringNotice: { days: [14, 3] },
  })
})

const end = '2026-03-31T12:00:00.000Z'
const soon = '2026-03-28T12:00:00.000Z'
const onFailure = ({ error }: { error: unknown }) => {
  throw error
}
const notice = () => noticeExpiries(api.ledger.ports, { onFailure }).poll()
const expire = () => recordExpiries(api.ledger.ports, { onFailure }).poll()
const license = (keyTypeId = 'pro', fields: object = { email: 'ada@example.com', name: 'Ada' }) =>
  mint(api.ask, tenant.token, 'editor', { keyTypeId, ...fields })
const subjects = () => sent.map(({ subject }) => subject)
async function statuses(tenantId = tenant.tenantId): Promise<string[]> {
  const all = { after: undefined, limit: 100 }
  const { items } = await listDeliveries(api.ledger.db, tenantId, { channel: 'mail' }, all)
  return items.map(({ event, status }) => `${event} ${status}`)
}

test('the holder is told before the expiry and at it, once each', async () => {
  await api.ask('PUT', '/v1/products/editor/mail', {
    token: tenant.token,
    body: { replyTo: 'help@acme.example' },
  })
  await license()
  api.ledger.clock.set(soon)
  for (let again = 0; again < 2; again++) await notice()
  await expect.poll(statuses).toStrictEqual(['license.expiring delivered'])
  api.ledger.clock.set(end)
  for (let again = 0; again < 2; again++) await expire()
  await expect.poll(statuses).toStrictEqual(['license.expired delivered', 'license.expiring delivered'])
  expect(subjects()).toStrictEqual([
    'Your license for Acme Editor expires on 31 March 2026',
    'Your license for Acme Editor has expired',
  ])
  const [first] = sent
  expect(first).toMatchObject({ to: { name: 'Ada', email: 'ada@example.com' }, replyTo: 'help@acme.example' })
  expect(first?.text).toContain('Hello Ada,\n\nYour license for Acme Editor (Pro) expires on 31 March 2026.')
})

test('a license that falls back or has a grace is told so, in the language of the product', async () => {
  await api.ask('PUT', '/v1/products/editor/mail', { token: tenant.token, body: { language: 'de' } })
  await license('soft')
  await license('grace', { email: 'bob@example.com' })
  api.ledger.clock.set(soon)
  await notice()
  await expect.poll(() => sent.length).toBe(2)
  api.ledger.clock.set('2026-04-01T12:00:00.000Z')
  await expire()
  await expect.poll(() => sent.length).toBe(4)
  const texts = sent.map(({ text }) => text).join('\n')
  for (const words of [dayIn('de', end), 'bis 1. April 2026', '(Soft)', '(Grace)'])
    expect(texts).toContain(words)
})

test('nothing is mailed without the setting, an address, or the mails of the product', async () => {
  await makeProduct(api.ask, tenant.token, 'silent', { keyTypes: [pro] })
  await mint(api.ask, tenant.token, 'silent', { email: 'ada@example.com' })
  await license('pro', {})
  api.ledger.clock.set(soon)
  await notice()
  api.ledger.clock.set(end)
  await expire()
  expect(await statuses()).toStrictEqual([])
  api.ledger.clock.set(beginning)
  await api.ask('PUT', '/v1/products/editor/mail', { token: tenant.token, body: { enabled: false } })
  await license()
  api.ledger.clock.set(soon)
  await notice()
  await expect.poll(statuses).toStrictEqual(['license.expiring abandoned'])
  expect(sent).toStrictEqual([])
})

test('a license that is renewed before the mail is taken is not told of the former expiry', async () => {
  mailing.answer = () => refused
  const { id } = await license()
  api.ledger.clock.set(soon)
  await notice()
  await expect.poll(() => sent.length).toBe(1)
  const body = { expiresAt: '2027-01-01T00:00:00.000Z' }
  await api.ask('PATCH', `/v1/licenses/${id}`, { token: tenant.token, body })
  mailing.answer = () => taken
  api.ledger.clock.advance(60_000)
  await expect.poll(statuses).toStrictEqual(['license.expiring abandoned'])
  expect(sent).toHaveLength(1)
})

test('a license that was imported after its end is told nothing', async () => {
  await importRows(api.ask, tenant.token, 'editor', [
    { licenseKey: 'IMPORTED-TOLD-1', email: 'ada@example.com', expiresAt: '2025-01-01T00:00:00.000Z' },
  ])
  await expire()
  expect(await statuses()).toStrictEqual([])
})

test('a subscription that goes on is told nothing before its expiry, and one that has ended is', async () => {
  const shop = await openShop(api)
  const body = { expiringNotice: { days: [14, 3] } }
  await api.ask('PATCH', '/v1/products/editor', { token: shop.token, body })
  const mails = async () => (await statuses(shop.tenantId)).filter((mail) => mail.startsWith('license.exp'))
  const [going, ended] = [purchase('going'), purchase('ended')]
  for (const bought of [going, ended]) await shop.tell(bought.sold())
  await shop.tell(ended.ended('2026-04-01T12:00:00.000Z'))
  api.ledger.clock.set('2026-03-29T12:00:00.000Z')
  await notice()
  await expect
    .poll(async () => (await mails()).toSorted())
    .toStrictEqual(['license.expiring abandoned', 'license.expiring delivered'])
  expect(sent.flatMap(({ to, subject }) => (subject.includes('expires') ? [to.email] : []))).toStrictEqual([
    'ended@example.com',
  ])
})
