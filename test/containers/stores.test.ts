/**
 * Guarantee: keyledger works with Postgres and NATS in containers, and continues when they are killed and
 * restarted. This short part of `npm run test:containers` runs in every `npm test` on a machine with a container
 * engine.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Client, client, createVendor } from '../flows/vendor.ts'
import { type Engine, images, openEngine } from '../harness/container-engine.ts'
import { createDatabaseOn } from '../harness/database.ts'
import { createHost, type Environment, freePort } from '../harness/process.ts'
import { type StandIn, startStandIn } from '../harness/stand-in.ts'

const engine = await openEngine()
const why = engine ? await whyNot(engine) : 'no container engine answers'
if (why !== undefined) {
  if (process.env.KEYLEDGER_TEST_CONTAINERS !== undefined) throw new Error(why)
  console.warn(`The tests on containers are skipped: ${why}.`)
}

async function whyNot({ has }: Engine): Promise<string | undefined> {
  for (const image of [images.postgres, images.nats]) {
    if (!(await has(image))) return `the image ${image} is not here and cannot be pulled`
  }
  return undefined
}

const host = createHost()
afterAll(() => engine?.close())

type Restartable = { kill(): Promise<unknown>; start(): Promise<unknown> }

describe.runIf(engine && why === undefined)('on stores in containers', () => {
  let receiver: StandIn
  let vendor: Client
  let licenseKey: string
  let postgres: Restartable
  let nats: Restartable

  beforeAll(async () => {
    if (!engine) return
    const { letTestsIn, startNatsContainer, startPostgresContainer } = await import(
      '../harness/containers.ts'
    )
    const [server, feed] = await Promise.all([
      startPostgresContainer(engine, await freePort()),
      startNatsContainer(engine, await freePort()),
    ])
    postgres = engine.client.container.getById(server.container.getId())
    nats = engine.client.container.getById(feed.container.getId())
    const database = await createDatabaseOn(await letTestsIn(server.url))
    const environment: Environment = {
      ...(await host.stores()).environment,
      KEYLEDGER_DATABASE_URL: database.url,
      KEYLEDGER_NATS_URL: feed.url,
      KEYLEDGER_WEBHOOK_ALLOW_PRIVATE: 'true',
    }
    const { address } = await host.serve(environment)
    vendor = client(address, await createVendor(environment))
    receiver = await startStandIn(() => ({ status: 200, body: {} }))
    const Set_ = z.looseObject({ url: z.string() })
    await host.json(Set_, ['webhook', 'set', receiver.url, '--tenant', 'acme'], environment)
  })
  afterAll(() => receiver?.close())

  test('a license is minted, used, and delivered through NATS', async () => {
    await vendor.createProduct(3)
    ;({ licenseKey } = await vendor.mint())
    expect((await vendor.activate(licenseKey, 'laptop')).status).toBe(200)
    expect((await vendor.validate(licenseKey, 'laptop')).body).toMatchObject({ valid: true })
    expect((await vendor.send('GET', '/readyz')).body).toMatchObject({ parts: { nats: { ok: true } } })
    await expect.poll(() => told('license.activated')).toBe(1)
  })

  test('while Postgres is killed, requests get 503 until it is restarted', async () => {
    await postgres.kill()
    await expect.poll(async () => (await vendor.validate(licenseKey, 'laptop')).status).toBe(503)
    await postgres.start()
    await expect.poll(async () => (await vendor.validate(licenseKey, 'laptop')).status).toBe(200)
    expect((await vendor.validate(licenseKey, 'laptop')).body).toMatchObject({ valid: true })
  })

  test('events during an outage of NATS are delivered afterwards', async () => {
    await nats.kill()
    expect((await vendor.activate(licenseKey, 'desktop')).status).toBe(200)
    await nats.start()
    await expect.poll(() => told('license.activated')).toBe(2)
  })

  const told = (event: string): number =>
    receiver.asked.filter(({ body }) => body.includes(`"${event}"`)).length
})
