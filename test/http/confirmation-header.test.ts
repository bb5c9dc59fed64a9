/**
 * Guarantee: a confirmation that is sent is always checked, also by calls that need none. One that is used, belongs to another
 * token or is for another request gets 403, and nothing is done.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { approve } from '../../src/gate/approvals.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { approver, askApproveRepeat, confirmed, pendingId } from '../harness/gate.ts'
import { guarded } from './guarded.ts'
import { makeProduct, mint } from './samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
})
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const answered = ({ status, body }: Answer) => ({ status, body })
const head = () => api.ledger.ports.ledger.head()
const approved = async (asked: Answer) => {
  const id = pendingId(asked)
  await approve(api.ledger.ports, tenant.tenantId, id, approver)
  return id
}
const refused = (error: string) => ({ status: 403, body: { error } })
const unknown = 'this token has no confirmation with this id; send the request without one'
const mismatch = 'the confirmation is for a different request; repeat the original request exactly'
const used = 'the confirmation was already used; send the request without it to get a new one'

describe('a change of an endpoint that needs no approval', () => {
  const url = 'https://public.example.com/hook'
  const path = '/v1/webhook-endpoints/first'
  const send = (body: object, confirmation: string, query = '') =>
    confirmed(api.ask, tenant, 'PATCH', `${path}${query}`, confirmation, { body })
  beforeEach(async () => {
    await askApproveRepeat(api, tenant, 'POST', '/v1/webhook-endpoints', { body: { url } })
  })

  test.each(['', '?dryRun=true'])(
    'refuses a foreign, an unfitting and a used confirmation%s',
    async (query) => {
      const { token } = tenant
      const moved = { url: `${url}2` }
      const opened = await approved(await api.ask('PATCH', path, { token, body: moved }))
      const other = await tenant.tokenWith('integrations:write', 'danger')
      const foreign = pendingId(await api.ask('PATCH', path, { token: other, body: moved }))
      const pause = { paused: true }
      const before = await head()
      for (const absent of ['', 'cnf_1', 'cnf_00000000000000000000000000', foreign])
        expect(answered(await send(pause, absent, query))).toStrictEqual(refused(unknown))
      expect(answered(await send(pause, opened, query))).toStrictEqual(refused(mismatch))
      expect(await head()).toBe(before)
      expect(await send(moved, opened)).toMatchObject({ status: 200, body: { endpoint: moved } })
      // The URL no longer differs, so that the same call needs no approval.
      const after = await head()
      expect(answered(await send(moved, opened, query))).toStrictEqual(refused(used))
      expect(await head()).toBe(after)
    },
  )

  test('uses a fitting confirmation, so that it is executed once', async () => {
    const moved = { url: `${url}2`, paused: true }
    const [first, second] = [
      await approved(await api.ask('PATCH', path, { token: tenant.token, body: moved })),
      await approved(await api.ask('PATCH', path, { token: tenant.token, body: moved })),
    ]
    expect(await send(moved, first)).toMatchObject({ status: 200 })
    expect(await send(moved, second)).toMatchObject({ status: 200, body: { endpoint: moved } })
    await api.ask('PATCH', path, { token: tenant.token, body: { paused: false } })
    expect(answered(await send(moved, second))).toStrictEqual(refused(used))
    const { body } = await api.ask('GET', path, { token: tenant.token })
    expect(body).toMatchObject({ endpoint: { paused: false } })
  })
})

test('a dry run of a gated call refuses a confirmation that the call could not use, and uses none', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor')
  const path = `/v1/licenses/${id}/revoke`
  const call = { token: tenant.token, body: { reason: 'one' } }
  const confirmation = await approved(await api.ask('POST', path, call))
  const rehearse = (body: object) =>
    confirmed(api.ask, tenant, 'POST', `${path}?dryRun=true`, confirmation, { body })
  expect(answered(await rehearse({ reason: 'another' }))).toStrictEqual(refused(mismatch))
  expect(await rehearse(call.body)).toMatchObject({ status: 200, body: { dryRun: true } })
  expect(await confirmed(api.ask, tenant, 'POST', path, confirmation, call)).toMatchObject({ status: 200 })
  expect(answered(await rehearse(call.body))).toStrictEqual(refused(used))
})

test('an operation that never needs an approval refuses every confirmation, also beside an Idempotency-Key', async () => {
  const { token } = tenant
  const { id } = await mint(api.ask, token, 'editor')
  const opened = await approved(await api.ask('POST', `/v1/licenses/${id}/revoke`, { token }))
  const error = expect.stringMatching(/^this operation needs no approval/) as string
  const body = { productId: 'editor' }
  const key = { 'idempotency-key': 'mint-1' }
  const done = await api.ask('POST', '/v1/licenses', { token, body, headers: key })
  expect(done).toMatchObject({ status: 201 })
  const before = await head()
  const headers = { ...key, 'x-service-confirmation': opened }
  expect(answered(await api.ask('POST', '/v1/licenses', { token, body, headers }))).toStrictEqual({
    status: 403,
    body: { error },
  })
  expect(await head()).toBe(before)
})

test('no management operation answers 2xx to a confirmation that does not exist', async () => {
  const before = await head()
  const statuses = new Set<number>()
  for (const [method, path, scope, body] of guarded) {
    if (scope === 'licenses:runtime') continue
    const call = { token: tenant.token, body, headers: { 'x-service-confirmation': 'cnf_1' } }
    const { status } = await api.ask(method, path, call)
    expect({ method, path, status, refused: status >= 400 }).toMatchObject({ refused: true })
    statuses.add(status)
  }
  expect(statuses).toContain(403)
  expect(await head()).toBe(before)
})
