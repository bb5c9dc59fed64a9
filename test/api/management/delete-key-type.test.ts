/**
 * Guarantee: after a person's approval a key type is deleted, unless live licenses use it or it is the product's
 * only one; ended licenses keep their terms, and of racing deletions the last key type survives.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { LockLost } from '../../../projections/database/errors.ts'
import { verify } from '../../../projections/runner/verify.ts'
import { usingKeyType } from '../../../src/commands/cross-stream/key-type-use.ts'
import { waitOnce } from '../../../src/commands/cross-stream/read-models.ts'
import { deleteKeyType } from '../../../src/commands/products.ts'
import type { AllPorts } from '../../../src/ports.ts'
import {
  type Answer,
  askOf,
  createTestApp,
  makeTenant,
  openTestApi,
  type TestApi,
  type TestTenant,
} from '../../harness/api.ts'
import { askApproveRepeat } from '../../harness/gate.ts'
import { commandLicense, origin } from '../../harness/ledger.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
})
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  const keyTypes = [
    { name: 'Pro', entitlements: ['export'], duration: { count: 1, unit: 'day' } },
    { name: 'Kept', onExpiry: 'fallback', duration: { count: 1, unit: 'day' } },
    { name: 'Team' },
  ]
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes })
})
afterAll(() => api.close())

const pathOf = (keyTypeId: string, productId = 'editor') => `/v1/products/${productId}/key-types/${keyTypeId}`
const answered = ({ status, body }: Answer) => ({ status, body })
const remove = async (keyTypeId: string) =>
  answered(await askApproveRepeat(api, tenant, 'DELETE', pathOf(keyTypeId)))
const ask = async (keyTypeId: string, productId?: string) =>
  answered(await api.ask('DELETE', pathOf(keyTypeId, productId), { token: tenant.token }))
const deleted = { status: 200, body: { deleted: true } }
const inUse = {
  status: 409,
  body: { error: 'live licenses reference this key type; revoke them or let them expire first' },
}
const only = {
  status: 409,
  body: { error: 'a product needs at least one key type; add another first' },
}

async function keyTypeIds(): Promise<string[]> {
  const { body } = await api.ask('GET', '/v1/products/editor/key-types', { token: tenant.token })
  const list = z.object({ keyTypes: z.array(z.looseObject({ keyTypeId: z.string() })) }).parse(body)
  return list.keyTypes.map(({ keyTypeId }) => keyTypeId)
}

test('a deleted key type is removed from the product, cannot be minted, and its id can be reused', async () => {
  expect(await remove('pro')).toStrictEqual(deleted)
  expect(await keyTypeIds()).toStrictEqual(['kept', 'team'])
  const body = { productId: 'editor', keyTypeId: 'pro' }
  expect(await api.ask('POST', '/v1/licenses', { token: tenant.token, body })).toMatchObject({ status: 404 })
  expect(await ask('pro')).toStrictEqual({ status: 404, body: { error: 'key type not found' } })
  const again = await api.ask('POST', '/v1/products/editor/key-types', {
    token: tenant.token,
    body: { name: 'Pro' },
  })
  expect(again.status).toBe(201)
})

test('a deletion returns 409 without a confirmation while a live license uses the key type', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'pro' })
  expect(await ask('pro')).toStrictEqual(inUse)
  const at = api.ledger.clock.now().toISOString()
  await commandLicense(api.ledger, id, { type: 'RevokeLicense', reason: null, at })
  expect(await remove('pro')).toStrictEqual(deleted)
})

test('a deletion is possible when its licenses have expired, but not while one is in fallback', async () => {
  await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'pro' })
  await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'kept' })
  expect([(await ask('pro')).status, (await ask('kept')).status]).toStrictEqual([409, 409])
  api.ledger.clock.advance(86_400_000)
  expect(await ask('kept')).toStrictEqual(inUse)
  expect(await remove('pro')).toStrictEqual(deleted)
})

test('a license keeps its entitlements when it is renewed after its key type was deleted', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'pro' })
  api.ledger.clock.advance(86_400_000)
  expect(await remove('pro')).toStrictEqual(deleted)
  const now = api.ledger.clock.now()
  const expiresAt = new Date(now.getTime() + 86_400_000).toISOString()
  await commandLicense(api.ledger, id, { type: 'RenewLicense', expiresAt, at: now.toISOString() })
  const { body } = await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })
  expect(body).toMatchObject({ license: { status: 'active', keyTypeId: 'pro', entitlements: ['export'] } })
  const found = await verify(api.ledger.db, api.ledger.ports.ledger, () => undefined)
  expect(found.differences).toStrictEqual([])
})

test('the last key type of a product cannot be deleted', async () => {
  await remove('pro')
  await remove('kept')
  expect(await ask('team')).toStrictEqual(only)
  expect(await keyTypeIds()).toStrictEqual(['team'])
})

test('concurrent deletions of all key types leave one', async () => {
  const answers = await Promise.all(['pro', 'kept', 'team'].map(remove))
  expect(answers.map(({ status }) => status).sort()).toStrictEqual([200, 200, 409])
  expect(answers).toContainEqual(only)
  expect(await keyTypeIds()).toHaveLength(1)
})

test('a repeated deletion does not delete a key type that was added with the same id since', async () => {
  const { ports } = api.ledger
  const keyType = { tenantId: tenant.tenantId, productId: 'editor', keyTypeId: 'pro' }
  const origin = { requestId: 'req_1', actor: 'token:tok_1', causationId: 'cnf_1' }
  await deleteKeyType(ports, keyType, origin)
  await deleteKeyType(ports, keyType, { ...origin, requestId: 'req_2' })
  await api.ask('POST', '/v1/products/editor/key-types', { token: tenant.token, body: { name: 'Pro' } })
  await deleteKeyType(ports, keyType, { ...origin, requestId: 'req_3' })
  expect(await keyTypeIds()).toStrictEqual(['kept', 'team', 'pro'])
})

test('mint and import see a deletion that the read models do not have yet', async () => {
  const { ports } = api.ledger
  const unseen: AllPorts = {
    ...ports,
    execute: (decider, id, command, cause, options) =>
      ports.execute(decider, id, command, cause, { ...options, waits: false }),
  }
  const pro = { tenantId: tenant.tenantId, productId: 'editor', keyTypeId: 'pro' }
  await deleteKeyType(unseen, pro, origin)
  expect(await keyTypeIds()).toContain('pro')
  const mint = { token: tenant.token, body: { productId: 'editor', keyTypeId: 'pro' } }
  expect(await api.ask('POST', '/v1/licenses', mint)).toMatchObject({ status: 404 })
  const rows = [{ licenseKey: 'FOREIGN-KEY-NUMBER-ONE', keyTypeId: 'pro' }]
  const body = { productId: 'editor', licenses: rows }
  expect(await api.ask('POST', '/v1/licenses/import', { token: tenant.token, body })).toMatchObject({
    status: 200,
    body: { results: [{ status: 'invalid' }] },
  })
  await api.ledger.readModels.catchUp()
  expect(await keyTypeIds()).toStrictEqual(['kept', 'team'])
})

test('a deletion sees a license that the read models do not have yet', async () => {
  const { ports } = api.ledger
  const unseen: AllPorts = {
    ...ports,
    execute: (decider, id, command, cause, options) =>
      ports.execute(decider, id, command, cause, { ...options, waits: false }),
  }
  const app = await createTestApp(api.ledger, unseen)
  const body = { productId: 'editor', keyTypeId: 'pro' }
  expect((await askOf(app)('POST', '/v1/licenses', { token: tenant.token, body })).status).toBe(201)
  await app.close()
  const pro = { tenantId: tenant.tenantId, ...body }
  await expect(deleteKeyType(ports, pro, origin)).rejects.toMatchObject({ code: 'key_type_in_use' })
})

test('a request that uses a key type twice does not deadlock with a waiting deletion', async () => {
  const { ports } = api.ledger
  const pro = { tenantId: tenant.tenantId, productId: 'editor', keyTypeId: 'pro' }
  const order: string[] = []
  let deletion: Promise<unknown> | undefined
  await waitOnce(ports, async (steps) => {
    await usingKeyType(steps, pro, async () => undefined)
    deletion = deleteKeyType(ports, pro, origin).then(() => order.push('deleted'))
    await expect.poll(waiting).toBe(1)
    await usingKeyType(steps, pro, async () => order.push('used again'))
  })
  await deletion
  expect(order).toStrictEqual(['used again', 'deleted'])
})

/** The number of sessions that wait only for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await api.ledger.db.query<{ count: number }>(
    `select count(*)::int from pg_locks where locktype = 'advisory' and not granted
     and database = (select oid from pg_database where datname = current_database())`,
  )
  // A shared holder is informed at once; this read makes sure that it has received it.
  await api.ledger.ports.ledger.head()
  return rows[0]?.count ?? 0
}

test('a mint returns 503 when it loses its lock before the license is recorded', async () => {
  const { ports } = api.ledger
  const enter: AllPorts['keyTypes']['enter'] = async (keyType) => {
    const share = await ports.keyTypes.enter(keyType)
    return { ...share, prove: () => Promise.reject(new LockLost()) }
  }
  const app = await createTestApp(api.ledger, { ...ports, keyTypes: { ...ports.keyTypes, enter } })
  const body = { productId: 'editor', keyTypeId: 'pro' }
  expect((await askOf(app)('POST', '/v1/licenses', { token: tenant.token, body })).status).toBe(503)
  await app.close()
})

test.each([
  ['pro', 'absent', 404, 'product not found'],
  ['absent', 'editor', 404, 'key type not found'],
  ['Not-A-Slug', 'editor', 404, 'key type not found'],
])('deleting %s of %s returns %i', async (keyTypeId, productId, status, error) => {
  const answer = await ask(keyTypeId, productId)
  expect(answer).toStrictEqual({ status, body: { error } })
})
