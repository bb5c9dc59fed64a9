/** Guarantee: in the portal a customer sees which floating seats are in use now, and none that ran out. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeProduct, mint } from '../http/samples.ts'
import { openTestPortal, type TestPortal } from './customer.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
  const floatingSeats = { seatSeconds: 3600, overdraft: null, scope: 'device' }
  await makeProduct(portal.api.ask, portal.tenant.token, 'editor', {
    keyTypes: [{ name: 'Team', deviceLimit: 3, seatPolicy: 'floating', floatingSeats }],
  })
})
afterAll(() => portal.close())

test('the page of a license shows until when each seat lasts, and a seat that ran out no more', async () => {
  const { api, tenant } = portal
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor', { email: 'team@example.com' })
  for (const name of ['Studio', 'Laptop']) {
    const body = { product_id: 'editor', license_key: licenseKey, device_id: name, name }
    await api.ask('POST', '/v1/licenses/activate', { token: tenant.token, body })
  }
  const client = await portal.signedIn('team@example.com')
  const shown = async () => (await client.get(`${portal.home}/licenses/${id}`)).text
  const both = await shown()
  expect(both).toContain('Seats in use now')
  expect(
    both.match(/Keeps its seat until \d+ \w+ \d{4} at \d\d:\d\d UTC, and longer while its app runs/g),
  ).toHaveLength(2)
  // Nothing has recorded it yet.
  await api.ledger.db.query(
    `update usage.seat_ends set ends_at = clock_timestamp() - interval '1 second' where device_id = 'Laptop'`,
  )
  const one = await shown()
  expect(one).toContain('Studio')
  expect(one).not.toContain('Laptop')
})
