/**
 * Guarantee: a seat that is used from more networks or countries on a day than its product allows is noticed once, whatever crashes,
 * by any number of processes; a license is suspended only where its product says so. No address is kept anywhere, and what is kept of a
 * day is gone 30 days later.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keyHashOf } from '../../src/credentials/license-key.ts'
import { licenseStream, streamName } from '../../src/domain/streams.ts'
import type { Execute } from '../../src/ledger/execute.ts'
import type { AllPorts } from '../../src/ports.ts'
import type { Failure } from '../../src/reactions/process-manager.ts'
import { forgetPlaces, noticeSharedPlaces, noticeSharedSeats } from '../../src/reactions/sharing.ts'
import type { Countries } from '../../src/usage/countries.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { beginning, eventsIn } from '../harness/ledger.ts'
import { sdkKeyOf } from '../http/apps.ts'
import { makeProduct, mint } from '../http/samples.ts'

/** By their first number. */
const countryOf: Readonly<Record<string, string>> = { '1': 'DE', '2': 'FR', '3': 'JP' }
const countries: Countries = {
  of: (address) => countryOf[address.split('.')[0] ?? ''] ?? null,
  refresh: () => undefined,
}

let api: TestApi
let tenant: TestTenant
let failures: Failure[]
beforeAll(async () => {
  api = await openTestApi({ trustProxy: ['loopback'], countries })
})
afterAll(() => api.close())
beforeEach(async () => {
  failures = []
  api.ledger.clock.set(beginning)
  tenant = await makeTenant(api.ledger)
})

const today = beginning.slice(0, 10)
const options = { onFailure: (failure: Failure) => void failures.push(failure) }
const product = async (keySharing?: object, fields: object = {}) => {
  await makeProduct(api.ask, tenant.token, 'editor', { ...(keySharing && { keySharing }), ...fields })
  await api.ledger.ports.sightings.refresh()
}
const license = () => mint(api.ask, tenant.token, 'editor', { deviceLimit: 5 })
type Call = 'validate' | 'activate' | 'deactivate' | 'heartbeat'
const call = async (what: Call, licenseKey: string, from: string, device: string | null = 'laptop') => {
  const { status, body } = await api.ask('POST', `/v1/licenses/${what}`, {
    token: tenant.token,
    headers: { 'x-forwarded-for': from },
    body: { product_id: 'editor', license_key: licenseKey, ...(device !== null && { device_id: device }) },
  })
  expect(status).toBe(200)
  return body
}
const use = async (licenseKey: string, addresses: readonly string[], device: string | null = 'laptop') => {
  if (device !== null) await call('activate', licenseKey, addresses[0] ?? '', device)
  for (const address of addresses) await call('validate', licenseKey, address, device)
  await api.ledger.ports.sightings.flush()
}
const poll = async (ports: AllPorts = api.ledger.ports) => {
  await noticeSharedPlaces(ports, options).poll()
  await noticeSharedSeats(ports, options).poll()
}
const recorded = async (id: string) =>
  (await eventsIn(api.ledger.ports.ledger, licenseStream(id))).flatMap((entry) =>
    entry.readable && /Sharing|Suspended/.test(entry.event.type) ? [entry.event] : [],
  )
const notice = (fields: object) => ({
  type: 'LicenseSharingNoticed',
  data: { day: today, action: 'show', at: beginning, ...fields },
})
const ask = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) =>
  api.ask(method, path, { token: tenant.token, ...(body && { body }) })
const sightings = async () =>
  (await api.ledger.db.query<{ license_id: string }>('select * from usage.sightings')).rows

const fourNetworks = ['198.51.100.7', '203.0.113.9', '2001:db8:1:2::3', '2001:db8:2::1']

describe('the networks of a seat', () => {
  test('are noticed beyond the limit of its product, once a day', async () => {
    await product({ networksPerDay: 3, action: 'show' })
    const { id, licenseKey } = await license()
    await use(licenseKey, fourNetworks.slice(0, 3))
    await poll()
    expect(await recorded(id)).toStrictEqual([])
    await use(licenseKey, fourNetworks)
    for (let again = 0; again < 3; again++) await poll()
    expect(await recorded(id)).toStrictEqual([notice({ rule: 'networks', count: 4, limit: 3 })])
    const shown = await ask('GET', `/v1/licenses/${id}`)
    expect(shown.body).toMatchObject({ license: { status: 'active', sharingNoticedAt: beginning } })
    api.ledger.clock.set('2026-03-02T12:00:00.000Z')
    await poll()
    expect(await recorded(id)).toHaveLength(1)
    await use(licenseKey, fourNetworks)
    await poll()
    expect(await recorded(id)).toHaveLength(2)
    expect(failures).toStrictEqual([])
  })

  test('are those of one seat, whose addresses in one network are one', async () => {
    await product({ networksPerDay: 1, action: 'show' })
    const { id, licenseKey } = await license()
    await use(licenseKey, ['198.51.100.7', '198.51.100.200', '::ffff:198.51.100.8'], 'laptop')
    await use(licenseKey, ['203.0.113.9'], 'desktop')
    await use(licenseKey, ['2001:db8:1:2::3', '2001:db8:1:ffff::1'], 'phone')
    await poll()
    expect(await recorded(id)).toStrictEqual([])
  })

  test('count for the license where no device is named', async () => {
    await product({ networksPerDay: 1, countriesPerDay: 1, action: 'show' })
    const { id, licenseKey } = await license()
    await use(licenseKey, ['1.0.0.1', '2.0.0.1'], null)
    await poll()
    expect(await recorded(id)).toStrictEqual([notice({ rule: 'networks', count: 2, limit: 1 })])
  })

  test('leave out what the product allows, and what was refused', async () => {
    await product({ networksPerDay: 1, action: 'show', allow: ['198.51.100.0/24', '2001:db8::/32'] })
    const { id, licenseKey } = await license()
    await use(licenseKey, [...fourNetworks])
    await ask('POST', `/v1/licenses/${id}/suspend`)
    for (const address of ['192.0.2.1', '192.0.3.1']) await call('validate', licenseKey, address)
    await ask('POST', `/v1/licenses/${id}/resume`)
    await api.ledger.ports.sightings.flush()
    await poll()
    expect((await recorded(id)).filter(({ type }) => type === 'LicenseSharingNoticed')).toStrictEqual([])
  })

  test('are counted of apps that call for themselves', async () => {
    await product({ networksPerDay: 2, action: 'show' })
    const sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
    const { id, licenseKey } = await license()
    const app = async (what: string, from: string, body: object) => {
      const answer = await api.ask('POST', `/${tenant.tenantId}/editor/${what}`, {
        headers: { 'x-service-sdk-key': sdkKey, 'x-forwarded-for': from },
        body: { license_key: licenseKey, ...body },
      })
      expect(answer.status).toBe(200)
      return answer.body
    }
    const [a = '', b = '', c = ''] = fourNetworks
    const activated = z.object({ instance_id: z.string() })
    const { instance_id } = activated.parse(await app('activate', a, { instance_name: 'laptop' }))
    await app('validate', b, { instance_id })
    await app('heartbeat', c, { instance_id })
    await api.ledger.ports.sightings.flush()
    await poll()
    expect(await recorded(id)).toStrictEqual([notice({ rule: 'networks', count: 3, limit: 2 })])
  })

  test('are not counted without a rule', async () => {
    await product()
    const before = (await sightings()).length
    const { licenseKey } = await license()
    await use(licenseKey, fourNetworks)
    expect(await sightings()).toHaveLength(before)
  })
})

test('the countries of a seat are noticed', async () => {
  await product({ countriesPerDay: 2, action: 'show' })
  const { id, licenseKey } = await license()
  await use(licenseKey, ['1.0.0.1', '1.9.9.9', '2.0.0.1', '9.0.0.1'])
  await poll()
  expect(await recorded(id)).toStrictEqual([])
  await use(licenseKey, ['3.0.0.1'])
  await poll()
  expect(await recorded(id)).toStrictEqual([notice({ rule: 'countries', count: 3, limit: 2 })])
})

describe('seats that move to other devices', () => {
  const move = async (licenseKey: string, from: string, to: string) => {
    await call('deactivate', licenseKey, '192.0.2.1', from)
    await call('activate', licenseKey, '192.0.2.1', to)
  }

  test('are noticed beyond the limit in a week', async () => {
    await product({ hopsPerWeek: 2, action: 'show' })
    const { id, licenseKey } = await license()
    await call('activate', licenseKey, '192.0.2.1', 'a')
    await move(licenseKey, 'a', 'b')
    await move(licenseKey, 'b', 'a')
    await poll()
    expect(await recorded(id)).toStrictEqual([])
    api.ledger.clock.set('2026-03-08T11:59:00.000Z')
    await move(licenseKey, 'a', 'c')
    await poll()
    await poll()
    const at = '2026-03-08T11:59:00.000Z'
    expect(await recorded(id)).toStrictEqual([
      notice({ rule: 'hops', count: 3, limit: 2, day: '2026-03-08', at }),
    ])
  })

  test('are not those of one device that comes back, nor of a week ago', async () => {
    await product({ hopsPerWeek: 1, action: 'show' })
    const { id, licenseKey } = await license()
    await call('activate', licenseKey, '192.0.2.1', 'a')
    for (let again = 0; again < 3; again++) await move(licenseKey, 'a', 'a')
    await move(licenseKey, 'a', 'b')
    api.ledger.clock.set('2026-03-09T12:00:00.000Z')
    await move(licenseKey, 'b', 'c')
    await poll()
    expect(await recorded(id)).toStrictEqual([])
  })
})

describe('a license that is noticed', () => {
  const shared = async (keySharing: object) => {
    await product(keySharing)
    const minted = await license()
    await use(minted.licenseKey, fourNetworks)
    await poll()
    return minted
  }

  test('is suspended where its product wants it, and not again that day after its vendor resumed it', async () => {
    const { id, licenseKey } = await shared({ networksPerDay: 3, action: 'suspend' })
    const reason = 'Key sharing: one seat used from 4 networks in a day, more than 3'
    const suspension = { type: 'LicenseSuspended', data: { reason, at: beginning } }
    const first = [notice({ rule: 'networks', count: 4, limit: 3, action: 'suspend' }), suspension]
    expect(await recorded(id)).toStrictEqual(first)
    expect(await call('validate', licenseKey, '192.0.2.1')).toMatchObject({
      valid: false,
      reason: 'suspended',
    })
    await ask('POST', `/v1/licenses/${id}/resume`)
    await use(licenseKey, ['192.0.2.1'])
    await poll()
    expect(await recorded(id)).toStrictEqual(first)
  })

  test('is listed until its use is allowed, and then not noticed any more', async () => {
    const { id, licenseKey } = await shared({ networksPerDay: 3, action: 'show' })
    const listed = async () => (await ask('GET', '/v1/licenses?shared=true')).body
    expect(await listed()).toMatchObject({ items: [{ id }] })
    const reason = 'travels'
    const { body } = await ask('POST', `/v1/licenses/${id}/allow-sharing`, { allowed: true, reason })
    expect(body).toMatchObject({ license: { sharingAllowed: true } })
    expect(body).not.toHaveProperty('license.sharingNoticedAt')
    expect(await listed()).toMatchObject({ items: [] })
    expect((await ask('GET', '/v1/licenses?shared=false')).body).toMatchObject({ items: [{ id }] })
    api.ledger.clock.set('2026-03-02T12:00:00.000Z')
    await use(licenseKey, fourNetworks)
    await poll()
    expect(await recorded(id)).toHaveLength(2)
  })

  test('of another tenant is as one that does not exist', async () => {
    const { id } = await shared({ networksPerDay: 3, action: 'show' })
    const other = await makeTenant(api.ledger)
    const tried = (path: string) =>
      api.ask('POST', `/v1/licenses/${path}/allow-sharing`, { token: other.token, body: { allowed: true } })
    const foreign = await tried(id)
    const absent = await tried('lic_06f5w3k8hx7vq2m4n9t1r0s5zc')
    expect([foreign.status, foreign.text]).toStrictEqual([404, absent.text])
  })
})

class Killed extends Error {}

test('a notice is recorded once by processes that run at once, and that die before or after they recorded it', async () => {
  await product({ networksPerDay: 3, action: 'suspend' })
  const licenses = await Promise.all(Array.from({ length: 4 }, () => license()))
  for (const { licenseKey } of licenses) await use(licenseKey, fourNetworks)
  const around = (act: (run: () => ReturnType<Execute>) => ReturnType<Execute>): AllPorts => ({
    ...api.ledger.ports,
    execute: ((...args: Parameters<Execute>) =>
      streamName(args[0].category, args[1]).startsWith('license-')
        ? act(() => api.ledger.ports.execute(...args))
        : api.ledger.ports.execute(...args)) as Execute,
  })
  await poll(
    around(() => {
      throw new Killed()
    }),
  )
  expect(failures).toHaveLength(4)
  for (const { id } of licenses) expect(await recorded(id)).toStrictEqual([])
  let died = 0
  await poll(
    around(async (run) => {
      if (died++ > 0) throw new Killed()
      await run()
      throw new Killed()
    }),
  )
  await Promise.all([poll(), poll(), poll()])
  for (const { id } of licenses) expect(await recorded(id)).toHaveLength(2)
})

describe('keys that were found published', () => {
  test('are noticed once, by the key or its hash, and suspended where the product wants it', async () => {
    await product({ action: 'suspend' })
    const one = await license()
    const two = await license()
    const old = await license()
    await ask('POST', `/v1/licenses/${old.id}/remint`)
    const found = [one.licenseKey, keyHashOf(two.licenseKey) ?? '', old.licenseKey, 'ABC-DEF-GHI']
    const answer = { licenseIds: [one.id, two.id].sort(), replaced: 1, unknown: 1 }
    for (let again = 0; again < 2; again++) {
      const { body } = await ask('POST', '/v1/licenses/published-keys', { found })
      expect(body).toStrictEqual(answer)
    }
    const reason = 'Key sharing: its key was found published'
    for (const { id } of [one, two]) {
      expect(await recorded(id)).toStrictEqual([
        notice({ rule: 'published_key', count: 1, limit: null, action: 'suspend' }),
        { type: 'LicenseSuspended', data: { reason, at: beginning } },
      ])
    }
  })

  test('are none of another tenant', async () => {
    await product()
    const { id, licenseKey } = await license()
    const other = await makeTenant(api.ledger)
    const { body } = await api.ask('POST', '/v1/licenses/published-keys', {
      token: other.token,
      body: { found: [licenseKey] },
    })
    expect(body).toStrictEqual({ licenseIds: [], replaced: 0, unknown: 1 })
    expect(await recorded(id)).toStrictEqual([])
  })
})

describe('what is kept', () => {
  test('has no address, in any table or event, and no network that two days or licenses share', async () => {
    await product({ networksPerDay: 1, countriesPerDay: 1, action: 'show' })
    const one = await license()
    const two = await license()
    await use(one.licenseKey, ['1.77.99.5'])
    await use(two.licenseKey, ['1.77.99.5', '2.77.99.5'])
    api.ledger.clock.set('2026-03-02T12:00:00.000Z')
    await use(one.licenseKey, ['1.77.99.5'])
    await poll()
    const { rows } = await api.ledger.db.query<{ network: string }>(
      'select network from usage.sightings where license_id = any($1)',
      [[one.id, two.id]],
    )
    expect(new Set(rows.map(({ network }) => network)).size).toBe(rows.length)
    expect(rows).toHaveLength(4)
    const tables = await api.ledger.db.query<{ name: string }>(
      `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    )
    for (const { name } of tables.rows) {
      const found = await api.ledger.db.query(`select 1 from ${name} t where t::text like '%.77.99%' limit 1`)
      expect([name, found.rowCount]).toStrictEqual([name, 0])
    }
    for (const { id } of [one, two]) expect(JSON.stringify(await recorded(id))).not.toMatch(/77\.99/)
  })

  test('is gone after 30 days', async () => {
    await product({ networksPerDay: 1, action: 'show' })
    const { id, licenseKey } = await license()
    await use(licenseKey, fourNetworks)
    const left = async () => (await sightings()).filter(({ license_id }) => license_id === id).length
    api.ledger.clock.set('2026-03-30T23:59:59.999Z')
    await forgetPlaces(api.ledger.ports).poll()
    expect(await left()).toBe(4)
    api.ledger.clock.set('2026-03-31T00:00:00.000Z')
    await forgetPlaces(api.ledger.ports).poll()
    expect(await left()).toBe(0)
  })
})
