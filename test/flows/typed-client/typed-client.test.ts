/**
 * Guarantee: a client generated from the OpenAPI document compiles, works from the first product to a revocation, and
 * has every operation and query parameter beyond the contract: programs that use it call each of them.
 */
import { execFile } from 'node:child_process'
import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@hey-api/openapi-ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createToken } from '../../../src/commands/tokens.ts'
import { approve, listApprovals } from '../../../src/gate/approvals.ts'
import type { Mailer } from '../../../src/mail/mailer.ts'
import { makeMember } from '../../dashboard/members.ts'
import { makeTenant } from '../../harness/api.ts'
import { pointWebhook, sellLicense, startDispatch, type TestDispatch } from '../../harness/dispatch.ts'
import { operator } from '../../harness/gate.ts'
import { origin, temporaryDirectory } from '../../harness/ledger.ts'
import { startNotary, type TestNotary } from '../../harness/notary.ts'
import { goodKey } from '../../harness/providers.ts'
import { openSellingApi, type SellingApi } from '../../harness/selling-api.ts'
import { type StandIn, startStandIn } from '../../harness/stand-in.ts'
import { purchase } from '../../sales/notifications.ts'
import { openShop } from '../../sales/shop.ts'
import { calledByOthers, contract } from './contract.ts'

const repository = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

let api: SellingApi
let address: string
let directory: string
let receiver: StandIn
let dispatch: TestDispatch
let notary: TestNotary
beforeAll(async () => {
  const mailer: Mailer = {
    send: async () => ({ taken: true, status: 250, answer: '250 OK' }),
    async close() {},
  }
  const from = { name: null, email: 'licenses@keyledger.example' }
  api = await openSellingApi({
    baseUrl: 'https://licenses.example.com',
    mailing: { mailer, mailbox: undefined, from },
  })
  address = await api.app.listen({ port: 0, host: '127.0.0.1' })
  receiver = await startStandIn(() => ({ status: 200, body: {} }))
  const mail = { deliver: async () => ({ outcome: 'unwanted' }) as const }
  notary = startNotary(api.ledger)
  dispatch = await startDispatch(api.ledger, { channels: { mail } })
  directory = temporaryDirectory()
  await generate()
  const tsc = join(repository, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [tsc, '--project', directory]).catch((failed: { stdout?: string }) => {
    throw new Error(`the client or a program does not compile:\n${failed.stdout}`)
  })
})
afterAll(async () => {
  await dispatch.stop()
  await notary.stop()
  await receiver.close()
  await api.close()
  rmSync(directory, { recursive: true, force: true })
})

test('a vendor can work from the first product to a revocation', async () => {
  const { tenantId, token } = await makeTenant(api.ledger)
  expect(await output('journey.ts', tenantId, { TOKEN: token })).toContain('it is valid no more')
})

test('every operation and query parameter beyond the contract is called', async () => {
  const printed = await output('additions/main.ts', ...(await workspace()))
  const called = new Set<string>()
  for (const [, method = '', path = '', query = ''] of printed.matchAll(/^called (\S+) (\S+)\?(\S*)$/gm)) {
    const operation = operations.find((one) => one.method === method && one.path === path)
    if (!operation) throw new Error(`${method} ${path} is not described`)
    const { id } = operation
    for (const name of ['', ...query.split('&')]) called.add(name === '' ? id : `${id}?${name}`)
  }
  const wanted = operations
    .filter(({ id }) => !contract.has(id) && !calledByOthers.has(id))
    .flatMap(({ id, query }) => [id, ...query.map((name) => `${id}?${name}`)])
  const filters = operations.find(({ id }) => id === 'listLicenses')?.query ?? []
  expect(
    [...wanted, ...filters.map((name) => `listLicenses?${name}`)].filter((name) => !called.has(name)),
    'call these in a file of test/flows/typed-client/additions',
  ).toStrictEqual([])
})

test('every operation of the contract is in the document', () => {
  const described = new Set(operations.map(({ id }) => id))
  expect([...contract, ...calledByOthers].filter((id) => !described.has(id))).toStrictEqual([])
})

type Operation = { id: string; method: string; path: string; query: string[] }
const Document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        parameters: z.array(z.object({ in: z.string(), name: z.string() })).default([]),
      }),
    ),
  ),
})

let operations: Operation[]

/** Every page is followed alike, and every list is limited alike. */
const ofEveryList = ['cursor', 'limit']

/** Generates the client from the running application's document, and a project that compiles it strictly. */
async function generate(): Promise<void> {
  const { text, body } = await api.ask('GET', '/v1/openapi.json')
  operations = Object.entries(Document.parse(body).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path,
      query: parameters
        .filter(({ in: place, name }) => place === 'query' && !ofEveryList.includes(name))
        .map(({ name }) => name),
    })),
  )
  writeFileSync(join(directory, 'openapi.json'), text)
  await createClient({
    input: join(directory, 'openapi.json'),
    output: { path: join(directory, 'client'), module: { extension: '.ts' } },
    plugins: ['@hey-api/client-fetch', '@hey-api/sdk', '@hey-api/typescript'],
    logs: { level: 'silent', file: false },
  })
  for (const name of ['journey.ts', 'program.ts', 'additions'])
    cpSync(join(import.meta.dirname, name), join(directory, name), { recursive: true })
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'))
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2024',
        lib: ['es2024', 'dom', 'dom.iterable'],
        module: 'nodenext',
        types: ['node'],
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        allowImportingTsExtensions: true,
      },
      include: ['journey.ts', 'additions'],
    }),
  )
}

/** A workspace with two parked sales, a delivered event, a key that Stripe knows, and a second token. */
async function workspace(): Promise<[tenantId: string, environment: Record<string, string>]> {
  const shop = await openShop(api)
  const { tenantId, token } = shop
  const [STRIPE_KEY, STRIPE_PRICE] = ['rk_live_typed_client', 'price_typed_client']
  api.standIns.stripe.keys.add(STRIPE_KEY)
  api.standIns.stripe.prices.set(STRIPE_PRICE, { owner: STRIPE_KEY })
  await shop.tell(purchase('unmapped', { provider: 'paddle', sold: { providerProduct: 'pri_1' } }).sold())
  await shop.tell(purchase('late', { sold: { productId: 'late' } }).sold())
  await pointWebhook(api.ledger, tenantId, receiver.url)
  await sellLicense(api.ledger, tenantId)
  await expect.poll(() => receiver.asked.length).toBe(1)
  const asked = { tenantId, name: 'CI', scopes: ['licenses:read'], expiresAt: null } as const
  const { tokenId: OTHER_TOKEN_ID } = await createToken(api.ledger.ports, asked, origin)
  const { memberId } = await makeMember(api.ledger, tenantId, 'owner')
  const ofMember = { ...asked, name: 'Mine', scopes: ['products:write'] } as const
  const actor = `member:${memberId}`
  const { token: MEMBER_TOKEN } = await createToken(api.ledger.ports, ofMember, { ...origin, actor })
  const NOW = api.ledger.clock.now().toISOString()
  const secrets = { TOKEN: token, MEMBER_TOKEN, POLAR_KEY: goodKey, STRIPE_KEY }
  return [tenantId, { ...secrets, STRIPE_PRICE, OTHER_TOKEN_ID, NOW }]
}

/** Runs a program, and approves whatever it asks for meanwhile. @returns what it prints */
async function output(
  program: string,
  tenantId: string,
  environment: Record<string, string>,
): Promise<string> {
  let ended = false
  const running = run(process.execPath, [join(directory, program)], {
    env: { ...process.env, ADDRESS: address, ...environment },
  }).finally(() => {
    ended = true
  })
  const approving = (async () => {
    while (!ended) {
      const asked = await listApprovals(api.ledger.ports, tenantId)
      for (const { id } of asked) await approve(api.ledger.ports, tenantId, id, operator)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })()
  const [{ stdout }] = await Promise.all([running, approving])
  return stdout
}
