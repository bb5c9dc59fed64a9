/**
 * Guarantee: an app that asks for `lease_version` 2 gets one lease, a token that names its machine and that the SDK
 * verifies; an app that does not ask sees no change.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eraseSubject } from '../../../src/commands/customers/erasure.ts'
import { type Keyset, licenseKeyHash, verifyLease2 } from '../../../src/sdk/javascript/index.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning, origin } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let app: App
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { tenantId, token } = tenant
  await makeProduct(api.ask, token, 'editor', {
    keyTypes: [
      { name: 'Pro', keyTypeId: 'pro', deviceLimit: 3, entitlements: ['pro', 'export'] },
      { name: 'Day', keyTypeId: 'day', duration: { count: 1, unit: 'day' }, entitlements: ['pro'] },
    ],
  })
  app = appOf(api.ask, { tenantId, productId: 'editor' }, await sdkKeyOf(api.ledger, tenantId))
})
afterAll(() => api.close())

const begin = Date.parse(beginning) / 1000
const hash = (what: string) => Buffer.from(`a hash of ${what}`).toString('base64url')
const said = { machine_hash: hash('machine'), device: { board: hash('board'), disk: hash('disk') } }
const device = { machineHash: said.machine_hash, components: said.device }

const Leased = z.looseObject({ instance_id: z.string().optional(), lease2: z.string() })
const activate = (licenseKey: string, more: object = {}) =>
  app.post('activate', { license_key: licenseKey, instance_name: 'PC', lease_version: 2, ...more })
const make = (keyTypeId = 'pro') => mint(api.ask, tenant.token, 'editor', { keyTypeId })

async function verified({ body }: Answer, licenseKey: string, instanceId: string, on?: typeof device) {
  const { tenantId } = tenant
  const keyset = (await api.ask('GET', `/${tenantId}/.well-known/service-keys`)).body as Keyset
  const expected = { tenantId, productId: 'editor', licenseKeyHash: licenseKeyHash(licenseKey), instanceId }
  const now = api.ledger.clock.now().getTime() / 1000
  return verifyLease2(Leased.parse(body).lease2, { ...expected, ...(on && { device: on }) }, keyset, now)
}

describe('a lease of the second version', () => {
  test('names the license, the instance, the machine and the entitlements, and is the only lease', async () => {
    const { id, licenseKey } = await make()
    const answer = await activate(licenseKey, said)
    const { instance_id: instanceId = '' } = Leased.parse(answer.body)
    expect(answer.body).not.toHaveProperty('lease')
    expect(await verified(answer, licenseKey, instanceId, device)).toStrictEqual({
      ok: true,
      lease: {
        kid: expect.stringMatching(/^[0-9a-f]{16}$/) as unknown,
        licenseId: id,
        licenseKeyHash: licenseKeyHash(licenseKey),
        instanceId,
        device,
        status: 'active',
        entitlements: { export: true, pro: true },
        issuedAt: begin,
        notBefore: begin - 86_400,
        expiresAt: begin + 604_800,
        licenseExpiresAt: null,
        updatesUntil: null,
        holder: null,
        serial: expect.any(Number) as unknown,
        file: null,
        allowance: null,
        relay: null,
      },
    })
    const elsewhere = { machineHash: hash('other'), components: { board: hash('b'), disk: hash('d') } }
    expect(await verified(answer, licenseKey, instanceId, elsewhere)).toStrictEqual({
      ok: false,
      reason: 'another_device',
    })
  })
  test('names the holder where the product says so, until the person is erased', async () => {
    const { tenantId, token } = tenant
    await makeProduct(api.ask, token, 'named', { keyTypes: [{ name: 'Pro' }], leaseHolder: true })
    const { licenseKey } = await mint(api.ask, token, 'named', { email: 'ada@example.com', name: 'Ada' })
    const named = appOf(api.ask, { tenantId, productId: 'named' }, await sdkKeyOf(api.ledger, tenantId))
    const first = await named.post('activate', {
      license_key: licenseKey,
      instance_name: 'PC',
      lease_version: 2,
    })
    const { instance_id } = Leased.parse(first.body)
    const validate = () => named.post('validate', { license_key: licenseKey, instance_id, lease_version: 2 })
    const claimsOf = ({ body }: Answer) =>
      Buffer.from(Leased.parse(body).lease2.split('.')[2] ?? '', 'base64url').toString('latin1')
    for (const answer of [first, await validate()])
      expect(claimsOf(answer)).toContain('"holder":{"name":"Ada","email":"ada@example.com"}')
    const { ports } = api.ledger
    const subjectId = (await ports.subjects.findSubject(tenantId, 'ada@example.com')) ?? ''
    await eraseSubject(ports, tenantId, subjectId, origin)
    expect(claimsOf(await validate())).not.toContain('holder')
  })
  test('ends with its license, has a higher serial each time, and comes with every status', async () => {
    const { licenseKey } = await make('day')
    const first = await activate(licenseKey)
    const { instance_id: instanceId = '' } = Leased.parse(first.body)
    const again = () =>
      app.post('validate', { license_key: licenseKey, instance_id: instanceId, lease_version: 2 })
    const serials = []
    for (const answer of [first, await again(), await again()]) {
      const found = await verified(answer, licenseKey, instanceId, device)
      expect(found).toMatchObject({ ok: true, lease: { device: null, licenseExpiresAt: begin + 86_400 } })
      if (found.ok) serials.push(found.lease.serial)
      if (found.ok) expect(found.lease.expiresAt).toBe(begin + 86_400)
    }
    expect(new Set(serials).size).toBe(3)
    expect(serials.toSorted((a, b) => a - b)).toStrictEqual(serials)
  })
  test('is not given unasked, nor in a version that there is not', async () => {
    const { licenseKey } = await make()
    for (const lease_version of [undefined, 1]) {
      const { body } = await activate(licenseKey, { lease_version })
      expect(body).toHaveProperty('lease.signature')
      expect(body).not.toHaveProperty('lease2')
    }
    expect((await activate(licenseKey, { lease_version: 3 })).status).toBe(400)
  })
})
