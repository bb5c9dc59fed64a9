import { afterAll, beforeAll, beforeEach } from 'vitest'
import { z } from 'zod'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'

/** The fields of a key type whose seats float. */
export const floating = (more: object = {}) => ({
  seatPolicy: 'floating',
  floatingSeats: { seatSeconds: 600, overdraft: null, scope: 'device', ...more },
})

export const Seat = z.strictObject({ id: z.string(), fence: z.int(), ends_at: z.int() })
const Taken = z.looseObject({ instance_id: z.string(), seat: Seat })
const machine = (name: string) => ({ machine_hash: `machine-${name}`.padEnd(16, '-') })

/** A product with floating seats of every kind for the tests of a file, with an app and a server that call for its licenses. */
export function floatingShop() {
  let api: TestApi
  let tenant: TestTenant
  let app: App
  beforeAll(async () => {
    api = await openTestApi()
    tenant = await makeTenant(api.ledger)
    const { tenantId, token } = tenant
    await makeProduct(api.ask, token, 'editor', {
      keyTypes: [
        { name: 'One', deviceLimit: 1, ...floating() },
        { name: 'Over', deviceLimit: 1, ...floating({ overdraft: { seats: 1 } }) },
        { name: 'Users', deviceLimit: 1, ...floating({ scope: 'user' }) },
        { name: 'Farm', deviceLimit: 2, ...floating({ scope: 'process' }) },
        { name: 'Term', deviceLimit: 1, duration: { count: 1, unit: 'day' }, ...floating() },
        { name: 'Kept', deviceLimit: 1 },
      ],
    })
    app = appOf(api.ask, { tenantId, productId: 'editor' }, await sdkKeyOf(api.ledger, tenantId))
  })
  afterAll(() => api.close())
  // Seats end by the clock of the database, leases by that of the process.
  beforeEach(() => api.ledger.clock.set(new Date().toISOString()))

  const activate = (licenseKey: string, name: string, more: object = machine(name)) =>
    app.post('activate', { license_key: licenseKey, instance_name: name, ...more })
  const onInstance =
    (call: 'validate' | 'heartbeat' | 'deactivate') =>
    (licenseKey: string, instanceId: string, more: object = {}) =>
      app.post(call, { license_key: licenseKey, instance_id: instanceId, ...more })
  return {
    api: () => api,
    tenant: () => tenant,
    make: (keyTypeId: string) => mint(api.ask, tenant.token, 'editor', { keyTypeId }),
    /** Ends the time of all seats of a license, while processes run. */
    async runOut(licenseId: string) {
      const { db } = api.ledger
      await db.query('update usage.seats_kept set kept_at = clock_timestamp()')
      await db.query(
        `update usage.seat_ends set ends_at = clock_timestamp() - interval '1 second' where license_id = $1`,
        [licenseId],
      )
    },
    activate,
    async take(licenseKey: string, name: string, more?: object) {
      const { body } = await activate(licenseKey, name, more)
      return Taken.parse(body)
    },
    validate: onInstance('validate'),
    heartbeat: onInstance('heartbeat'),
    deactivate: onInstance('deactivate'),
    /** A call of a vendor's server. */
    call: (name: string, licenseKey: string, device: string, more: object = {}) =>
      api.ask('POST', `/v1/licenses/${name}`, {
        token: tenant.token,
        body: { product_id: 'editor', license_key: licenseKey, device_id: device, ...more },
      }),
  }
}
