// Guarantee: with concurrent calls on three servers, a tenant gets exactly what its plan allows: no product and
// no device more, and none fewer. A device that has its seat is never refused.
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { countActiveDevices } from '../../projections/licenses/active-devices.ts'
import { createLog } from '../../src/app/log.ts'
import { openStores } from '../../src/app/stores.ts'
import { revealSdkKey } from '../../src/commands/client-keys.ts'
import { createTenant } from '../../src/commands/tenants.ts'
import { createToken } from '../../src/commands/tokens.ts'
import { parseConfig } from '../../src/config.ts'
import { planLimits } from '../../src/domain/tenants/tenant.ts'
import { createHost, type Server, type Stores } from '../harness/process.ts'
import { testMs } from '../harness/time-limits.ts'
import { wholeVariable } from '../harness/variables.ts'

const host = createHost()
const racers = 64
/** `KEYLEDGER_TEST_PLAN_ROUNDS=200` for the long run. */
const rounds = wholeVariable('KEYLEDGER_TEST_PLAN_ROUNDS', 2)
const { products: maxProducts, activeDevices: maxDevices } = planLimits.free

let stores: Stores
let servers: Server[]
let tenants: { tenantId: string; token: string; sdkKey: string }[]
beforeAll(async () => {
  stores = await host.stores()
  tenants = await makeTenants()
  servers = await Promise.all(Array.from({ length: 3 }, () => host.serve(stores.environment)))
})

const origin = { requestId: 'req_test', actor: 'operator:test' }

async function makeTenants() {
  const { ports, close } = await openStores(parseConfig(stores.environment), createLog('silent'))
  try {
    const scopes = [
      'products:read',
      'products:write',
      'licenses:read',
      'licenses:write',
      'licenses:runtime',
    ] as const
    return await Promise.all(
      Array.from({ length: rounds }, async (_, round) => {
        const tenantId = `tenant-${round}`
        await createTenant(ports, { tenantId, name: tenantId, plan: 'free' }, origin)
        const asked = { tenantId, name: 'test', scopes, expiresAt: null }
        const { token } = await createToken(ports, asked, origin)
        const sdkKey = await revealSdkKey(ports, tenantId, `op-${round}`, origin)
        return { tenantId, token, sdkKey }
      }),
    )
  } finally {
    await close()
  }
}

type Answer = { status: number; body: unknown }
type Tenant = Awaited<ReturnType<typeof makeTenants>>[number]

async function post(
  { address }: Server,
  path: string,
  headers: Record<string, string>,
  body: object,
): Promise<Answer> {
  const response = await fetch(address + path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

const serverOf = (racer: number): Server =>
  servers[racer % servers.length] ?? expect.fail('there are servers')
const asVendor = ({ token }: Tenant) => ({ authorization: `Bearer ${token}` })

/** As simultaneously as possible. */
const race = <T>(run: (server: Server, racer: number) => Promise<T>): Promise<T[]> =>
  Promise.all(
    Array.from({ length: racers }, async (_, racer) => {
      await sleep(Math.random() * 5)
      return run(serverOf(racer), racer)
    }),
  )

const tally = (answers: readonly Answer[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, all.length]),
  )

const Activated = z.object({ activated: z.literal(true) })
const Imported = z.object({ results: z.tuple([z.object({ status: z.literal('imported') })]) })

/** How many devices each kind of call adds, and the response that shows it. */
const kinds = [
  {
    seats: 1,
    ask: (server: Server, tenant: Tenant, licenseKey: string, racer: number) =>
      post(server, '/v1/licenses/activate', asVendor(tenant), {
        product_id: 'product-0',
        license_key: licenseKey,
        device_id: `device-${racer}`,
      }),
    isSeated: (body: unknown) => Activated.safeParse(body).success,
  },
  {
    seats: 1,
    ask: (server: Server, { tenantId, sdkKey }: Tenant, licenseKey: string, racer: number) =>
      post(
        server,
        `/${tenantId}/product-0/activate`,
        { 'x-service-sdk-key': sdkKey },
        {
          license_key: licenseKey,
          instance_name: `App ${racer}`,
        },
      ),
    isSeated: (body: unknown) => Activated.safeParse(body).success,
  },
  {
    seats: 2,
    ask: (server: Server, tenant: Tenant, _: string, racer: number) =>
      post(server, '/v1/licenses/import', asVendor(tenant), {
        productId: 'product-0',
        licenses: [{ licenseKey: `FOREIGN-KEY-OF-RACER-${racer}`, devices: devicesOf(2) }],
      }),
    isSeated: (body: unknown) => Imported.safeParse(body).success,
  },
]

const devicesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ deviceId: `old-${at}`, name: `Old ${at}` }))

/** The product `product-0` exists before. */
async function raceForProducts(tenant: Tenant): Promise<void> {
  const keyTypes = [{ name: 'Any', deviceLimit: null }]
  const create = (server: Server, productId: string) =>
    post(server, '/v1/products', asVendor(tenant), { productId, name: 'App', keyTypes })
  expect(await create(serverOf(0), 'product-0')).toMatchObject({ status: 201 })
  const answers = await race((server, racer) => create(server, `product-of-racer-${racer}`))
  expect(tally(answers)).toStrictEqual({ 201: maxProducts - 1, 402: racers - maxProducts + 1 })
}

/** Adds all but a few of the allowed devices, and then more than the plan allows. */
async function raceForDevices(tenant: Tenant): Promise<void> {
  const room = 30
  const licenseKey = `FOREIGN-KEY-OF-${tenant.tenantId}`
  const rows = [{ licenseKey, devices: devicesOf(maxDevices - room) }]
  const first = await post(serverOf(0), '/v1/licenses/import', asVendor(tenant), {
    productId: 'product-0',
    licenses: rows,
  })
  expect(Imported.safeParse(first.body).success).toBe(true)
  let seated = 0
  await race(async (server, racer) => {
    const kind = kinds[racer % kinds.length] ?? expect.fail('there are kinds')
    const { status, body } = await kind.ask(server, tenant, licenseKey, racer)
    if (kind.isSeated(body)) seated += kind.seats
    else expect([200, 402]).toContain(status)
  })
  expect(seated).toBe(room)
  const again = await race((server, racer) =>
    post(server, '/v1/licenses/activate', asVendor(tenant), {
      product_id: 'product-0',
      license_key: licenseKey,
      device_id: `old-${racer}`,
    }),
  )
  expect(again.filter(({ body }) => Activated.safeParse(body).success)).toHaveLength(racers)
}

test(`${racers} concurrent requests on three servers add exactly ${maxProducts} products and ${maxDevices} devices (${rounds} rounds)`, {
  timeout: testMs + rounds * 30_000,
}, async () => {
  for (const tenant of tenants) {
    await raceForProducts(tenant)
    await raceForDevices(tenant)
  }
  const { ports, close } = await openStores(parseConfig(stores.environment), createLog('silent'))
  const counts = await Promise.all(tenants.map(({ tenantId }) => countActiveDevices(ports.db, tenantId)))
  await close()
  expect(new Set(counts)).toStrictEqual(new Set([maxDevices]))
})
