/**
 * A gated operation executes only once a person has approved exactly that request, and then exactly once: before
 * the approval, after a denial or the expiry, for another request or another token nothing happens.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { approve } from '../../src/gate/approvals.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct, mint } from './samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const Pending = z.strictObject({
  confirmation: z.strictObject({
    id: z.string().regex(/^cnf_[0-9a-hjkmnp-tv-z]{26}$/),
    status: z.literal('pending'),
    approveUrl: z.string(),
    expiresInSeconds: z.int(),
  }),
})
const pendingId = ({ status, body }: Answer): string => {
  expect(status).toBe(202)
  return Pending.parse(body).confirmation.id
}

const person = { requestId: 'req_person', actor: 'member:mem_1' }
const services = () => api.ledger.services
const approved = async (id: string) => {
  await approve(services(), tenant.tenantId, id, person)
  return id
}

type Options = { token?: string; confirmation?: string | undefined; body?: unknown; query?: string }
const revoke = (id: string, { token, confirmation, body, query = '' }: Options = {}) =>
  api.ask('POST', `/v1/licenses/${id}/revoke${query}`, {
    token: token ?? tenant.token,
    body,
    headers: confirmation === undefined ? {} : { 'x-service-confirmation': confirmation },
  })
const poll = (id: string, token = tenant.token) => api.ask('GET', `/v1/confirmations/${id}`, { token })
const license = async () => (await mint(api.ask, tenant.token, 'editor')).id
const statusOf = async (id: string) => {
  const { body } = await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })
  return z.object({ license: z.looseObject({ status: z.string() }) }).parse(body).license.status
}
const answered = ({ status, body }: Answer) => ({ status, body })

describe('an approved request', () => {
  test('is executed when it is sent again, and not before', async () => {
    const id = await license()
    const first = await revoke(id, { body: { reason: 'charged back' } })
    const confirmation = pendingId(first)
    expect(first.body).toStrictEqual({
      confirmation: {
        id: confirmation,
        status: 'pending',
        approveUrl: `http://localhost:8080/dashboard/approvals/${confirmation}`,
        expiresInSeconds: 600,
      },
    })
    expect(await statusOf(id)).toBe('active')
    expect(answered(await poll(confirmation))).toStrictEqual({
      status: 200,
      body: { id: confirmation, status: 'pending', expiresInSeconds: 600 },
    })
    await approved(confirmation)
    const polled = await poll(confirmation)
    expect(polled.headers['retry-after']).toBe('2')
    expect(polled.body).toStrictEqual({ id: confirmation, status: 'approved', expiresInSeconds: 0 })
    expect(await statusOf(id)).toBe('active')

    const second = await revoke(id, { body: { reason: 'charged back' }, confirmation })
    expect(second).toMatchObject({ status: 200, body: { license: { id, status: 'revoked' } } })
    expect(await statusOf(id)).toBe('revoked')
    expect((await poll(confirmation)).body).toMatchObject({ status: 'approved' })
  })
})
