/**
 * Guarantee: the events of one license reach an endpoint in order, and each of them, also when the process that sends
 * them is killed at any moment and another one goes on.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createLog } from '../../src/app/log.ts'
import { openStores, type Stores } from '../../src/app/stores.ts'
import { createTenant } from '../../src/commands/tenants.ts'
import { parseConfig } from '../../src/config.ts'
import { pointWebhook, sellLicense, startDispatch } from '../harness/dispatch.ts'
import { commandLicense, origin, uniqueId } from '../harness/ledger.ts'
import { createHost, type Environment } from '../harness/process.ts'
import { type StandIn, startStandIn } from '../harness/stand-in.ts'

const host = createHost()
let environment: Environment
let stores: Stores
let receiver: StandIn
beforeAll(async () => {
  environment = { ...(await host.stores()).environment, KEYLEDGER_WEBHOOK_ALLOW_PRIVATE: 'true' }
  stores = await openStores(parseConfig(environment), createLog('silent'))
  receiver = await startStandIn(() => ({ status: 200, body: {} }))
})
afterAll(async () => {
  await receiver.close()
  await stores.close()
})

const Body = z.looseObject({ license_id: z.string(), sequence: z.int() })
/** The numbers of a license's events, in the order in which they first arrived. */
const firsts = (licenseId: string) => [
  ...new Set(
    receiver.asked
      .map(({ body }) => Body.parse(JSON.parse(body)))
      .filter(({ license_id }) => license_id === licenseId)
      .map(({ sequence }) => sequence),
  ),
]

test('a process is killed while it sends, and the next one goes on in order', async () => {
  const tenantId = uniqueId('acme')
  await createTenant(stores.ports, { tenantId, name: 'Acme', plan: 'unlimited' }, origin)
  await pointWebhook(stores, tenantId, `${receiver.url}/hook`)
  receiver.delayMs = 20
  const licenses: string[] = []
  for (let n = 0; n < 4; n++) licenses.push((await sellLicense(stores, tenantId)).licenseId)
  for (let device = 0; device < 4; device++)
    for (const licenseId of licenses) {
      const at = stores.ports.now().toISOString()
      const deviceId = `device-${device}`
      const more = {
        deviceId,
        instanceId: `ins_${deviceId}`,
        installId: null,
        name: deviceId,
        platform: null,
      }
      await commandLicense(stores, licenseId, { type: 'ActivateDevice', ...more, at })
    }
  for (const arrivals of [2, 9]) {
    const server = await host.serve(environment)
    await expect.poll(() => receiver.asked.length).toBeGreaterThanOrEqual(arrivals)
    await server.end('SIGKILL')
  }
  const dispatch = await startDispatch(stores, { overAfterMs: 100 })
  await expect
    .poll(() => licenses.map((licenseId) => firsts(licenseId).length))
    .toStrictEqual(licenses.map(() => 5))
  await dispatch.stop()
  expect(dispatch.failures).toStrictEqual([])
  for (const licenseId of licenses) expect(firsts(licenseId)).toStrictEqual([1, 2, 3, 4, 5])
})
