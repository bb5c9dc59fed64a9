/**
 * Guarantee: a parked stream stays parked. None of its later events is applied, whichever events come with them, and
 * nothing that depends on it and another stream is answered.
 */
import { type EventData, jsonEvent } from '@eventstore/db-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findLicense, listDevices } from '../../projections/licenses/queries.ts'
import { findMembers } from '../../projections/members.ts'
import { createReadModels } from '../../projections/runner/read-models.ts'
import { verify } from '../../projections/runner/verify.ts'
import { addMember } from '../../src/commands/members/members.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { appendRaw, beginning, origin, uniqueId } from '../harness/ledger.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Default', deviceLimit: 9 }] })
})
afterAll(() => api.close())

const metadata = {
  requestId: 'req_parked',
  actor: 'system:test',
  causationId: 'req_parked',
  correlationId: 'req_parked',
  schema: 1,
  at: beginning,
}
const event = (type: string, data: Record<string, unknown>): EventData => jsonEvent({ type, data, metadata })
const poison = event('Painted', {})
const activated = () =>
  event('DeviceActivated', {
    deviceId: uniqueId('device'),
    instanceId: uniqueId('ins'),
    installId: null,
    name: 'A device',
    platform: null,
    at: beginning,
  })

const newLicense = () => mint(api.ask, tenant.token, 'editor')
const append = (id: string, after: number, ...events: EventData[]) =>
  appendRaw(api.ledger, `license-${id}`, events, BigInt(after))
const catchUp = () => api.ledger.readModels.catchUp()

async function stateOf({ id }: { id: string }) {
  const found = await findLicense(api.ledger.db, tenant.tenantId, id)
  return { revision: found?.revision, devices: (await listDevices(api.ledger.db, id)).length }
}

async function park(license: { id: string }): Promise<void> {
  await append(license.id, 0, poison)
  await catchUp()
  expect(await stateOf(license)).toStrictEqual({ revision: 0, devices: 0 })
}

async function expectNoDifference(): Promise<void> {
  const { differences } = await verify(api.ledger.db, api.ledger.ports.ledger, () => undefined)
  expect(differences).toStrictEqual([])
}

describe('later events of a parked stream are not applied', () => {
  test('when the writes of a page were computed speculatively', async () => {
    const parked = await newLicense()
    const other = await newLicense()
    await park(parked)
    // After two uncontended batches the next page's writes are computed before the parked streams are known.
    for (const _ of [1, 2]) await newLicense()
    await append(parked.id, 1, activated())
    await append(other.id, 0, activated())
    await catchUp()
    expect(await stateOf(parked)).toStrictEqual({ revision: 0, devices: 0 })
    expect(await stateOf(other)).toStrictEqual({ revision: 1, devices: 1 })
    await expectNoDifference()
  })

  test('by a process that has just started', async () => {
    const parked = await newLicense()
    const other = await newLicense()
    await park(parked)
    await append(parked.id, 1, activated())
    await append(other.id, 0, activated())
    const fresh = createReadModels(api.ledger.db, api.ledger.ports.ledger, {
      timeLimitMs: 10_000,
      onParked: () => undefined,
      onFailure: (error) => console.error(error),
    })
    await fresh.catchUp()
    expect(await stateOf(parked)).toStrictEqual({ revision: 0, devices: 0 })
    expect(await stateOf(other)).toStrictEqual({ revision: 1, devices: 1 })
  })

  test('when the events of a page are applied one at a time, because another stream gets parked', async () => {
    const parked = await newLicense()
    const next = await newLicense()
    const other = await newLicense()
    await park(parked)
    await append(parked.id, 1, activated())
    await append(next.id, 0, activated(), poison, activated())
    await append(other.id, 0, activated())
    await catchUp()
    expect(await stateOf(parked)).toStrictEqual({ revision: 0, devices: 0 })
    expect(await stateOf(next)).toStrictEqual({ revision: 1, devices: 1 })
    expect(await stateOf(other)).toStrictEqual({ revision: 1, devices: 1 })
    await expectNoDifference()
  })
})

describe('data from two streams is unavailable while either is parked', () => {
  test('a license with a parked customer returns 503', async () => {
    const customerId = await makeCustomer(api.ask, tenant.token)
    const { licenseKey } = await mint(api.ask, tenant.token, 'editor', { customerId })
    const free = await newLicense()
    const status = async (what: string, key: string) => {
      const body = { product_id: 'editor', license_key: key, device_id: 'laptop' }
      return (await api.ask('POST', `/v1/licenses/${what}`, { token: tenant.token, body })).status
    }
    for (const what of ['activate', 'validate']) expect(await status(what, licenseKey)).toBe(200)
    await appendRaw(api.ledger, `customer-${customerId}`, [poison], 0n)
    await catchUp()
    for (const what of ['validate', 'activate', 'deactivate'])
      expect(await status(what, licenseKey)).toBe(503)
    // Other licenses are not affected.
    expect(await status('validate', free.licenseKey)).toBe(200)
  })

  test.each(['member', 'tenant'] as const)(
    'a member is not found while the stream of the %s is parked',
    async (which) => {
      const { tenantId } = await makeTenant(api.ledger)
      const member = { tenantId, role: 'owner', email: 'ada@example.com' } as const
      const memberId = await addMember(api.ledger.ports, member, origin)
      const present = async () => (await findMembers(api.ledger.db, [memberId])).length
      expect(await present()).toBe(1)
      await appendRaw(
        api.ledger,
        which === 'member' ? `member-${memberId}` : `tenant-${tenantId}`,
        [poison],
        0n,
      )
      await catchUp()
      expect(await present()).toBe(0)
    },
  )
})
