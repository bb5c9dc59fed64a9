/**
 * Guarantee: seats in use are kept for 400 days before the newest change, and no longer; a replay gives the same rows, whenever it
 * runs. Licenses whose devices keep their seats have no rows.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verify } from '../../projections/runner/verify.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct, mint } from '../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  // A long period: seats end by the clock of the database, and events happen by that of the test.
  const floatingSeats = { seatSeconds: 7_776_000, overdraft: null, scope: 'device' }
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [
      { name: 'Team', deviceLimit: 5, seatPolicy: 'floating', floatingSeats },
      { name: 'Kept', deviceLimit: 5 },
    ],
  })
})
afterAll(() => api.close())

const call = (what: 'activate' | 'deactivate', licenseKey: string, device: string) =>
  api.ask('POST', `/v1/licenses/${what}`, {
    token: tenant.token,
    body: { product_id: 'editor', license_key: licenseKey, device_id: device },
  })

/** `2026-03-01T12:00 0 2 1`: the seats at the start of the minute, the most, and those at its end. */
async function minutes(): Promise<string[]> {
  const { rows } = await api.ledger.db.query<{
    minute: string
    at_start: number
    peak: number
    at_end: number
  }>('select minute, at_start, peak, at_end from seat_minutes order by minute')
  return rows.map((row) => `${row.minute.slice(0, 16)} ${row.at_start} ${row.peak} ${row.at_end}`)
}

const differences = async () =>
  (await verify(api.ledger.db, api.ledger.ports.ledger, () => undefined)).differences

test('a minute has the seats at its start and end, and the most between, also when its events come one by one', async () => {
  const { clock } = api.ledger
  clock.set('2026-03-01T12:00:10.000Z')
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'team' })
  const kept = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'kept' })
  await call('activate', kept.licenseKey, 'a')
  await call('activate', licenseKey, 'a')
  await call('activate', licenseKey, 'b')
  await call('deactivate', licenseKey, 'a')
  clock.set('2026-03-01T12:01:00.000Z')
  await call('deactivate', licenseKey, 'b')
  // A clock that is behind moves no event before those that stand before it.
  clock.set('2026-03-01T12:00:59.000Z')
  await call('activate', licenseKey, 'c')
  expect(await minutes()).toStrictEqual(['2026-03-01T12:00 0 2 1', '2026-03-01T12:01 1 1 1'])
  expect(await differences()).toStrictEqual([])
})

test('rows that are older than 400 days, and a day, are deleted with the next change of any license', async () => {
  const { clock } = api.ledger
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'team' })
  clock.set('2027-04-06T12:00:30.000Z')
  await call('activate', licenseKey, 'a')
  expect(await minutes()).toHaveLength(3)
  clock.set('2027-04-06T12:01:00.000Z')
  await call('deactivate', licenseKey, 'a')
  expect(await minutes()).toStrictEqual([
    '2026-03-01T12:01 1 1 1',
    '2027-04-06T12:00 0 1 1',
    '2027-04-06T12:01 1 1 0',
  ])
  expect(await differences()).toStrictEqual([])
})
