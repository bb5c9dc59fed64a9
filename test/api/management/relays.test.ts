/**
 * Guarantee: a relay is certified for seats of its license that no one else gets, by what its own key signs; the same request gets
 * the same certificate, also after a crash between its writes, and what it reports of its usage counts once.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readCertificate } from '../../../src/signing/certificate.ts'
import { timeOf } from '../../../src/signing/paseto.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { eventsIn } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'
import { type Minute, type TestRelay, testRelay } from '../../signing/test-relay.ts'

let api: TestApi
let tenant: TestTenant
let app: App
let place: { tenantId: string; productId: string }
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const seats = { seatSeconds: 600, overdraft: { seats: 1 }, scope: 'device', relays: { maxDays: 30 } }
  await makeProduct(api.ask, tenant.token, 'editor', {
    trialDurationDays: 14,
    keyTypes: [
      {
        name: 'Team',
        keyTypeId: 'team',
        deviceLimit: 4,
        entitlements: ['export'],
        seatPolicy: 'floating',
        floatingSeats: seats,
      },
      {
        name: 'Month',
        keyTypeId: 'month',
        deviceLimit: 4,
        duration: { count: 10, unit: 'day' },
        seatPolicy: 'floating',
        floatingSeats: seats,
      },
      {
        name: 'Without',
        keyTypeId: 'without',
        deviceLimit: 4,
        seatPolicy: 'floating',
        floatingSeats: { seatSeconds: 600, overdraft: null, scope: 'device' },
      },
      { name: 'Fixed', keyTypeId: 'fixed', deviceLimit: 4 },
    ],
  })
  place = { tenantId: tenant.tenantId, productId: 'editor' }
  app = appOf(api.ask, place, await sdkKeyOf(api.ledger, tenant.tenantId))
})
afterAll(() => api.close())

const now = () => api.ledger.clock.now().getTime()
const day = 86_400_000
const make = (keyTypeId = 'team') => mint(api.ask, tenant.token, 'editor', { keyTypeId })
const call = (method: 'GET' | 'POST', path: string, body?: object, token = tenant.token) =>
  api.ask(method, `/v1/licenses/${path}`, { token, body })
const ask = (id: string, request: string, more: object = {}) =>
  call('POST', `${id}/relays`, { request, ...more })
const giveBack = (id: string, release: string) => call('POST', `${id}/relays/release`, { release })

const Certified = z.object({
  relay: z.looseObject({ relayId: z.string(), seats: z.int(), endsAt: z.string() }),
  answer: z.looseObject({ certificate: z.string(), keys: z.record(z.string(), z.string()) }),
})
const made = ({ status, body }: Answer) => {
  expect({ status, body }).toMatchObject({ status: 201 })
  return Certified.parse(body)
}
/** Enrolls or renews, and the relay takes the answer. */
async function certified(id: string, relay: TestRelay, more: object = {}) {
  const { relay: shown, answer } = made(await ask(id, relay.request(), more))
  relay.take(shown.relayId)
  return { ...shown, answer }
}
const relaysOf = async (id: string) =>
  z
    .object({ relays: z.array(z.looseObject({ state: z.string(), seatsTaken: z.int() })) })
    .parse((await call('GET', `${id}/relays`)).body).relays
const typesOf = async (id: string) =>
  (await eventsIn(api.ledger.ports.ledger, `license-${id}`)).flatMap((entry) =>
    entry.readable ? [entry.event.type] : [],
  )
const activate = (licenseKey: string, name: string) =>
  app.post('activate', { license_key: licenseKey, instance_name: name, free_tier_instance_id: name })
const reported = async (id: string): Promise<Minute[]> => {
  const { rows } = await api.ledger.ports.db.query<{ reported: Minute }>(
    `select json_build_array(minute, peak, taken, denied) as reported
     from usage.relay_minutes where license_id = $1 order by minute`,
    [id],
  )
  return rows.map((row) => row.reported)
}

describe('a relay', () => {
  test('is enrolled with a certificate for its key, renewed, and gives its seats back', async () => {
    const { id, licenseKey } = await make()
    const relay = testRelay(place, licenseKey, { seats: 3 })
    const request = relay.request()
    const first = made(await ask(id, request))
    const { certificate, keys } = first.answer
    expect(readCertificate(certificate, keys, place)).toStrictEqual({
      iat: timeOf(now() / 1000),
      nbf: timeOf((now() - day) / 1000),
      exp: timeOf((now() + 30 * day) / 1000),
      serial: expect.any(Number) as unknown,
      nonce: expect.any(String) as unknown,
      relay_id: first.relay.relayId,
      pk: relay.publicKey,
      license_id: id,
      license_key_hash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
      seats: 3,
      seat_seconds: 600,
      scope: 'device',
      status: 'active',
      entitlements: { export: true },
      license_expires_at: null,
    })
    expect(first.answer).toMatchObject({
      settings: { trial_duration_days: 14, signature: expect.any(String) as unknown },
      product: { ...place, name: 'Acme Editor' },
    })
    api.ledger.clock.advance(1000)
    expect(made(await ask(id, request)).answer.certificate).toBe(certificate)
    relay.take(first.relay.relayId)
    relay.work('taken')
    api.ledger.clock.advance(20 * day)
    const next = await certified(id, relay)
    expect(next).toMatchObject({ relayId: first.relay.relayId, state: 'living', seatsTaken: 3 })
    expect(Date.parse(next.endsAt)).toBe(Math.floor(now() / 1000) * 1000 + 30 * day)
    expect((await giveBack(id, relay.release())).status).toBe(200)
    expect((await giveBack(id, relay.release())).status).toBe(200)
    expect(await typesOf(id)).toStrictEqual([
      'LicenseMinted',
      'RelayEnrolled',
      'RelayRenewed',
      'RelayReleased',
    ])
    expect(await relaysOf(id)).toMatchObject([{ state: 'released', seatsTaken: 0 }])
  })

  test('and devices share the seats of the license', async () => {
    const { id, licenseKey } = await make()
    await certified(id, testRelay(place, licenseKey, { seats: 3 }), { days: 1, reason: 'the farm' })
    expect((await call('GET', id)).body).toMatchObject({ license: { seatsUsed: 0, relaySeats: 3 } })
    expect((await activate(licenseKey, 'one')).status).toBe(200)
    expect((await activate(licenseKey, 'two')).status).toBe(200)
    // Four seats, one of overdraft: the relay has three.
    expect(await activate(licenseKey, 'three')).toMatchObject({
      status: 422,
      body: { reason: 'seat_limit_reached' },
    })
    expect((await ask(id, testRelay(place, licenseKey, { seats: 1 }).request())).status).toBe(409)
    api.ledger.clock.advance(day + 10 * 60_000)
    expect((await activate(licenseKey, 'three')).status).toBe(200)
    expect((await call('GET', id)).body).not.toHaveProperty('license.relaySeats')
    expect(await relaysOf(id)).toMatchObject([{ state: 'ended', seatsTaken: 0 }])
  })

  test('takes seats of devices that ran out', async () => {
    const { id, licenseKey } = await make()
    for (const name of ['a', 'b', 'c', 'd', 'e']) expect((await activate(licenseKey, name)).status).toBe(200)
    const relay = testRelay(place, licenseKey, { seats: 5 })
    expect((await ask(id, relay.request())).status).toBe(409)
    await api.ledger.ports.db.query(
      `update usage.seat_ends set ends_at = clock_timestamp() - interval '1 second' where license_id = $1`,
      [id],
    )
    await certified(id, relay)
    expect((await call('GET', id)).body).toMatchObject({ license: { seatsUsed: 0, relaySeats: 5 } })
  })

  test('ends with its license at the latest', async () => {
    const { id, licenseKey } = await make('month')
    const { endsAt } = await certified(id, testRelay(place, licenseKey))
    expect((await call('GET', id)).body).toMatchObject({ license: { expiresAt: endsAt } })
  })

  test('that was copied is found at the renewal of the second, once, and is not renewed', async () => {
    const { id, licenseKey } = await make()
    const relay = testRelay(place, licenseKey)
    await certified(id, relay)
    const copy = relay.copy()
    relay.work('a seat')
    copy.work('another seat')
    await certified(id, relay)
    relay.work('more')
    const refused = { status: 409, body: { error: expect.stringContaining('was copied') as unknown } }
    // The copy asks with the counter of the other, and after that with a higher one.
    expect(await ask(id, copy.request())).toMatchObject(refused)
    expect(await ask(id, copy.request())).toMatchObject(refused)
    expect(await ask(id, relay.request())).toMatchObject(refused)
    expect(await giveBack(id, relay.release())).toMatchObject(refused)
    expect((await typesOf(id)).filter((type) => type === 'RelayForked')).toHaveLength(1)
    expect(await relaysOf(id)).toMatchObject([
      { state: 'copied', seatsTaken: 2, copiedAt: expect.any(String) as unknown },
    ])
  })

  test('whose answer was lost asks again, and is one relay', async () => {
    const { id, licenseKey } = await make()
    const relay = testRelay(place, licenseKey)
    const { relayId } = made(await ask(id, relay.request())).relay
    relay.work('nothing, since it had no answer')
    expect(await certified(id, relay)).toMatchObject({ relayId })
    relay.work('a seat')
    // Two renewals of which it gets no answer.
    made(await ask(id, relay.request()))
    relay.work('another seat')
    made(await ask(id, relay.request()))
    expect(await certified(id, relay)).toMatchObject({ relayId })
    expect(await relaysOf(id)).toHaveLength(1)
  })
})

describe('the usage of a relay', () => {
  test('counts once, however often it is reported', async () => {
    const { id, licenseKey } = await make()
    const relay = testRelay(place, licenseKey)
    const minute = Math.floor(now() / 60_000)
    relay.report([minute - 2, 2, 5, 1], [minute, 1, 1, 0])
    const request = relay.request()
    const { relayId } = made(await ask(id, request)).relay
    made(await ask(id, request))
    // The answer is lost, and the last minute goes on.
    relay.report(
      [minute, 2, 3, 0],
      [minute + 1, 0, 0, 4],
      [minute - 500 * 1440, 9, 9, 9],
      [minute + 3000, 9, 9, 9],
    )
    await certified(id, relay)
    expect(relayId).toMatch(/^rel_/)
    const all: Minute[] = [
      [minute - 2, 2, 5, 1],
      [minute, 2, 3, 0],
      [minute + 1, 0, 0, 4],
    ]
    expect(await reported(id)).toStrictEqual(all)
    relay.report([minute + 2, 1, 1, 1])
    expect((await giveBack(id, relay.release())).status).toBe(200)
    expect(await reported(id)).toStrictEqual([...all, [minute + 2, 1, 1, 1]])
  })

  test('is kept by a retry when the process ended between the event and the usage', async () => {
    const { id, licenseKey } = await make()
    const { db } = api.ledger.ports
    const relay = testRelay(place, licenseKey)
    const minute = Math.floor(now() / 60_000)
    relay.report([minute, 1, 1, 0])
    const request = relay.request()
    await db.query('alter table usage.relay_minutes rename to relay_minutes_away')
    expect((await ask(id, request)).status).toBeGreaterThanOrEqual(500)
    await db.query('alter table usage.relay_minutes_away rename to relay_minutes')
    expect(await typesOf(id)).toStrictEqual(['LicenseMinted', 'RelayEnrolled'])
    expect(await reported(id)).toStrictEqual([])
    const { relayId } = await certifiedWith(id, relay, request)
    expect(await typesOf(id)).toStrictEqual(['LicenseMinted', 'RelayEnrolled'])
    expect(await reported(id)).toStrictEqual([[minute, 1, 1, 0]])
    const release = relay.release()
    await db.query('alter table usage.relay_minutes rename to relay_minutes_away')
    expect((await giveBack(id, release)).status).toBeGreaterThanOrEqual(500)
    await db.query('alter table usage.relay_minutes_away rename to relay_minutes')
    expect((await giveBack(id, release)).status).toBe(200)
    expect(await relaysOf(id)).toMatchObject([{ relayId, state: 'released' }])
  })

  async function certifiedWith(id: string, relay: TestRelay, request: string) {
    const { relay: shown } = made(await ask(id, request))
    relay.take(shown.relayId)
    return shown
  }
})

describe('what is refused', () => {
  test('a text that is no request, another license, too many days, and a key type without relays', async () => {
    const { id, licenseKey } = await make()
    const relay = testRelay(place, licenseKey)
    const other = await make()
    expect(await ask(other.id, relay.request())).toMatchObject({ status: 422 })
    expect(await ask(id, 'hello')).toMatchObject({ status: 422 })
    expect(await ask(id, relay.request().replaceAll('RELAY REQUEST', 'REQUEST'))).toMatchObject({
      status: 422,
    })
    expect(await ask(id, relay.request({ seats: 0 }))).toMatchObject({ status: 422 })
    expect(await ask(id, relay.request({ heads: [] }))).toMatchObject({ status: 422 })
    expect(await ask(id, relay.request(), { days: 31 })).toMatchObject({ status: 422 })
    expect(await ask(id, relay.request({ relay_id: 'rel_none' }))).toMatchObject({ status: 404 })
    const elsewhere = testRelay({ ...place, productId: 'other' }, licenseKey)
    expect(await ask(id, elsewhere.request())).toMatchObject({ status: 422 })
    for (const keyTypeId of ['without', 'fixed']) {
      const license = await make(keyTypeId)
      const request = testRelay(place, license.licenseKey).request()
      expect(await ask(license.id, request)).toMatchObject({ status: 403 })
    }
    expect(await giveBack(id, relay.request())).toMatchObject({ status: 422 })
    const stranger = await makeTenant(api.ledger)
    const theirs = { request: relay.request() }
    expect((await call('POST', `${id}/relays`, theirs, stranger.token)).status).toBe(404)
    expect((await call('GET', `${id}/relays`, undefined, stranger.token)).status).toBe(404)
    expect(await typesOf(id)).toStrictEqual(['LicenseMinted'])
  })

  test('an older request, and one with another key for the relay', async () => {
    const { id, licenseKey } = await make()
    const relay = testRelay(place, licenseKey)
    const old = relay.request()
    const { relayId } = await certified(id, relay)
    expect(await ask(id, old)).toMatchObject({ status: 409 })
    const stranger = testRelay(place, licenseKey)
    stranger.take(relayId)
    expect(await ask(id, stranger.request())).toMatchObject({ status: 404 })
    expect(await giveBack(id, stranger.release())).toMatchObject({ status: 404 })
    expect(await relaysOf(id)).toMatchObject([{ state: 'living' }])
  })

  test('a license that was revoked', async () => {
    const { id, licenseKey } = await make()
    const relay = testRelay(place, licenseKey)
    await certified(id, relay)
    expect((await call('POST', `${id}/suspend`, {})).status).toBe(200)
    expect(await ask(id, relay.request())).toMatchObject({ status: 409 })
    expect((await giveBack(id, relay.release())).status).toBe(200)
  })
})

describe('a relay that reaches the server', () => {
  const online = (path: string, body: object, headers: Record<string, string>) =>
    api.ask('POST', `/${tenant.tenantId}/editor/${path}`, { headers, body })

  test('enrolls, renews and gives its seats back with the key of its license', async () => {
    const headers = { 'x-service-sdk-key': await sdkKeyOf(api.ledger, tenant.tenantId) }
    const { id, licenseKey } = await make()
    const relay = testRelay(place, licenseKey)
    const request = relay.request()
    const body = { license_key: licenseKey, request }
    const enrolled = await online('relay', body, headers)
    expect(enrolled).toMatchObject({ status: 200, body: { product: place } })
    expect((await online('relay', body, headers)).body).toStrictEqual(enrolled.body)
    const [{ relayId } = { relayId: '' }] = await relaysOf(id)
    relay.take(String(relayId))
    const many = testRelay(place, licenseKey, { seats: 4 }).request()
    expect(await online('relay', { license_key: licenseKey, request: many }, headers)).toMatchObject({
      status: 422,
      body: { reason: 'seat_limit_reached', error: expect.stringContaining('ask for fewer') as unknown },
    })
    const other = await make()
    const wrong = { license_key: other.licenseKey, request: relay.request() }
    expect(await online('relay', wrong, headers)).toMatchObject({ status: 422 })
    const release = { license_key: licenseKey, release: relay.release() }
    expect(await online('relay/release', release, headers)).toMatchObject({
      status: 200,
      body: { released: true },
    })
    const unknown = { license_key: 'ACME-NONE', request: relay.request() }
    expect((await online('relay', unknown, headers)).status).toBe(404)
    expect((await online('relay', body, { 'x-service-sdk-key': 'sdk_wrong' })).status).toBe(401)
  })

  test('may report as many minutes as it has seen', async () => {
    const headers = { 'x-service-sdk-key': await sdkKeyOf(api.ledger, tenant.tenantId) }
    const { id, licenseKey } = await make()
    const relay = testRelay(place, licenseKey)
    const minute = Math.floor(now() / 60_000)
    relay.report(...Array.from({ length: 25_000 }, (_, index): Minute => [minute - index, 500, 100, 100]))
    const request = relay.request()
    expect(request.length).toBeLessThan(1_000_000)
    expect((await online('relay', { license_key: licenseKey, request }, headers)).status).toBe(200)
    expect(await reported(id)).toHaveLength(25_000)
  })
})
