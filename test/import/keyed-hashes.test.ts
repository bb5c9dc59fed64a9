/**
 * Guarantee: an imported key of another format cannot be guessed from what is recorded of its license, and is found wherever a key
 * is typed; so is a key that an earlier version imported with its plain hash, and neither is imported twice.
 */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { licenseKeyHash } from '../../src/sdk/javascript/license-key.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { askApproveRepeat } from '../harness/gate.ts'
import { eventsIn } from '../harness/ledger.ts'
import { importAsBefore } from '../harness/old-import.ts'
import { type App, appOf, sdkKeyOf } from '../http/apps.ts'
import { importRows, makeProduct, mint } from '../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let place: { tenantId: string; productId: string; keyTypeId: string }
let app: App
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ keyTypeId: 'one', name: 'One' }] })
  place = { tenantId: tenant.tenantId, productId: 'editor', keyTypeId: 'one' }
  app = appOf(api.ask, place, await sdkKeyOf(api.ledger, tenant.tenantId))
})
afterAll(() => api.close())

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const importKeys = async (...keys: string[]) => {
  const rows = keys.map((licenseKey) => ({ licenseKey }))
  return (await importRows(api.ask, tenant.token, 'editor', rows)).results
}
const runtime = async (call: string, license_key: string, device_id = 'laptop') => {
  const body = { product_id: 'editor', license_key, device_id }
  return (await api.ask('POST', `/v1/licenses/${call}`, { token: tenant.token, body })).body
}
const Search = z.object({ items: z.array(z.object({ license: z.looseObject({ id: z.string() }) })) })
const idsFound = async (q: string) => {
  const { body } = await api.ask('POST', '/v1/licenses/search', { token: tenant.token, body: { text: q } })
  return Search.parse(body).items.map(({ license }) => license.id)
}
const recordedAs = async (id: string) => {
  const [first] = await eventsIn(api.ledger.ports.ledger, `license-${id}`)
  return first?.readable ? first.event : undefined
}

test('no guess of a six-digit key fits what is recorded, nor the name of its stream', async () => {
  const [imported] = await importKeys('471120')
  const id = imported?.id ?? ''
  const event = await recordedAs(id)
  const text = JSON.stringify([id, event])
  for (const guess of ['471120', `${tenant.tenantId}471120`]) expect(text).not.toContain(sha256(guess))
  expect(event?.data).toMatchObject({ keyHash: expect.stringMatching(/^hmac:[0-9a-f]{64}$/) as string })
  // Another installation has another secret, and an id that nobody derives without it.
  expect(id).not.toBe(api.ledger.ports.deriveId('lic', tenant.tenantId, sha256('471120')))
})

/** Each makes a license with a key of another format. */
const makers = {
  'by this version': async (key: string) => (await importKeys(key))[0]?.id ?? '',
  'by an earlier version': (key: string) => importAsBefore(api.ledger, place, key),
}

describe.each(Object.entries(makers))('a key that was imported %s', (which, importKey) => {
  const key = which === 'by this version' ? '552001' : '552002'
  let id: string
  beforeAll(async () => {
    id = await importKey(key)
  })

  test('is found by every call that takes a key', async () => {
    expect(await runtime('activate', key)).toMatchObject({ activated: true })
    expect(await runtime('validate', key)).toMatchObject({ valid: true })
    expect(await runtime('deactivate', key)).toMatchObject({ deactivated: true })
    expect(await idsFound(key)).toStrictEqual([id])
    const Activated = z.object({ instance_id: z.string(), lease: z.object({ licenseKeyHash: z.string() }) })
    const activated = Activated.parse(
      (await app.post('activate', { license_key: key, instance_name: 'Mac' })).body,
    )
    const on = { license_key: key, instance_id: activated.instance_id }
    const { lease } = z
      .object({ lease: z.object({ licenseKeyHash: z.string() }) })
      .parse((await app.post('validate', on)).body)
    // The contract's hash, which an app computes of the key that it has.
    expect(lease.licenseKeyHash).toBe(licenseKeyHash(key))
    expect(activated.lease.licenseKeyHash).toBe(licenseKeyHash(key))
    expect((await app.post('deactivate', on)).status).toBe(200)
  })

  test('is a duplicate when it is imported again, in any spelling, and at the license that has it', async () => {
    const spelled = `${key.slice(0, 3)}-${key.slice(3)}`
    expect(await importKeys(key, spelled)).toMatchObject([
      { status: 'duplicate', id },
      { status: 'duplicate', id },
    ])
  })

  test('is explained by the license that has it', async () => {
    const { body } = await api.ask('GET', `/v1/licenses/${id}/explain`, { token: tenant.token })
    expect(body).toMatchObject({ explanation: { validate: { succeeds: true } } })
  })
})

test('a key whose earlier import was undone belongs to the next one', async () => {
  const key = '660033'
  const before = await importAsBefore(api.ledger, place, key)
  await askApproveRepeat(api, tenant, 'POST', `/v1/licenses/${before}/take-back-import`, { body: {} })
  expect(await runtime('validate', key)).toMatchObject({ valid: false })
  const [again] = await importKeys(key)
  expect(again).toMatchObject({ status: 'imported' })
  expect(again?.id).not.toBe(before)
  expect(await runtime('activate', key)).toMatchObject({ activated: true })
  expect(await runtime('validate', key)).toMatchObject({ valid: true })
  expect(await idsFound(key)).toStrictEqual([again?.id])
})

test('imports of one key that race, in two tenants too, are one license in each', async () => {
  const other = await makeTenant(api.ledger)
  await makeProduct(api.ask, other.token, 'editor')
  const racing = [tenant, other].flatMap(({ token }) =>
    Array.from({ length: 4 }, () => importRows(api.ask, token, 'editor', [{ licenseKey: '771144' }])),
  )
  const results = (await Promise.all(racing)).map(({ results: [result] }) => result)
  expect(results.filter((result) => result?.status === 'imported')).toHaveLength(2)
  expect(new Set(results.map((result) => result?.id)).size).toBe(2)
})

test('a key that we minted is a duplicate, and its hash is the one that leases have', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
  expect(await importKeys(licenseKey)).toMatchObject([{ status: 'duplicate', id }])
  expect((await recordedAs(id))?.data).toMatchObject({ keyHash: licenseKeyHash(licenseKey) })
})

test('a validate of a key of another format takes one query, once its token and its tenant are known', async () => {
  await importKeys('881155')
  await runtime('validate', '881155')
  const query = vi.spyOn(api.ledger.db, 'query')
  expect(await runtime('validate', '881155', 'unseated')).toMatchObject({ status: 'inactive' })
  const Named = z.looseObject({ name: z.string() })
  const names = query.mock.calls.map(([statement]) => Named.safeParse(statement).data?.name)
  query.mockRestore()
  expect(names).toStrictEqual(['validate-one'])
})

test('keys that are guessed with an SDK key of no tenant, or with no token of ours, make no secret', async () => {
  const { tenantId } = await makeTenant(api.ledger)
  const guessing = appOf(
    api.ask,
    { tenantId, productId: 'editor' },
    await sdkKeyOf(api.ledger, tenant.tenantId),
  )
  expect((await guessing.post('validate', { license_key: '123456', instance_id: 'x' })).status).toBe(401)
  const { rows } = await api.ledger.db.query(
    "select from vault.secrets where tenant_id = $1 and name = 'key-hashes'",
    [tenantId],
  )
  expect(rows).toStrictEqual([])
})
