/**
 * Guarantee: of a license with named seats, a device is valid only with the key of the person who has the seat, and no longer than they
 * have it: until it is taken away, they leave the organization, or the license goes to another customer.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { formOrganization, removePerson } from '../../../src/commands/organizations/people.ts'
import { causeOf } from '../../../src/commands/origin.ts'
import { customers } from '../../../src/domain/customers/customer.ts'
import { customerStream } from '../../../src/domain/streams.ts'
import { followPeople } from '../../../src/reactions/person-seats.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { eventsIn, origin } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeCustomer, makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let app: App
let customerId: string
let people: string[]
let license: { id: string; licenseKey: string }
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [
      {
        ...{ name: 'Team', keyTypeId: 'team', deviceLimit: 2, seatPolicy: 'named', entitlements: ['export'] },
        namedSeats: { devicesPerPerson: 1, reassignEveryDays: 30 },
      },
      { name: 'Fixed', keyTypeId: 'fixed', deviceLimit: 2 },
    ],
  })
  const place = { tenantId: tenant.tenantId, productId: 'editor' }
  app = appOf(api.ask, place, await sdkKeyOf(api.ledger, tenant.tenantId))
})
afterAll(() => api.close())
let number = 0
beforeEach(async () => {
  number += 1
  const email = (name: string) => `${name}${number}@example.com`
  customerId = await makeCustomer(api.ask, tenant.token, { email: email('ada') })
  await formOrganization(api.ledger.ports, { tenantId: tenant.tenantId, customerId }, origin)
  const added = await call('POST', `/v1/customers/${customerId}/people`, {
    people: ['bob', 'cleo', 'dan'].map((name) => ({ email: email(name) })),
    invite: false,
  })
  people = z
    .object({ people: z.array(z.object({ id: z.string() })) })
    .parse(added.body)
    .people.map(({ id }) => id)
  license = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'team', customerId })
})

const call = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Answer> =>
  api.ask(method, path, { token: tenant.token, ...(body && { body }) })
const path = (rest = '') => `/v1/licenses/${license.id}/people${rest}`
const person = (at: number) => people[at] ?? ''
const Assigned = z.object({
  licenseKey: z.string(),
  seat: z.object({ id: z.string(), displayKey: z.string() }),
})
const assign = async (at: number) =>
  Assigned.parse((await call('POST', path(), { personId: person(at) })).body).licenseKey
const runtime = (what: 'activate' | 'deactivate' | 'validate', key: string, device?: string) =>
  call('POST', `/v1/licenses/${what}`, {
    product_id: 'editor',
    license_key: key,
    ...(device && { device_id: device }),
  })
const reasonOf = ({ body }: Answer) =>
  z.object({ status: z.string(), reason: z.string().optional() }).parse(body)
const ofAnother = { status: 'inactive', reason: 'assigned_to_another' }

describe('a person with a seat', () => {
  test('activates devices with a key of their own, and no one else can use them', async () => {
    const [bob, cleo] = [await assign(0), await assign(1)]
    expect(bob).not.toBe(cleo)
    expect(bob).not.toBe(license.licenseKey)
    expect((await runtime('activate', bob, 'mac')).body).toMatchObject({
      activated: true,
      entitlements: ['export'],
    })
    expect((await runtime('validate', bob, 'mac')).body).toMatchObject({ valid: true })
    expect((await runtime('validate', bob)).body).toMatchObject({ valid: true })
    for (const key of [cleo, license.licenseKey]) {
      expect(reasonOf(await runtime('validate', key, 'mac'))).toStrictEqual(ofAnother)
      expect(reasonOf(await runtime('activate', key, 'mac'))).toStrictEqual(ofAnother)
    }
    for (const key of [cleo, license.licenseKey])
      expect((await runtime('deactivate', key, 'mac')).body).toStrictEqual({
        deactivated: false,
        reason: 'assigned_to_another',
      })
    expect((await runtime('validate', bob, 'mac')).body).toMatchObject({ valid: true })
    expect(reasonOf(await runtime('activate', bob, 'pad')).reason).toBe('seat_limit_reached')
    const shown = await call('GET', `/v1/licenses/${license.id}`)
    expect(shown.body).toMatchObject({ license: { seatPolicy: 'named', seatsUsed: 2, deviceLimit: 2 } })
  })

  test('activates an app, whose seat nobody else gets by the name of the machine', async () => {
    const [bob, cleo] = [await assign(0), await assign(1)]
    const machine = { instance_name: 'MacBook', machine_hash: 'the-machine-number-1' }
    const first = await app.post('activate', { license_key: bob, ...machine })
    const { instance_id } = z.object({ instance_id: z.string() }).parse(first.body)
    const again = await app.post('activate', { license_key: bob, ...machine })
    expect(again.body).toMatchObject({ instance_id })
    const other = await app.post('activate', { license_key: cleo, ...machine })
    expect(other).toMatchObject({ status: 200 })
    expect(other.body).not.toMatchObject({ instance_id })
    expect(await app.post('validate', { license_key: bob, instance_id })).toMatchObject({ status: 200 })
    for (const license_key of [cleo, license.licenseKey])
      expect(await app.post('validate', { license_key, instance_id })).toMatchObject({
        status: 422,
        body: { reason: 'assigned_to_another' },
      })
    for (const license_key of [cleo, license.licenseKey])
      expect(await app.post('deactivate', { license_key, instance_id })).toMatchObject({
        status: 422,
        body: { reason: 'assigned_to_another' },
      })
    expect(await app.post('activate', { license_key: license.licenseKey, ...machine })).toMatchObject({
      status: 422,
      body: { reason: 'assigned_to_another' },
    })
  })

  test('keeps the seat and the key, however often it is given', async () => {
    const bob = await assign(0)
    expect(await assign(0)).toBe(bob)
    const listed = await call('GET', path())
    expect(listed.body).toMatchObject({
      items: [{ id: person(0), email: `bob${number}@example.com`, devices: [] }],
    })
    expect(listed.text).not.toContain(bob)
  })

  test('gets a new key, and the old one is answered like that of a license with a new key', async () => {
    const bob = await assign(0)
    await runtime('activate', bob, 'mac')
    const replaced = Assigned.parse((await call('POST', path(`/${person(0)}/key`), {})).body).licenseKey
    expect(reasonOf(await runtime('validate', bob, 'mac')).status).toBe('reminted')
    expect((await runtime('validate', replaced, 'mac')).body).toMatchObject({ valid: true })
  })
})

describe('a seat that is lost', () => {
  test('is free at once, and waits for the customer alone', async () => {
    const bob = await assign(0)
    await runtime('activate', bob, 'mac')
    expect(await call('DELETE', path(`/${person(0)}`))).toMatchObject({ body: { unassigned: true } })
    expect(await call('DELETE', path(`/${person(0)}`))).toMatchObject({ status: 200 })
    for (const device of ['mac', undefined])
      expect(reasonOf(await runtime('validate', bob, device))).toStrictEqual(ofAnother)
    expect(reasonOf(await runtime('activate', bob, 'mac'))).toStrictEqual(ofAnother)
    for (const at of [1, 2]) await assign(at)
    const third = await call('POST', path(), { personId: person(0) })
    expect(third).toMatchObject({ status: 409 })
    expect(third.headers['error-code']).toBe('seat_limit_reached')
  })

  test('because its person was removed from the organization, with the answer to the removal', async () => {
    const bob = await assign(0)
    await runtime('activate', bob, 'mac')
    expect(await call('DELETE', `/v1/customers/${customerId}/people/${person(0)}`)).toMatchObject({
      status: 200,
    })
    expect(reasonOf(await runtime('validate', bob, 'mac'))).toStrictEqual(ofAnother)
    expect((await call('GET', `/v1/licenses/${license.id}`)).body).toMatchObject({
      license: { seatsUsed: 0 },
    })
  })

  test('because the organization was dissolved', async () => {
    const bob = await assign(0)
    await call('DELETE', `/v1/customers/${customerId}/organization`)
    expect(reasonOf(await runtime('validate', bob))).toStrictEqual(ofAnother)
  })

  test('after a crash between the removal and the license: a reaction frees it', async () => {
    const bob = await assign(0)
    await runtime('activate', bob, 'mac')
    const at = api.ledger.clock.now().toISOString()
    const command = { type: 'RemovePerson', personId: person(0), at } as const
    await api.ledger.ports.execute(customers, customerId, command, causeOf(origin, at))
    expect((await runtime('validate', bob, 'mac')).body).toMatchObject({ valid: true })
    await poll()
    expect(reasonOf(await runtime('validate', bob, 'mac'))).toStrictEqual(ofAnother)
  })

  test('because the license went to another customer', async () => {
    const bob = await assign(0)
    await call('POST', `/v1/customers/${customerId}/unlink-license`, { licenseId: license.id })
    await poll()
    expect(reasonOf(await runtime('validate', bob))).toStrictEqual(ofAnother)
  })

  test('is not taken from those who are still there', async () => {
    const bob = await assign(0)
    await poll()
    expect((await runtime('validate', bob)).body).toMatchObject({ valid: true })
  })

  test('and so is one that was given while its person was removed', async () => {
    const place = { tenantId: tenant.tenantId, customerId }
    const [assigned] = await Promise.all([
      call('POST', path(), { personId: person(0) }),
      removePerson(api.ledger.ports, place, person(0), origin),
    ])
    expect([200, 404]).toContain(assigned.status)
    expect((await call('GET', path())).body).toMatchObject({ items: [] })
    expect((await call('GET', `/v1/licenses/${license.id}`)).body).toMatchObject({
      license: { seatsUsed: 0 },
    })
  })
})

/** What the reactions do, with a failure as a failure of the test. */
const poll = () =>
  followPeople(api.ledger.ports, ({ error }) => {
    throw error
  }).poll()

test('what is refused says what to do', async () => {
  const refusal = async (method: 'POST' | 'DELETE', at: string, body?: object) => {
    const { status, headers } = await call(method, at, body)
    return [status, headers['error-code']]
  }
  const own = license
  const fixed = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'fixed', customerId })
  license = fixed
  expect(await refusal('POST', path(), { personId: person(0) })).toStrictEqual([409, 'seats_not_named'])
  expect(await refusal('DELETE', path(`/${person(0)}`))).toStrictEqual([409, 'seats_not_named'])
  license = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'team' })
  expect(await refusal('POST', path(), { personId: person(0) })).toStrictEqual([409, 'not_an_organization'])
  license = own
  expect(await refusal('POST', path(), { personId: 'per_none' })).toStrictEqual([404, 'person_not_found'])
  expect(await refusal('POST', path(`/${person(0)}/key`), {})).toStrictEqual([404, 'person_without_seat'])
})

test('the key of a person is in no event', async () => {
  const bob = await assign(0)
  const events = await eventsIn(api.ledger.ports.ledger, `license-${license.id}`)
  expect(
    JSON.stringify(events, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  ).not.toContain(bob.slice(5, 20))
  expect(await eventsIn(api.ledger.ports.ledger, customerStream(customerId))).not.toHaveLength(0)
})

test('policies that contradict each other are refused', async () => {
  const send = (fields: object) =>
    call('POST', '/v1/products/editor/key-types', { name: `Other ${number}`, keyTypeId: 'other', ...fields })
  const namedSeats = { devicesPerPerson: 1, reassignEveryDays: 0 }
  const floatingSeats = { seatSeconds: 600, overdraft: null, scope: 'device' }
  for (const fields of [
    { seatPolicy: 'named' },
    { seatPolicy: 'device', namedSeats },
    { seatPolicy: 'floating', floatingSeats, namedSeats },
    { seatPolicy: 'named', namedSeats, floatingSeats },
    { namedSeats, floatingSeats },
  ])
    expect(await send(fields)).toMatchObject({ status: 400 })
  expect(await send({ namedSeats })).toMatchObject({
    status: 201,
    body: { created: { seatPolicy: 'named' } },
  })
  const changed = await api.ask('PATCH', '/v1/products/editor/key-types/other', {
    token: tenant.token,
    body: { floatingSeats },
  })
  expect(changed.body).toMatchObject({ updated: { seatPolicy: 'floating' } })
  expect(changed.body).not.toHaveProperty('updated.namedSeats')
})
