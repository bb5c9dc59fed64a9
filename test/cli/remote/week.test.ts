// Guarantee: a vendor's week needs no dashboard of their own: on another machine, with a home of its own and no ledger,
// they sign in, set up a product, sell, support, watch and hand over, ending in a revoke that another member approves.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { changeApprovalRule } from '../../../src/commands/tenants.ts'
import { isVerified, verifyDelivery } from '../../../src/webhooks/signature.ts'
import { clientOf } from '../../dashboard/client.ts'
import { makeMember, type TestMember } from '../../dashboard/members.ts'
import { createHost, type Running } from '../../harness/process.ts'
import { createMachine, type Machine } from './machine.ts'
import { confirmationIn, openTestServer, type TestServer } from './server.ts'

const host = createHost()
let server: TestServer
let machine: Machine
let ada: TestMember
let grace: TestMember
const received: { body: string; headers: Record<string, string | undefined> }[] = []
const receiver = createServer((request, response) => {
  void text(request).then((body) => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]),
    )
    received.push({ body, headers })
    response.writeHead(204).end()
  })
})
let hook: string
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const at = receiver.address()
  hook = `localhost:${typeof at === 'object' ? at?.port : ''}/hooks`
  server = await openTestServer()
  machine = createMachine(host)
  const { api, tenant } = server
  ada = await makeMember(api.ledger, tenant.tenantId, 'owner')
  grace = await makeMember(api.ledger, tenant.tenantId, 'owner')
  const origin = { requestId: 'req_test', actor: 'operator:test' }
  await changeApprovalRule(api.ledger.ports, tenant.tenantId, true, origin)
})
afterAll(() => void receiver.close())

const License = z.object({ id: z.string(), status: z.string(), email: z.string().nullable() })
const Minted = z.object({ license: License, licenseKey: z.string() })
const scopes = [
  ...[
    'products:read',
    'products:write',
    'licenses:read',
    'licenses:write',
    'customers:read',
    'customers:write',
  ],
  ...['integrations:read', 'integrations:write', 'usage:read', 'danger'],
]
let addresses = 0

async function signedIn(member: TestMember) {
  const browser = clientOf(server.api.app, `192.0.2.${++addresses}`)
  expect((await browser.signIn(member)).status).toBe(303)
  return browser
}

/** Enters the code that a login shows, and grants every scope. */
async function grant(login: Running, member: TestMember): Promise<void> {
  await expect.poll(() => login.stderr()).toMatch(/code: \w{4}-\w{4}/)
  const code = /code: (\w{4}-\w{4})/.exec(login.stderr())?.[1] ?? ''
  const browser = await signedIn(member)
  await browser.get('/dashboard/device')
  const { location = '' } = await browser.post('/dashboard/device', { code })
  await browser.get(location)
  const done = await browser.post('/dashboard/device/approve', { scopes, lifetime: '30' })
  expect(done.text).toContain('is authorized')
  server.api.ledger.clock.advance(60_000)
}

/** Opens the address that a command shows, as a member, and approves it there. */
async function approveAs(member: TestMember, command: Running): Promise<number> {
  const id = await confirmationIn(command)
  const browser = await signedIn(member)
  const address = /(\/dashboard\/\S+)/.exec(command.stderr())?.[1] ?? ''
  expect(address).toContain(id)
  const page = await browser.get(address)
  expect(page.status).toBe(200)
  const seen = /name="seen" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
  return (await browser.post(`${address}/approve`, { seen })).status
}

test('a week of a vendor without a dashboard', async () => {
  const login = machine.start('login', '--server', server.address, '--scopes', scopes.join(','))
  await grant(login, ada)
  expect((await login.finished).stdout).toContain(`Signed in to ${server.tenant.tenantId}`)

  // Monday: a product and a first customer.
  expect(await machine.run('products', 'create', '--name', 'Editor', '--id', 'editor')).toMatchObject({
    code: 0,
  })
  const pro = [
    '--name',
    'Pro',
    '--id',
    'pro',
    '--device-limit',
    '2',
    '--duration',
    '1y',
    '--entitlements',
    'export,sync',
  ]
  expect(await machine.run('key-types', 'create', 'editor', ...pro)).toMatchObject({ code: 0 })
  expect((await machine.run('key-types', 'list', 'editor')).stdout).toMatch(
    /^pro +Pro +2 +1 year +export,sync$/m,
  )
  const Customer = z.object({ customer: z.object({ id: z.string() }) })
  const { customer } = await machine.json(Customer, 'customers', 'create', '--email', 'ada@example.com')
  const terms = ['--product', 'editor', '--key-type', 'pro', '--email', 'ada@example.com']
  const minted = await machine.json(
    Minted,
    ...['licenses', 'create', ...terms, '--customer', customer.id, '--metadata', 'order=4711'],
  )
  const { id } = minted.license

  // Tuesday: support.
  const Page = z.object({ items: z.array(License), nextCursor: z.string().nullable() })
  const found = await machine.json(Page, 'licenses', 'list', '--metadata', 'order=4711', '--status', 'active')
  expect(found.items).toMatchObject([{ id, email: 'ada@example.com' }])
  expect((await machine.run('licenses', 'search', 'ada@example.com')).stdout).toContain(id)
  const update = [
    'licenses',
    'update',
    id,
    '--device-limit',
    '5',
    '--expires-at',
    '2030-01-31',
    '--reason',
    'asked',
  ]
  expect((await machine.run(...update)).stdout).toMatch(/^deviceLimit: 5$/m)
  expect((await machine.run('licenses', 'show', id)).stdout).toMatch(/^expiresAt: 2030-01-31T00:00:00.000Z$/m)

  // Wednesday: a webhook, developed on this machine.
  const listening = machine.start('listen', '--forward-to', hook)
  await expect.poll(() => listening.stderr()).toContain('Keys in them are masked')
  const secret = /whsec_\S+/.exec(listening.stderr())?.[0] ?? ''
  expect(await machine.run('trigger', 'license.revoked')).toMatchObject({ code: 0 })
  expect((await machine.run('licenses', 'suspend', id, '--reason', 'unpaid')).stdout).toMatch(
    /^status: suspended$/m,
  )
  await expect.poll(() => received.length).toBe(2)
  await listening.end('SIGINT')
  expect(
    received.map(({ body }) => z.looseObject({ event: z.string() }).parse(JSON.parse(body)).event),
  ).toStrictEqual(['license.revoked', 'license.suspended'])
  for (const one of received) expect(isVerified(verifyDelivery(secret, one, new Date()))).toBe(true)
  await machine.run('licenses', 'resume', id)
  expect((await machine.run('licenses', 'history', id, '--order', 'oldest')).stdout).toMatch(/Suspended/)

  // Thursday: figures, and licenses from elsewhere.
  expect((await machine.run('usage', '--product', 'editor')).stdout).toMatch(/^TIME +ACTIVATIONS/)
  const file = host.path('customers.csv')
  const rows = Array.from({ length: 1200 }, (_, index) => `OLD-${index}-KEY-2049,user${index}@example.com`)
  writeFileSync(file, ['licenseKey,email', ...rows, ',nobody@example.com', ''].join('\n'))
  const Imported = z.object({
    imported: z.int(),
    duplicates: z.int(),
    invalid: z.array(z.object({ line: z.int() })),
  })
  const first = await machine.run('licenses', 'import', file, '--product', 'editor', '--json')
  expect(first.code).toBe(1)
  expect(Imported.parse(JSON.parse(first.stdout))).toStrictEqual({
    imported: 1200,
    duplicates: 0,
    invalid: [{ line: 1202 }],
  })
  const second = await machine.run('licenses', 'import', file, '--product', 'editor', '--json')
  expect(Imported.parse(JSON.parse(second.stdout))).toMatchObject({ imported: 0, duplicates: 1200 })
  const everything = await machine.json(Page, 'licenses', 'list', '--all')
  expect(new Set(everything.items.map((one) => one.id)).size).toBe(1201)
  const some = await machine.run('licenses', 'list', '--limit', '2')
  expect(some.stdout.trimEnd().split('\n')).toHaveLength(3)
  expect(some.stderr).toContain('There are more: add --all, or --cursor ')

  // Friday: an export and a revoke, which another member has to approve.
  const out = host.path('licenses.csv')
  const exporting = machine.start('licenses', 'export', '--format', 'csv', '--out', out)
  expect(await approveAs(grace, exporting)).toBe(303)
  expect(await exporting.finished).toMatchObject({ code: 0, stdout: '' })
  expect(readFileSync(out, 'utf8').trimEnd().split('\r\n')).toHaveLength(1202)
  expect(statSync(out).mode & 0o777).toBe(0o600)

  const revoking = machine.start('licenses', 'revoke', id, '--reason', 'charged back', '--yes')
  // The member who asked may not approve it.
  expect(await approveAs(ada, revoking)).not.toBe(303)
  expect((await machine.run('licenses', 'show', id)).stdout).toMatch(/^status: active$/m)
  expect(await approveAs(grace, revoking)).toBe(303)
  const { code, stdout } = await revoking.finished
  expect(code).toBe(0)
  expect(stdout).toMatch(/^status: revoked$/m)
  expect(await machine.run('logout')).toMatchObject({ code: 0, stderr: '' })
})
