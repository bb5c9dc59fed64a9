/**
 * Guarantee: the holder of a license is told by mail of a new device and of the last seat where the product says so, at most once in an
 * hour each; and a person who is given a seat is told where their key is. Who has no address, no seat any more, or was told already,
 * gets nothing.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { makeTenant, type TestApi, type TestTenant } from '../harness/api.ts'
import { beginning } from '../harness/ledger.ts'
import { openMailingApi, refused, taken } from '../harness/mailing.ts'
import { makeProduct, mint } from '../http/samples.ts'

const mailing = openMailingApi()
const { accepted: sent } = mailing
let api: TestApi
let tenant: TestTenant
beforeAll(() => {
  api = mailing.api
})
const namedSeats = { devicesPerPerson: 1, reassignEveryDays: 0 }
beforeEach(async () => {
  sent.length = 0
  mailing.sent.length = 0
  mailing.answer = () => taken
  api.ledger.clock.set(beginning)
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [
      { name: 'Two', deviceLimit: 2 },
      { name: 'One', deviceLimit: 1 },
      {
        name: 'Floating',
        deviceLimit: 1,
        seatPolicy: 'floating',
        floatingSeats: { seatSeconds: 600, overdraft: null, scope: 'device' },
      },
      { name: 'Team', deviceLimit: 2, seatPolicy: 'named', namedSeats },
    ],
    deviceMails: ['seats_full', 'new_device'],
  })
})

const send = (method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: object) =>
  api.ask(method, path, { token: tenant.token, ...(body && { body }) })
const license = (keyTypeId: string, fields: object = { email: 'ada@example.com', name: 'Ada' }) =>
  mint(api.ask, tenant.token, 'editor', { keyTypeId, ...fields })
const call = (name: 'activate' | 'deactivate', license_key: string, device_id: string) =>
  send('POST', `/v1/licenses/${name}`, { product_id: 'editor', license_key, device_id })
const mailed = () => sent.map(({ to, subject }) => `${to.email}: ${subject}`)
async function statuses(): Promise<string[]> {
  const all = { after: undefined, limit: 100 }
  const { items } = await listDeliveries(api.ledger.db, tenant.tenantId, { channel: 'mail' }, all)
  return items.map(({ event, status }) => `${event} ${status}`).sort()
}
const refusedSoFar = () => mailing.sent.length - sent.length

/** The mail server refuses what is sent while `act` runs, and takes what is tried again two minutes later. */
async function atFirstRefused(act: () => Promise<void>): Promise<void> {
  mailing.answer = () => refused
  await act()
  mailing.answer = () => taken
  api.ledger.clock.set(inMinutes(2))
}
const inMinutes = (minutes: number) => new Date(Date.parse(beginning) + minutes * 60_000).toISOString()

const newDevice = 'ada@example.com: A new device uses your license for Acme Editor'
const full = 'ada@example.com: All seats of your license for Acme Editor are taken'

test('a new device is told, then that the last seat is taken, each once in an hour', async () => {
  const { licenseKey } = await license('two')
  await call('activate', licenseKey, 'laptop')
  await call('activate', licenseKey, 'laptop')
  await expect.poll(mailed).toStrictEqual([newDevice])
  expect(sent[0]?.text).toContain('The device “laptop” was added to your license for Acme Editor (Two)')
  await call('activate', licenseKey, 'desktop')
  await expect.poll(mailed).toStrictEqual([newDevice, full])
  expect(sent[1]?.text).toContain('All 2 seats of your license for Acme Editor (Two) are taken.')
  await call('deactivate', licenseKey, 'desktop')
  await call('activate', licenseKey, 'tablet')
  const before = ['license.activated delivered', 'license.activated delivered']
  await expect.poll(statuses).toStrictEqual(['license.activated abandoned', ...before])
  await call('deactivate', licenseKey, 'tablet')
  api.ledger.clock.set(inMinutes(61))
  await call('activate', licenseKey, 'phone')
  await expect.poll(mailed).toStrictEqual([newDevice, full, full])
})

test('of the only seat of a license, only the new device is told', async () => {
  const { licenseKey } = await license('one')
  await call('activate', licenseKey, 'laptop')
  await expect.poll(mailed).toStrictEqual([newDevice])
})

test('where seats float, it is told that none is left, and of no device', async () => {
  const { licenseKey } = await license('floating')
  await call('activate', licenseKey, 'laptop')
  await call('activate', licenseKey, 'desktop')
  await expect.poll(mailed).toStrictEqual([full])
  await call('activate', licenseKey, 'tablet')
  expect(await statuses()).toStrictEqual(['license.seats_exhausted delivered'])
})

test('nothing is mailed without an address or the setting, nor of a seat that is free again', async () => {
  const { licenseKey } = await license('two', {})
  await call('activate', licenseKey, 'laptop')
  expect(await statuses()).toStrictEqual([])
  await send('PATCH', '/v1/products/editor', { deviceMails: ['seats_full'] })
  const { licenseKey: ofAda } = await license('two')
  await call('activate', ofAda, 'laptop')
  expect(await statuses()).toStrictEqual([])
  await atFirstRefused(async () => {
    await call('activate', ofAda, 'desktop')
    await expect.poll(refusedSoFar).toBe(1)
    await call('deactivate', ofAda, 'desktop')
  })
  await expect.poll(statuses).toStrictEqual(['license.activated abandoned'])
  await send('PATCH', '/v1/products/editor', { deviceMails: null })
  const other = await license('two')
  await call('activate', other.licenseKey, 'laptop')
  expect(sent).toStrictEqual([])
})

test('a set of mails is kept in one order, and an unknown one is refused', async () => {
  const { body } = await send('GET', '/v1/products/editor')
  expect(body).toMatchObject({ product: { settings: { deviceMails: ['new_device', 'seats_full'] } } })
  for (const deviceMails of [[], ['lost'], 'seats_full'])
    expect((await send('PATCH', '/v1/products/editor', { deviceMails })).status).toBe(400)
})

const Customer = z.object({ customer: z.object({ id: z.string() }) })
const Added = z.object({ people: z.array(z.object({ id: z.string() })) })

test('a person who is given a seat is told where their key is, while the portal is open and they have the seat', async () => {
  const { body } = await send('POST', '/v1/customers', { email: 'boss@example.com' })
  const { id: customerId } = Customer.parse(body).customer
  await send('POST', `/v1/customers/${customerId}/organization`)
  const people = ['bob', 'cleo'].map((name) => ({ email: `${name}@example.com`, name }))
  const added = await send('POST', `/v1/customers/${customerId}/people`, { people, invite: false })
  const [bob, cleo] = Added.parse(added.body).people
  const { id } = await license('team', { customerId })
  const give = (personId: string | undefined) =>
    send('POST', `/v1/licenses/${id}/people`, { personId }).then(({ status }) => expect(status).toBe(200))
  await give(cleo?.id)
  await expect.poll(statuses).toStrictEqual(['license.seat_assigned abandoned'])
  await send('PUT', '/v1/portal', { enabled: true })
  await give(bob?.id)
  await expect.poll(mailed).toStrictEqual(['bob@example.com: You have a seat of Acme Editor'])
  const [mail] = sent
  expect(mail?.text).toContain('Hello bob,\n\nYou have been given a seat of Acme Editor (Team).')
  expect(mail?.text).toContain('https://keys.acme.example/portal/')
  await atFirstRefused(async () => {
    await send('DELETE', `/v1/licenses/${id}/people/${cleo?.id}`)
    await give(cleo?.id)
    await expect.poll(refusedSoFar).toBe(1)
    await send('DELETE', `/v1/customers/${customerId}/people/${cleo?.id}`)
  })
  await expect
    .poll(statuses)
    .toStrictEqual([
      'license.seat_assigned abandoned',
      'license.seat_assigned abandoned',
      'license.seat_assigned delivered',
    ])
})
