/**
 * An approver sees, from the stored request and the present state, what will happen and who requested it.
 * Changes since the request, and why it could no longer run, are shown.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { approve, deny, listApprovals, showApproval } from '../../src/gate/approvals.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { approver, confirmed, pendingId } from '../harness/gate.ts'
import { makeProduct, mint } from '../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
})
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  const keyTypes = [
    { name: 'Pro', deviceLimit: 5 },
    { name: 'Old', deviceLimit: 1, duration: { count: 1, unit: 'day' } },
  ]
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes })
})
afterAll(() => api.close())

const ports = () => api.ledger.ports
const show = (id: string) => showApproval(ports(), tenant.tenantId, id)

async function seated(devices: number, person: Record<string, string> = { email: 'ada@example.com' }) {
  const license = await mint(api.ask, tenant.token, 'editor', person)
  for (let device = 0; device < devices; device++) await activate(license.licenseKey, `device-${device}`)
  return license
}

const activate = (licenseKey: string, deviceId: string) =>
  api.ask('POST', '/v1/licenses/activate', {
    token: tenant.token,
    body: { product_id: 'editor', license_key: licenseKey, device_id: deviceId },
  })

const askToRevoke = async (id: string, body?: object) =>
  pendingId(
    await api.ask('POST', `/v1/licenses/${id}/revoke`, {
      token: tenant.token,
      body,
      headers: { 'user-agent': 'vendor-cli/1.0' },
    }),
  )

const askToDelete = async (keyTypeId: string) =>
  pendingId(await api.ask('DELETE', `/v1/products/editor/key-types/${keyTypeId}`, { token: tenant.token }))

test('a revocation is shown with the key, the person and the affected devices', async () => {
  const { id, licenseKey } = await seated(2)
  const confirmation = await askToRevoke(id, { reason: 'charged back' })
  const displayKey = `ACMEEDIT…${licenseKey.slice(-6, -2)}`
  const sentences = [
    `License ${displayKey} goes from active to revoked`,
    '2 devices lose their seats: “device-0”, “device-1”',
    'Its key stops validating at once',
  ]
  expect(await show(confirmation)).toStrictEqual({
    id: confirmation,
    byMember: false,
    tenantId: tenant.tenantId,
    status: 'pending',
    title: 'Revoke a license',
    description: {
      summary: `Revoke ${displayKey} of ada@example.com, a license for “Acme Editor”`,
      details: [['Reason given by the requester', '“charged back”']],
    },
    changedSinceRequest: false,
    downloads: false,
    impossible: undefined,
    method: 'POST',
    path: '/v1/licenses/{id}/revoke',
    parameters: { id },
    token: { id: tenant.tokenId, name: 'test' },
    client: { address: '127.0.0.1', userAgent: 'vendor-cli/1.0' },
    requestedAt: '2026-03-01T12:00:00.000Z',
    expiresAt: '2026-03-01T12:10:00.000Z',
    expiresInSeconds: 600,
    usableForSeconds: 0,
    effect: {
      effect: {
        licenses: {
          count: 1,
          counted: 'exactly',
          first: [{ id, displayKey, from: 'active', to: 'revoked' }],
        },
        devicesLosing: {
          count: 2,
          counted: 'exactly',
          first: ['device-0', 'device-1'].map((deviceId) => ({ licenseId: id, deviceId, name: deviceId })),
        },
        devicesGaining: { count: 0, counted: 'exactly', first: [] },
        entitlementsAppearing: [],
        entitlementsDisappearing: [],
        webhooks: [],
        also: [],
      },
      refusal: null,
      sentences,
      steady: sentences,
      sinceAsked: { before: [], now: [] },
    },
    approvers: { anotherMember: false, permission: 'decide_confirmations', requestedBy: null, members: [] },
    decidedBy: null,
    decidedAt: null,
    withdrawnBy: null,
    withdrawnAt: null,
    consumedAt: null,
    executedAt: null,
    outcome: null,
    reason: null,
  })
})

test('a license without a holder, or that has expired, is shown as such', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'old' })
  api.ledger.clock.advance(2 * 86_400_000)
  const { description, effect } = await show(await askToRevoke(id))
  expect(description?.summary).toMatch(
    /^Revoke ACMEEDIT….{4} of an unknown holder, a license for “Acme Editor”$/,
  )
  expect(effect?.sentences).toStrictEqual([
    expect.stringMatching(/^License ACMEEDIT….{4} goes from expired to revoked$/),
  ])
  api.ledger.clock.set('2026-03-01T12:00:00.000Z')
})

test('a change since the request is marked, and the present effect is shown', async () => {
  const { id, licenseKey } = await seated(1)
  const confirmation = await askToRevoke(id)
  expect(await show(confirmation)).toMatchObject({ changedSinceRequest: false })
  await activate(licenseKey, 'another')
  expect(await show(confirmation)).toMatchObject({
    changedSinceRequest: true,
    impossible: undefined,
    effect: {
      sentences: expect.arrayContaining(['2 devices lose their seats: “another”, “device-0”']) as string[],
    },
  })
})

test('an operation that could no longer run is marked', async () => {
  const { id } = await seated(0)
  const [first, second] = [await askToRevoke(id), await askToRevoke(id)]
  await approve(ports(), tenant.tenantId, first, approver)
  await confirmed(api.ask, tenant, 'POST', `/v1/licenses/${id}/revoke`, first)
  expect(await show(second)).toMatchObject({
    status: 'pending',
    changedSinceRequest: true,
    impossible: 'license_revoked',
  })
})

test('the deletion of a key type names both, and counts the licenses that have ended', async () => {
  await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'old' })
  api.ledger.clock.advance(2 * 86_400_000)
  const { description, effect } = await show(await askToDelete('old'))
  expect(description).toStrictEqual({
    summary: 'Delete the key type “Old” (old) of “Acme Editor” (editor)',
  })
  expect(effect?.sentences).toStrictEqual([
    'Key type “old” of “editor” is deleted and can no longer be minted or sold; 0 live licenses use it, and 1 ended one keeps its entitlements',
  ])
  api.ledger.clock.set('2026-03-01T12:00:00.000Z')
})

test('one whose target no longer exists has no description', async () => {
  const [first, second] = [await askToDelete('old'), await askToDelete('old')]
  await approve(ports(), tenant.tenantId, first, approver)
  await confirmed(api.ask, tenant, 'DELETE', '/v1/products/editor/key-types/old', first)
  expect(await show(second)).toMatchObject({
    description: undefined,
    changedSinceRequest: true,
    impossible: 'key_type_not_found',
  })
})

test("the caller's own words cannot end their quotation", async () => {
  const { id } = await seated(0)
  const confirmation = await askToRevoke(id, { reason: 'x” is undone and so\u00a0on' })
  expect((await show(confirmation)).description?.details).toStrictEqual([
    ['Reason given by the requester', '“x" is undone and so on”'],
  ])
})

test('the list holds the pending ones, the one that expires first at the top, and none of other tenants', async () => {
  const { id } = await seated(0)
  const ids: string[] = []
  for (let count = 0; count < 4; count++) {
    ids.push(await askToRevoke(id))
    api.ledger.clock.advance(1000)
  }
  const [first = '', second = '', third = '', fourth = ''] = ids
  await deny(ports(), tenant.tenantId, second, approver)
  await approve(ports(), tenant.tenantId, third, approver)
  const listed = async () => (await listApprovals(ports(), tenant.tenantId)).map((entry) => entry.id)
  expect(await listed()).toStrictEqual([first, fourth])
  const everybody = (await listApprovals(ports(), null)).map((entry) => entry.id)
  expect(everybody).toEqual(expect.arrayContaining([first, fourth]))
  const other = await makeTenant(api.ledger)
  expect(await listApprovals(ports(), other.tenantId)).toStrictEqual([])
  api.ledger.clock.advance(596_000)
  expect(await listed()).toStrictEqual([fourth])
  api.ledger.clock.set('2026-03-01T12:00:00.000Z')
})

test('repeating a decision changes nothing, and another decision is refused', async () => {
  const { id } = await seated(0)
  const [yes, no] = [await askToRevoke(id), await askToRevoke(id)]
  const decide = (decision: typeof approve | typeof deny, confirmation: string, actor: string) =>
    decision(ports(), tenant.tenantId, confirmation, { requestId: 'req_1', actor })
  await decide(approve, yes, 'member:mem_1')
  await decide(approve, yes, 'operator:root')
  await expect(decide(deny, yes, 'member:mem_1')).rejects.toMatchObject({ code: 'confirmation_approved' })
  expect(await show(yes)).toMatchObject({
    status: 'approved',
    decidedBy: 'member:mem_1',
    expiresInSeconds: 0,
  })
  await decide(deny, no, 'operator:root')
  await decide(deny, no, 'member:mem_1')
  await expect(decide(approve, no, 'member:mem_1')).rejects.toMatchObject({ code: 'confirmation_denied' })
  expect(await show(no)).toMatchObject({
    status: 'denied',
    decidedBy: 'operator:root',
    description: undefined,
  })
})

test('of a concurrent approval and denial one succeeds', async () => {
  const { id } = await seated(0)
  for (let round = 0; round < 10; round++) {
    const confirmation = await askToRevoke(id)
    const by = (actor: string) => ({ requestId: 'req_1', actor })
    const outcomes = await Promise.allSettled([
      approve(ports(), tenant.tenantId, confirmation, by('member:mem_1')),
      deny(ports(), tenant.tenantId, confirmation, by('member:mem_2')),
    ])
    const won = outcomes.map(({ status }) => status === 'fulfilled')
    expect(won.filter(Boolean)).toHaveLength(1)
    expect((await show(confirmation)).status).toBe(won[0] ? 'approved' : 'denied')
  }
})

test('a malformed id is not found', async () => {
  await expect(show('\0')).rejects.toMatchObject({ code: 'confirmation_not_found' })
  await expect(show('cnf_0')).rejects.toMatchObject({ code: 'confirmation_not_found' })
})
