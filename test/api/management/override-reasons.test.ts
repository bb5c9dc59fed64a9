/**
 * Guarantee: the reason of an entitlement override is stored sealed under the key of the customer's person, and nobody can
 * read it after the erasure, whenever it was recorded. The override itself stays.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { requireCustomer } from '../../../src/commands/customers/customers.ts'
import { eraseSubject } from '../../../src/commands/customers/erasure.ts'
import { causeOf } from '../../../src/commands/origin.ts'
import { customers } from '../../../src/domain/customers/customer.ts'
import { customerStream } from '../../../src/domain/streams.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { eventsIn, origin } from '../../harness/ledger.ts'
import { makeCustomer } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
})
afterAll(() => api.close())

const create = (fields: Record<string, unknown> = {}) => makeCustomer(api.ask, tenant.token, fields)
const read = (id: string, query = '') =>
  api.ask('GET', `/v1/customers/${id}${query}`, { token: tenant.token })
const override = (id: string, overrides: unknown[]) =>
  api.ask('PATCH', `/v1/customers/${id}/entitlements`, { token: tenant.token, body: { overrides } })

test('a reason is in no event and no table in clear, and the same one is not recorded again', async () => {
  const id = await create()
  const list = [
    { entitlement: 'export', effect: 'grant', reason: 'for the workshop of Dr. Canary' },
    { entitlement: 'sync', effect: 'revoke' },
  ]
  for (let sent = 0; sent < 2; sent++)
    expect(await override(id, list)).toMatchObject({ body: { customer: { entitlementOverrides: list } } })
  const events = await eventsIn(api.ledger.ports.ledger, customerStream(id))
  expect(events).toHaveLength(2)
  const { rows } = await api.ledger.db.query('select * from customers where customer_id = $1', [id])
  expect(rows).toHaveLength(1)
  expect(JSON.stringify([events.map((entry) => ({ ...entry, position: null })), rows])).not.toContain(
    'Canary',
  )
})

test('a reason from before reasons were sealed is shown until the customer is erased', async () => {
  const { ports } = api.ledger
  const id = await create({ email: 'canary@example.com' })
  const old = [{ entitlement: 'export', effect: 'grant', reason: 'for Dr. Canary' }] as const
  const command = {
    type: 'ReplaceOverrides',
    overrides: [...old],
    at: ports.now().toISOString(),
  } as const
  await ports.execute(customers, id, command, causeOf(origin, command.at))
  expect((await read(id)).body).toMatchObject({
    customer: { entitlementOverrides: old },
  })
  const { customer } = await requireCustomer(ports, tenant.tenantId, id)
  await eraseSubject(ports, tenant.tenantId, customer.subjectId, origin)
  for (const query of ['', '?asOf=2']) {
    const { body } = await read(id, query)
    expect(body).toMatchObject({ customer: { entitlementOverrides: [{ entitlement: 'export' }] } })
    expect(JSON.stringify(body)).not.toContain('Canary')
  }
  await override(id, [{ ...old[0], reason: 'again for Dr. Canary' }])
  expect(await override(id, [{ ...old[0], reason: 'again for Dr. Canary' }])).toMatchObject({ status: 200 })
  const { rows } = await api.ledger.db.query('select * from customers where customer_id = $1', [id])
  expect(JSON.stringify(rows)).not.toContain('Canary')
})
