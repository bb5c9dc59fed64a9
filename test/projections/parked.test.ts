/**
 * A stream that is set aside stays so: not one of its later events is folded, in whichever company they come, and
 * nothing is said that hangs on it together with another stream.
 */
import { type EventData, jsonEvent } from '@eventstore/db-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findLicense, listDevices } from '../../projections/licenses/queries.ts'
import { findMembers } from '../../projections/members/queries.ts'
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

async function standingOf({ id }: { id: string }) {
  const found = await findLicense(api.ledger.db, tenant.tenantId, id)
  return { revision: found?.revision, devices: (await listDevices(api.ledger.db, id)).length }
}

async function park(license: { id: string }): Promise<void> {
  await append(license.id, 0, poison)
  await catchUp()
  expect(await standingOf(license)).toStrictEqual({ revision: 0, devices: 0 })
}

async function expectNoDifference(): Promise<void> {
  const { differences } = await verify(api.ledger.db, api.ledger.services.ledger, () => undefined)
  expect(differences).toStrictEqual([])
}

describe('later events of a stream that is set aside are left out', () => {
  test('when another stream is folded together with it, on trust that nothing else has moved the tables', async () => {
    const aside = await newLicense()
    const other = await newLicense()
    await park(aside)
    // Two rounds that nobody else came between: the next page is folded before it is known what is set aside.
    for (const _ of [1, 2]) await newLicense()
    await append(aside.id, 1, activated())
    await append(other.id, 0, activated())
    await catchUp()
    expect(await standingOf(aside)).toStrictEqual({ revision: 0, devices: 0 })
    expect(await standingOf(other)).toStrictEqual({ revision: 1, devices: 1 })
    await expectNoDifference()
  })

  test('by a process that has just begun', async () => {
    const aside = await newLicense()
    const other = await newLicense()
    await park(aside)
    await append(aside.id, 1, activated())
    await append(other.id, 0, activated())
    const fresh = createReadModels(api.ledger.db, api.ledger.services.ledger, {
      timeLimitMs: 10_000,
      onParked: () => undefined,
      onFailure: (error) => console.error(error),
    })
    await fresh.catchUp()
    expect(await standingOf(aside)).toStrictEqual({ revision: 0, devices: 0 })
    expect(await standingOf(other)).toStrictEqual({ revision: 1, devices: 1 })
  })

  test('when the page has to be gone through one by one, for a stream that is set aside with it', async () => {
    const aside = await newLicense()
    const next = await newLicense()
    const other = await newLicense()
    await park(aside)
    await append(aside.id, 1, activated())
    await append(next.id, 0, activated(), poison, activated())
    await append(other.id, 0, activated())
    await catchUp()
    expect(await standingOf(aside)).toStrictEqual({ revision: 0, devices: 0 })
    expect(await standingOf(next)).toStrictEqual({ revision: 1, devices: 1 })
    expect(await standingOf(other)).toStrictEqual({ revision: 1, devices: 1 })
    await expectNoDifference()
  })
})

describe('nobody says what hangs on two streams while either is set aside', () => {
  test('a license and its customer', async () => {
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
    // Nobody else's.
    expect(await status('validate', free.licenseKey)).toBe(200)
  })

  test.each(['member', 'tenant'] as const)('a member and the tenant, of which the %s is', async (which) => {
    const { tenantId } = await makeTenant(api.ledger)
    const member = { tenantId, role: 'owner', email: 'ada@example.com' } as const
    const memberId = await addMember(api.ledger.services, member, origin)
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
  })
})
