/**
 * Guarantee: support changes a license where it sees the problem, by the rules of the API, once for a form that is sent
 * twice; the reason stands in the license's history.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Mailer } from '../../src/mail/mailer.ts'
import { createClient, memoryStorage } from '../../src/sdk/javascript/app/index.ts'
import type { Keyset } from '../../src/sdk/javascript/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let support: Client
let auditor: Client
beforeAll(async () => {
  const mailer: Mailer = { send: () => Promise.reject(new Error('nothing is sent here')), async close() {} }
  const from = { name: null, email: 'licenses@keyledger.example' }
  api = await openTestApi({ mailing: { mailer, mailbox: undefined, from } })
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [
      { name: 'Pro', keyTypeId: 'pro', deviceLimit: 2, sellInMultiples: true },
      { name: 'Team', keyTypeId: 'team', deviceLimit: 5 },
    ],
  })
  support = clientOf(api.app)
  await support.signIn(await makeMember(api.ledger, tenant.tenantId, 'support'))
  auditor = clientOf(api.app, '192.0.2.4')
  await auditor.signIn(await makeMember(api.ledger, tenant.tenantId, 'auditor'))
})
afterAll(() => api.close())

const make = (fields = {}) => mint(api.ask, tenant.token, 'editor', fields)
const pathOf = (id: string) => `/dashboard/licenses/${id}`
const page = async (id: string) => wordsOf(await support.get(pathOf(id)))
const runtime = (call: string, license_key: string, device_id: string) =>
  api.ask('POST', `/v1/licenses/${call}`, {
    token: tenant.token,
    body: { product_id: 'editor', license_key, device_id },
  })
const read = async (id: string) => {
  const { body } = await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })
  return (body as { license: Record<string, unknown> }).license
}
/** Opens a change's form, fills it in and sends it. */
async function change(id: string, name: string, filled: Record<string, string> = {}, query = '') {
  const form = await support.get(`${pathOf(id)}/change/${name}${query}`)
  expect(form.status).toBe(200)
  const fields = { ...fieldsOf(form), ...filled }
  return { fields, seen: await support.post(`${pathOf(id)}/change/${name}`, fields) }
}

test('a license is suspended and resumed, and its page says so and why', async () => {
  const { id, licenseKey } = await make()
  expect((await change(id, 'suspend', { reason: 'invoice is unpaid' })).seen).toMatchObject({
    status: 303,
    location: pathOf(id),
  })
  expect((await runtime('validate', licenseKey, 'laptop')).body).toMatchObject({ reason: 'suspended' })
  const text = await page(id)
  expect(text).toMatch(/Would it validate now\? No inactive Denied: suspended on .*: invoice is unpaid\./)
  expect(text).toMatch(/Suspended: invoice is unpaid by support[\w-]*@example\.com Status active → suspended/)
  expect(text).not.toContain('Suspend ')
  await change(id, 'resume', { reason: 'paid' })
  expect(await page(id)).toMatch(/Would it validate now\? .* Resumed: paid/)
})

test('a new key is mailed to the holder, whom the license must have', async () => {
  const { id } = await make()
  const { seen } = await change(id, 'new-key', { sendKey: 'on' })
  expect(seen.status).toBe(422)
  expect(wordsOf(seen)).toContain('The license has no email address.')
  const held = await make({ email: 'ada@example.com' })
  expect((await change(held.id, 'new-key', { sendKey: 'on' })).seen.status).toBe(200)
  expect(await page(held.id)).toContain('Key email requested')
})

describe('the license file of a device without a network', () => {
  const machine = async () => {
    const { tenantId } = tenant
    const { body } = await api.ask('GET', `/${tenantId}/.well-known/service-keys`)
    return createClient({
      tenantId,
      productId: 'mill',
      keys: (body as Keyset).keys,
      storage: memoryStorage(),
      identity: () => ({ machineHash: Buffer.from('a hash of a mill').toString('base64url') }),
      deviceName: 'Mill 3',
      clock: { now: () => api.ledger.clock.now().getTime(), after: () => () => undefined },
    })
  }
  beforeAll(() =>
    makeProduct(api.ask, tenant.token, 'mill', {
      keyTypes: [{ name: 'Mill', keyTypeId: 'mill', offlineFiles: { maxDays: 30, perSeatPerYear: 4 } }],
    }),
  )

  test('is made from its request, keeps the seat taken, and is taken back with its release', async () => {
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'mill')
    const mill = await machine()
    expect(await page(id)).toContain('License file')
    const wrong = await change(id, 'license-file', { request: 'hello' })
    expect(wrong.seen.status).toBe(422)
    expect(wordsOf(wrong.seen)).toContain('This is no request for this product.')
    const { text } = await mill.createOfflineRequest(licenseKey)
    expect(wordsOf((await change(id, 'license-file', { request: text, days: '31' })).seen)).toContain(
      'The key type does not allow so many days.',
    )
    const { seen } = await change(id, 'license-file', { request: text, days: '30', reason: 'a workshop' })
    expect(wordsOf(seen)).toContain('For Mill 3, good until')
    const [file = ''] =
      /-----BEGIN KEYLEDGER LICENSE[\s\S]*?-----END KEYLEDGER LICENSE-----/.exec(seen.text) ?? []
    expect(await mill.importLicense(file)).toMatchObject({ ok: true })
    expect(await page(id)).toMatch(/License file until .* Reason: a workshop/)
    const { devices } = (await read(id)) as { devices: { deviceId: string }[] }
    const freed = await change(id, 'free-seat', { device: devices[0]?.deviceId ?? '' })
    expect(wordsOf(freed.seen)).toContain('This device has a license file')
    const release = await mill.release()
    expect((await change(id, 'release-file', { release: release?.text ?? '' })).seen.status).toBe(303)
    expect(await read(id)).toMatchObject({ seatsUsed: 0 })
    expect(await page(id)).toContain('gave its license file back')
  })

  test('is offered only where the key type allows it', async () => {
    expect(await page((await make()).id)).not.toContain('License file')
  })
})

describe('the key of a license', () => {
  const ada = { email: 'ada@example.com' }
  beforeAll(() => makeProduct(api.ask, tenant.token, 'keeper', { keyRecovery: true }))

  test('is sent again from its page with a reason, and shown nowhere', async () => {
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'keeper', ada)
    expect(await page(id)).toMatch(/Send the key Send a new key/)
    const { seen } = await change(id, 'send-key', { reason: 'the mail was lost' })
    expect(seen).toMatchObject({ status: 303, location: pathOf(id) })
    const { text } = await support.get(pathOf(id))
    expect(text).toContain('Key email requested')
    expect(text).toContain('the mail was lost')
    expect(text).not.toContain(licenseKey)
    const again = await change(id, 'send-key')
    expect(again.seen.status).toBe(422)
    expect(wordsOf(again.seen)).toContain('The key was mailed less than 5 minutes ago.')
    api.ledger.clock.advance(300_000)
    const fields = fieldsOf(again.seen)
    expect((await support.post(`${pathOf(id)}/change/send-key`, fields)).status).toBe(303)
  })

  test('is not offered where it cannot be sent, and a form says what to do', async () => {
    const unkept = await make(ada)
    const unaddressed = await mint(api.ask, tenant.token, 'keeper')
    for (const { id } of [unkept, unaddressed]) expect(await page(id)).not.toContain('Send the key')
    expect(wordsOf((await change(unkept.id, 'send-key')).seen)).toContain(
      'This product does not keep license keys. Send a new key instead.',
    )
    expect(wordsOf((await change(unaddressed.id, 'send-key')).seen)).toContain(
      'The license has no email address.',
    )
  })
})

test('an expiry is extended to the end of a day, which must be ahead', async () => {
  const { id } = await make({
    expiresAt: new Date(api.ledger.clock.now().getTime() + 86_400_000).toISOString(),
  })
  const past = await change(id, 'extend', { expiresOn: '2020-01-01', reason: 'a favor' })
  expect(past.seen.status).toBe(422)
  expect(wordsOf(past.seen)).toContain('Enter a day in the future.')
  expect(fieldsOf(past.seen)).toMatchObject({ expiresOn: '2020-01-01', reason: 'a favor' })
  expect((await change(id, 'extend', { expiresOn: '' })).seen.status).toBe(422)
  expect((await change(id, 'extend', { expiresOn: '2040-02-29', reason: 'a favor' })).seen.status).toBe(303)
  expect(await read(id)).toMatchObject({ expiresAt: '2040-02-29T23:59:59.000Z' })
  expect(await page(id)).toContain('Edited: a favor')
})

describe('the form of a license', () => {
  test('changes what was changed, and keeps the rest', async () => {
    const { id } = await make({
      email: 'ada@example.com',
      name: 'Ada',
      metadata: { order: 'A-1', note: 'x' },
    })
    const before = await read(id)
    expect((await change(id, 'edit')).seen.status).toBe(303)
    expect(await read(id)).toStrictEqual(before)
    expect(await page(id)).not.toContain('Edited')
    const { seen } = await change(id, 'edit', {
      email: 'bob@example.com',
      quantity: '3',
      expiry: 'day',
      expiresOn: '2041-01-31',
      metadata: 'order: A-2',
      reason: 'a new owner',
    })
    expect(seen.status).toBe(303)
    expect(wordsOf(await support.get(`${pathOf(id)}/change/edit`))).toContain('As now: 2041-01-31')
    expect(await read(id)).toMatchObject({
      email: 'bob@example.com',
      quantity: 3,
      deviceLimit: 6,
      expiresAt: '2041-01-31T23:59:59.000Z',
      metadata: { order: 'A-2' },
    })
    expect(await page(id)).toMatch(
      /Edited: a new owner .* Quantity 1 → 3 .* Email address ada@example\.com → bob@example\.com/,
    )
  })

  test('says beside each field what is wrong, and keeps what was typed', async () => {
    const { id } = await make()
    const { seen } = await change(id, 'edit', {
      name: 'Ada',
      quantity: '0',
      expiry: 'day',
      deviceLimit: 'many',
    })
    expect(seen.status).toBe(422)
    const text = wordsOf(seen)
    expect(text).toContain('Enter a whole number from 1 to 100,000.')
    expect(text).toContain('“unlimited”')
    const refused = await change(id, 'edit', { keyTypeId: 'team', quantity: '2' })
    expect(refused.seen.status).toBe(422)
    expect(wordsOf(refused.seen)).toContain('This key type is not sold in multiples. Enter 1.')
    expect(fieldsOf(refused.seen)).toMatchObject({ keyTypeId: 'team', quantity: '2' })
  })

  test('hides metadata that its lines could not hold, and keeps it', async () => {
    const metadata = { 'a:b': 'two\nlines' }
    const { id } = await make({ metadata })
    const { fields } = await change(id, 'edit', { quantity: '2' })
    expect(fields).not.toHaveProperty('metadata.a:b')
    expect(await read(id)).toMatchObject({ quantity: 2, metadata })
  })
})

test('a seat is freed where the limit was reached', async () => {
  const { id, licenseKey } = await make({ deviceLimit: 1 })
  await runtime('activate', licenseKey, 'laptop')
  const full = await support.get(pathOf(id))
  expect(full.text).toContain(`${pathOf(id)}/change/free-seat?device=laptop`)
  expect(wordsOf(full)).toContain('Raise the device limit')
  const { seen } = await change(id, 'free-seat', { reason: 'lost laptop' }, '?device=laptop')
  expect(seen.status).toBe(303)
  expect((await runtime('activate', licenseKey, 'desktop')).body).toMatchObject({ activated: true })
  expect(await page(id)).toMatch(/Reason: lost laptop .* “laptop” deactivated/)
  expect((await change(id, 'free-seat', { device: 'phone' })).seen.status).toBe(422)
})

test('a new key is shown once, the same for a form that is sent twice', async () => {
  const { id, licenseKey } = await make()
  const { fields, seen } = await change(id, 'new-key', { reason: 'the key leaked' })
  const keyIn = (text: string) => /id="secret"[^>]*value="([^"]+)"/.exec(text)?.[1] ?? ''
  expect(seen.status).toBe(200)
  const again = await support.post(`${pathOf(id)}/change/new-key`, fields)
  expect(keyIn(again.text)).toBe(keyIn(seen.text))
  expect(keyIn(seen.text)).not.toBe(licenseKey)
  expect((await runtime('validate', licenseKey, 'laptop')).body).toMatchObject({ status: 'reminted' })
  expect((await runtime('activate', keyIn(seen.text), 'laptop')).body).toMatchObject({ activated: true })
  expect(await page(id)).toMatch(/Reason: the key leaked .* Reminted; its devices kept their seats/)
  expect((await support.get(pathOf(id))).text).not.toContain(keyIn(seen.text))
})

test('a customer is linked once and for good', async () => {
  const { id } = await make()
  const unknown = await change(id, 'link-customer', { customerId: 'cus_none' })
  expect(unknown.seen.status).toBe(422)
  expect(wordsOf(unknown.seen)).toContain('There is no customer with this ID.')
  const [customer, other] = [
    await makeCustomer(api.ask, tenant.token, { email: 'mary@lovelace.example', name: 'Mary Lovelace' }),
    await makeCustomer(api.ask, tenant.token, { email: 'martha@lovelace.example' }),
  ]
  const several = await change(id, 'link-customer', { customerId: 'lovelace' })
  expect(several.seen.status).toBe(422)
  for (const one of [customer, other]) expect(several.seen.text).toContain(`value="${one}"`)
  const { seen } = await change(id, 'link-customer', { customerId: 'mary love', reason: 'asked by mail' })
  expect(seen.status).toBe(303)
  expect(await read(id)).toMatchObject({ customerId: customer })
  expect((await support.get(pathOf(id))).text).not.toContain('/change/link-customer')
})

test('another workspace, an unknown change and a role without the permission get nothing', async () => {
  const { id } = await make()
  const other = await makeTenant(api.ledger)
  const stranger = clientOf(api.app, '192.0.2.5')
  await stranger.signIn(await makeMember(api.ledger, other.tenantId, 'owner'))
  for (const name of ['suspend', 'edit', 'new-key', 'send-key']) {
    expect((await stranger.get(`${pathOf(id)}/change/${name}`)).status).toBe(404)
    expect((await auditor.get(`${pathOf(id)}/change/${name}`)).status).toBe(403)
  }
  expect((await support.get(`${pathOf(id)}/change/delete`)).status).toBe(404)
  expect((await auditor.get(pathOf(id))).text).not.toContain('/change/')
})

test('the page shows the answers, the changes, the seats and the history first, and the past collapsed', async () => {
  const { id } = await make()
  const { text } = await support.get(pathOf(id))
  const places = [
    'Would it validate now',
    'Change this license',
    '<h2>Seats',
    '<h2>History',
    'Point in time',
  ].map((part) => text.indexOf(part))
  expect(places).toStrictEqual(places.toSorted((left, right) => left - right))
  expect(places).not.toContain(-1)
  expect(text).toMatch(/<details class="part">\s*<summary>Point in time/)
  expect((await support.get(`${pathOf(id)}?asOf=0`)).text).toMatch(
    /<details class="part" open>\s*<summary>Point in time/,
  )
})
