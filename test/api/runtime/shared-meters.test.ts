/**
 * Guarantee: the licenses of a customer use together what the customer shares, before what their key types have; each line names the
 * license that used it, and one license's keys do not answer for another's.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { type Method, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { askApproveRepeat } from '../../harness/gate.ts'
import { beginning } from '../../harness/ledger.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
const calls = { meter: 'calls', unit: 'calls', included: '10', period: 'month', overage: 'block' }
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'api', { keyTypes: [{ name: 'Pro', meters: [calls] }] })
})
afterAll(() => api.close())
beforeEach(() => api.ledger.clock.set(beginning))

const send = async (method: Method, path: string, body?: object) => {
  const answer = await api.ask(method, path, { token: tenant.token, ...(body && { body }) })
  return { status: answer.status, body: answer.body }
}
const Customer = z.object({ customer: z.looseObject({ id: z.string() }) })
async function makeCustomer(body: object = {}): Promise<string> {
  const created = await send('POST', '/v1/customers', { email: 'team@example.com', ...body })
  expect(created.status).toBe(201)
  return Customer.parse(created.body).customer.id
}
const link = (id: string, licenseId: string) =>
  send('POST', `/v1/customers/${id}/link-license`, { licenseId })
const unlink = (id: string, licenseId: string) =>
  send('POST', `/v1/customers/${id}/unlink-license`, { licenseId })
async function makeTeam(meters: object[] = [{ ...calls, included: '15' }]) {
  const customerId = await makeCustomer({ meters })
  const licenses = [
    await mint(api.ask, tenant.token, 'api', { keyTypeId: 'pro' }),
    await mint(api.ask, tenant.token, 'api', { keyTypeId: 'pro' }),
  ] as const
  for (const { id } of licenses) expect(await link(customerId, id)).toMatchObject({ status: 200 })
  return { customerId, licenses }
}
const use = (call: string, license_key: string, amount: string, idempotency_key: string, more: object = {}) =>
  send('POST', `/v1/licenses/${call}`, {
    ...{ product_id: 'api', license_key, meter: 'calls', amount, idempotency_key },
    ...more,
  })
const Meters = z.object({ meters: z.array(z.looseObject({})) })
const metersOf = async (path: string) => Meters.parse((await send('GET', `/v1/${path}/meters`)).body).meters
const Lines = z.object({ items: z.array(z.looseObject({})) })
const linesOf = async (path: string) =>
  Lines.parse((await send('GET', `/v1/${path}/meters/calls/uses?order=oldest`)).body).items

test('licenses use together what their customer shares, and each line names its license', async () => {
  const { customerId, licenses } = await makeTeam()
  const [one, two] = licenses
  expect(await use('consume', one.licenseKey, '8', 'a')).toMatchObject({
    body: { allowed: true, remaining: '7' },
  })
  // The same key of another license is another use; the repeated one is not.
  expect(await use('consume', two.licenseKey, '5', 'a')).toMatchObject({
    body: { allowed: true, remaining: '2' },
  })
  expect(await use('consume', two.licenseKey, '5', 'a')).toMatchObject({
    body: { allowed: true, remaining: '2' },
  })
  expect(await use('consume', one.licenseKey, '5', 'a')).toMatchObject({ status: 422 })
  expect(await use('consume', one.licenseKey, '3', 'b')).toMatchObject({
    body: { allowed: false, status: 'plan_limit', reason: 'meter_exhausted', remaining: '2' },
  })
  const standing = { meter: 'calls', customerId, included: '15', used: '13', remaining: '2' }
  expect(await metersOf(`customers/${customerId}`)).toMatchObject([standing])
  expect(await metersOf(`licenses/${one.id}`)).toMatchObject([standing])
  expect(await linesOf(`customers/${customerId}`)).toMatchObject([
    { kind: 'use', key: 'a', amount: '8', licenseId: one.id },
    { kind: 'use', key: 'a', amount: '5', licenseId: two.id },
  ])
  expect(await linesOf(`licenses/${one.id}`)).toStrictEqual([])
})

test('a hold of what is shared is committed, and keeps its license, also after it was unlinked', async () => {
  const { customerId, licenses } = await makeTeam()
  const [one, two] = licenses
  const held = await use('hold', one.licenseKey, '12', 'h', { seconds: 600 })
  expect(held).toMatchObject({ body: { allowed: true, remaining: '3' } })
  const { hold_id } = z.object({ hold_id: z.string() }).parse(held.body)
  expect(hold_id).toContain(customerId)
  expect(await use('consume', two.licenseKey, '4', 'a')).toMatchObject({ body: { allowed: false } })
  await unlink(customerId, one.id)
  const commit = () => send('POST', '/v1/licenses/hold/commit', { hold_id, amount: '6' })
  expect(await commit()).toStrictEqual({ status: 200, body: { committed: true } })
  expect(await commit()).toStrictEqual({ status: 200, body: { committed: true } })
  expect(await use('consume', two.licenseKey, '9', 'a')).toMatchObject({
    body: { allowed: true, remaining: '0' },
  })
  expect(await linesOf(`customers/${customerId}`)).toMatchObject([
    { kind: 'hold', licenseId: one.id },
    { kind: 'commit', amount: '6', licenseId: one.id },
    { kind: 'use', licenseId: two.id },
  ])
})

test('a license that is unlinked, or whose customer has the meter no more, goes on under its own', async () => {
  const { customerId, licenses } = await makeTeam()
  const [one, two] = licenses
  await use('consume', one.licenseKey, '8', 'a')
  await unlink(customerId, one.id)
  expect(await use('consume', one.licenseKey, '3', 'b')).toMatchObject({ body: { remaining: '7' } })
  // What it used before stays with the customer, and a key begins anew.
  expect(await use('consume', one.licenseKey, '1', 'a')).toMatchObject({ body: { remaining: '6' } })
  expect(await use('consume', two.licenseKey, '1', 'a')).toMatchObject({ body: { remaining: '6' } })
  expect(await send('PATCH', `/v1/customers/${customerId}`, { meters: [] })).toMatchObject({ status: 200 })
  expect(await use('consume', two.licenseKey, '1', 'b')).toMatchObject({ body: { remaining: '9' } })
  expect(await metersOf(`customers/${customerId}`)).toStrictEqual([])
  expect(await linesOf(`customers/${customerId}`)).toHaveLength(2)
  // It goes on where it was when it comes back.
  await send('PATCH', `/v1/customers/${customerId}`, { meters: [{ ...calls, included: '15' }] })
  expect(await use('consume', two.licenseKey, '1', 'c')).toMatchObject({ body: { remaining: '5' } })
})

test('credits and corrections are of the customer, not of a license that uses what is shared', async () => {
  const { customerId, licenses } = await makeTeam()
  const [one] = licenses
  const credit = { meter: 'calls', amount: '5', order: '1001', idempotencyKey: 'order-1001' }
  expect(await send('POST', `/v1/licenses/${one.id}/credits`, credit)).toMatchObject({
    status: 409,
    body: {
      error:
        'all licenses of its customer share this meter; add the credit to the customer instead of the license',
    },
  })
  const added = await send('POST', `/v1/customers/${customerId}/credits`, credit)
  expect(added).toMatchObject({ status: 201, body: { amount: '5' } })
  expect(await send('POST', `/v1/customers/${customerId}/credits`, credit)).toStrictEqual(added)
  expect(await use('consume', one.licenseKey, '18', 'order-1001')).toMatchObject({ body: { remaining: '2' } })
  const correction = { amount: '4', reason: 'counted twice', idempotencyKey: 'c' }
  const meter = `/v1/customers/${customerId}/meters/calls`
  for (const _ of ['once', 'again'])
    expect(await send('POST', `${meter}/corrections`, correction)).toMatchObject({ status: 200 })
  expect(await metersOf(`customers/${customerId}`)).toMatchObject([{ used: '14', remaining: '6' }])
  const { creditId } = z.object({ creditId: z.string() }).parse(added.body)
  const withdraw = `${meter}/credits/${creditId}/withdraw`
  expect(await send('POST', withdraw, { reason: 'refunded' })).toMatchObject({ status: 200 })
  expect(await send('POST', withdraw, { reason: 'refunded' })).toMatchObject({ status: 404 })
  expect(await metersOf(`customers/${customerId}`)).toMatchObject([{ remaining: '1', credits: [] }])
  expect(
    await send('POST', `/v1/customers/${customerId}/credits`, { ...credit, meter: 'nothing' }),
  ).toMatchObject({
    status: 404,
  })
})

test('a period by purchase is refused with what to do, and a meter shows on its customer', async () => {
  const refused = await send('POST', '/v1/customers', {
    ...{ email: 'team@example.com', meters: [{ ...calls, period: 'purchase' }] },
  })
  expect(refused).toMatchObject({
    status: 400,
    body: {
      error:
        'meters[0].period must be day, week, month or license: purchases are of one license, not of a customer',
    },
  })
  const id = await makeCustomer()
  expect(JSON.stringify((await send('GET', `/v1/customers/${id}`)).body)).not.toContain('meters')
  const changed = await send('PATCH', `/v1/customers/${id}`, { name: 'Team', meters: [calls] })
  expect(changed.body).toMatchObject({ customer: { name: 'Team', meters: [calls] } })
})

test('an erased customer keeps what is shared, and it can be changed', async () => {
  const { customerId, licenses } = await makeTeam()
  await use('consume', licenses[0].licenseKey, '5', 'a')
  const erasing = await askApproveRepeat(api, tenant, 'DELETE', `/v1/customers/${customerId}`)
  expect(erasing.status).toBe(200)
  expect(await use('consume', licenses[1].licenseKey, '5', 'a')).toMatchObject({ body: { remaining: '5' } })
  const more = { meters: [{ ...calls, included: '100' }] }
  expect(await send('PATCH', `/v1/customers/${customerId}`, more)).toMatchObject({ status: 200 })
  expect(await use('consume', licenses[1].licenseKey, '5', 'b')).toMatchObject({ body: { remaining: '85' } })
})
