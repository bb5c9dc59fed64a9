// Guarantee: when a license is issued on one server while its key type is deleted on another, never both succeed.
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { absentLicense, evolveLicense, type License } from '../../src/domain/licenses/license.ts'
import { statusAt } from '../../src/domain/licenses/status.ts'
import { createHost, type Server, type Stores } from '../harness/process.ts'
import { testMs } from '../harness/time-limits.ts'
import { wholeVariable } from '../harness/variables.ts'
import { createOperator, type Operator } from './operator.ts'
import { createVendor } from './vendor.ts'

const host = createHost()
/** `KEYLEDGER_TEST_DELETIONS=1000` for the long run. */
const races = wholeVariable('KEYLEDGER_TEST_DELETIONS', 16)
const atOnce = 4

let stores: Stores
let token: string
let servers: [Server, Server]
let pingUrl: string
beforeAll(async () => {
  stores = await host.stores()
  token = await createVendor(stores.environment)
  servers = await Promise.all([host.serve(stores.environment), host.serve(stores.environment)])
  const { body } = await send(servers[0], 'POST', '/v1/integrations/gumroad/connect')
  const { search, pathname } = new URL(z.object({ pingUrl: z.string() }).parse(body).pingUrl)
  pingUrl = pathname + search
})

type Answer = { status: number; body: unknown }

async function send(
  { address }: Server,
  method: string,
  path: string,
  { body, form, confirmation }: { body?: object; form?: Record<string, string>; confirmation?: string } = {},
): Promise<Answer> {
  const response = await fetch(address + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(confirmation !== undefined && { 'X-Service-Confirmation': confirmation }),
    },
    ...(body && { body: JSON.stringify(body) }),
    ...(form && { body: new URLSearchParams(form) }),
  })
  return { status: response.status, body: await response.json().catch(() => undefined) }
}

const Pending = z.object({ confirmation: z.object({ id: z.string() }) })

async function approved(operator: Operator, method: string, path: string): Promise<string> {
  const { body } = await send(servers[0], method, path)
  const { id } = Pending.parse(body).confirmation
  await operator.approve(id)
  return id
}

/** Issues a license of the key type `contested` of a product. The key type may no longer exist. */
type Issue = (server: Server) => Promise<Answer>

/** The ways to issue a license, each prepared so that one request does it. */
const kinds: Record<string, (operator: Operator, productId: string) => Promise<Issue>> = {
  mint: async (_, productId) => (server) =>
    send(server, 'POST', '/v1/licenses', { body: { productId, keyTypeId: 'contested' } }),
  import: async (_, productId) => (server) =>
    send(server, 'POST', '/v1/licenses/import', {
      body: { productId, licenses: [{ licenseKey: `FOREIGN-KEY-OF-${productId}`, keyTypeId: 'contested' }] },
    }),
  sale: async (_, productId) => {
    const path = `/v1/products/${productId}/integrations/gumroad`
    expect(await send(servers[0], 'POST', path, { body: { permalinks: [productId] } })).toMatchObject({
      status: 200,
    })
    const sale = { resource_name: 'sale', email: 'ada@example.com', price: '2900' }
    return (server) =>
      send(server, 'POST', pingUrl, { form: { ...sale, sale_id: productId, product_permalink: productId } })
  },
  reinstatement: async (operator, productId) => {
    const { body } = await send(servers[0], 'POST', '/v1/licenses', { body: { productId } })
    const { id } = z.object({ license: z.object({ id: z.string() }) }).parse(body).license
    await operator.revoke(id)
    const path = `/v1/licenses/${id}/reinstate`
    const confirmation = await approved(operator, 'POST', path)
    return (server) => send(server, 'POST', path, { confirmation })
  },
}

/** @returns the response to the deletion of the key type */
async function race(operator: Operator, number: number): Promise<{ productId: string; deletion: Answer }> {
  const productId = `product-${number}`
  // A sale uses the first key type of its product.
  const keyTypes = [{ keyTypeId: 'contested', name: 'Contested' }, { name: 'Other' }]
  const made = await send(servers[0], 'POST', '/v1/products', { body: { productId, name: 'App', keyTypes } })
  expect(made.status).toBe(201)
  const prepare = Object.values(kinds)[number % 4]
  const issue = (await prepare?.(operator, productId)) ?? expect.fail('there is a kind for each number')
  const path = `/v1/products/${productId}/key-types/contested`
  const confirmation = await approved(operator, 'DELETE', path)
  const [issuing, deleting] = number % 8 < 4 ? servers : servers.toReversed()
  const [issued, deletion] = await Promise.all([
    sleep(Math.random() * 25).then(() => issue(issuing ?? servers[0])),
    sleep(Math.random() * 10).then(() => send(deleting ?? servers[1], 'DELETE', path, { confirmation })),
  ])
  expect(issued.status).toBeLessThan(500)
  expect([200, 409]).toContain(deletion.status)
  return { productId, deletion }
}

test(`a license and the deletion of its key type never both succeed in ${races} races on two servers`, {
  timeout: testMs + races * 3000,
}, async () => {
  const operator = await createOperator(stores.environment)
  const numbers = Array.from({ length: races }, (_, number) => number).values()
  const outcomes: Awaited<ReturnType<typeof race>>[] = []
  const racing = async () => {
    for (const number of numbers) outcomes.push(await race(operator, number))
  }
  await Promise.all(Array.from({ length: atOnce }, racing))
  const { deleted, live } = await readTruth(operator)
  await operator.close()
  const both = [...deleted].filter((productId) => live.has(productId))
  expect(both).toStrictEqual([])
  for (const { productId, deletion } of outcomes) {
    expect(deletion.status).toBe(deleted.has(productId) ? 200 : 409)
    expect(deleted.has(productId) || live.has(productId)).toBe(true)
  }
  expect(outcomes).toHaveLength(races)
})

/** The products whose key type was deleted, and those whose key type is used by a live license. */
async function readTruth(operator: Operator): Promise<{ deleted: Set<string>; live: Set<string> }> {
  const deleted = new Set<string>()
  const licenses = new Map<string, License>()
  for (const entry of await operator.readLog()) {
    if (!entry.readable) throw new Error(`${entry.stream} is readable`)
    const { category, event, stream } = entry
    if (category === 'license') {
      licenses.set(stream, evolveLicense(licenses.get(stream) ?? absentLicense, event))
    }
    if (event.type === 'KeyTypeDeleted') deleted.add(stream.slice(stream.indexOf('.') + 1))
  }
  const isLive = (license: License) =>
    license.status === 'issued' &&
    license.keyTypeId === 'contested' &&
    statusAt(license, new Date().toISOString()) === 'active'
  const live = [...licenses.values()].flatMap((license) =>
    license.status === 'issued' && isLive(license) ? license.productId : [],
  )
  return { deleted, live: new Set(live) }
}
