// Guarantee: every operator command works beside a running server, prints data to stdout and messages to stderr,
// one JSON value with --json, and exits with 0 when done, 1 when refused, 2 when used incorrectly.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createPool } from '../../projections/database/pool.ts'
import { findLastRebuild } from '../../projections/runner/rebuild.ts'
import { type Client, client, createVendor } from '../flows/vendor.ts'
import { createHost, type Environment, type Finished } from '../harness/process.ts'

const host = createHost()
let environment: Environment
let databaseUrl: string
let vendor: Client
beforeAll(async () => {
  ;({ environment, databaseUrl } = await host.stores())
  const server = await host.serve(environment)
  vendor = client(server.address, await createVendor(environment))
  await vendor.createProduct(2)
})

const keyledger = (...args: string[]): Promise<Finished> => host.run(args, environment)
const ended = (code: number, stdout: string, stderr = '') => ({ code, signal: null, stdout, stderr })
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

/** The lines of the audit log that match. */
async function queryAudit(where: string, values: string[]) {
  const db = createPool(databaseUrl, { size: 1 })
  onTestFinished(() => db.end())
  return db.query<{ actor: string; times: number }>(`select actor, times from audit where ${where}`, values)
}

async function seated() {
  const license = await vendor.mint({ email: 'ada@example.com' })
  await vendor.activate(license.licenseKey, 'laptop')
  return license
}

describe('keyledger tenant', () => {
  test('creates a tenant once, lists, suspends, reinstates and closes it', async () => {
    expect(
      await keyledger('tenant', 'create', 'globex', '--name', 'Globex Ltd', '--plan', 'team'),
    ).toStrictEqual(ended(0, 'Created tenant globex on the plan team.\n'))
    expect(await keyledger('tenant', 'create', 'globex')).toStrictEqual(
      ended(1, '', 'a tenant with this id already exists; choose another tenantId\n'),
    )
    expect(await keyledger('tenant', 'suspend', 'globex', '--reason', 'unpaid')).toStrictEqual(
      ended(0, 'Tenant globex is suspended.\n'),
    )
    expect((await keyledger('tenant', 'list')).stdout).toMatch(/^globex +suspended +team +\S+Z +Globex Ltd$/m)
    expect(await keyledger('tenant', 'reinstate', 'globex')).toStrictEqual(
      ended(0, 'Tenant globex is active.\n'),
    )
    expect(await keyledger('tenant', 'rename', 'globex', 'Globex & Sons')).toStrictEqual(
      ended(0, 'Tenant globex is now named Globex & Sons.\n'),
    )
    expect((await keyledger('tenant', 'list')).stdout).toMatch(/^globex +.* +Globex & Sons$/m)
    expect(await keyledger('tenant', 'close', 'globex')).toStrictEqual(ended(0, 'Tenant globex is closed.\n'))
    expect(await keyledger('tenant', 'reinstate', 'globex')).toStrictEqual(
      ended(1, '', 'the tenant is closed\n'),
    )
  })

  test('prints JSON with --json', async () => {
    expect(await keyledger('tenant', 'create', 'initech', '--json')).toStrictEqual(
      ended(0, json({ tenantId: 'initech' })),
    )
    expect(await keyledger('tenant', 'rename', 'initech', 'Initech', '--json')).toStrictEqual(
      ended(0, json({ tenantId: 'initech', name: 'Initech' })),
    )
    expect(await keyledger('tenant', 'suspend', 'initech', '--json')).toStrictEqual(
      ended(0, json({ tenantId: 'initech', status: 'suspended' })),
    )
    expect(await keyledger('tenant', 'reinstate', 'initech', '--json')).toStrictEqual(
      ended(0, json({ tenantId: 'initech', status: 'active' })),
    )
    expect(await keyledger('tenant', 'close', 'initech', '--json')).toStrictEqual(
      ended(0, json({ tenantId: 'initech', status: 'closed' })),
    )
    const tenants = z.array(z.record(z.string(), z.unknown()))
    const listed = await host.json(tenants, ['tenant', 'list'], environment)
    expect(listed.find(({ tenantId }) => tenantId === 'initech')).toMatchObject({
      status: 'closed',
      plan: 'unlimited',
    })
  })

  test.each([
    ['create', 'v1', 1, 'this tenant id is reserved; choose another'],
    ['create', 'Not A Slug', 2, 'the tenant id must be 1 to 63 lowercase letters'],
    ['suspend', 'nobody', 1, 'tenant not found'],
    ['close', 'nobody', 1, 'tenant not found'],
  ])('%s %s exits with %i', async (command, id, code, message) => {
    const { stderr, ...rest } = await keyledger('tenant', command, id)
    expect(rest).toStrictEqual({ code, signal: null, stdout: '' })
    expect(stderr).toContain(message)
  })
})

describe('keyledger token create', () => {
  const asked = ['token', 'create', '--tenant', 'acme', '--scopes', 'licenses:runtime,products:read']

  test('prints only the token', async () => {
    const { code, stdout, stderr } = await keyledger(...asked)
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^kl_pat_[0-9A-Za-z]{38}\n$/)
  })

  test('prints id, scopes and expiry with --json', async () => {
    const token = z.record(z.string(), z.unknown())
    expect(await host.json(token, [...asked, '--expires', '30d', '--name', 'CI'], environment)).toStrictEqual(
      {
        tokenId: expect.stringMatching(/^tok_[0-9a-z]{26}$/) as string,
        token: expect.stringMatching(/^kl_pat_\w{38}$/) as string,
        scopes: ['licenses:runtime', 'products:read'],
        expiresAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      },
    )
  })

  test.each([
    [['--tenant', 'nobody', '--scopes', 'products:read'], 1, 'tenant not found'],
    [['--tenant', 'acme', '--scopes', 'everything'], 2, '--scopes[0] must be one of products:read'],
    [['--tenant', 'acme', '--scopes', 'products:read', '--expires', 'soon'], 2, 'soon is not a duration'],
    [['--tenant', 'acme'], 2, "required option '--scopes <list>' not specified"],
  ])('exits for %j with %i', async (args, code, message) => {
    const { stderr, ...rest } = await keyledger('token', 'create', ...args)
    expect(rest).toStrictEqual({ code, signal: null, stdout: '' })
    expect(stderr).toContain(message)
  })
})

describe('keyledger commands for keys', () => {
  const Keys = z.array(z.looseObject({ kid: z.string(), status: z.string() }))

  test('rotate signing keys one at a time, and list them without their secrets', async () => {
    await keyledger('tenant', 'create', 'signer')
    const keys = (verb: string) => ['keys', verb, '--tenant', 'signer']
    expect((await keyledger(...keys('list'))).stdout).toMatch(/^No signing keys yet/)
    expect(await host.json(Keys, keys('rotate'), environment)).toMatchObject([{ status: 'signing' }])
    const both = await host.json(Keys, keys('rotate'), environment)
    expect(both).toMatchObject([{ status: 'signing' }, { status: 'next' }])
    const { code, stdout } = await keyledger(...keys('rotate'))
    expect(code).toBe(0)
    expect(stdout.trimEnd().split('\n')).toHaveLength(3)
    for (const { kid } of both) expect(stdout).toContain(kid)
    expect(stdout).not.toContain('signing-key')
    expect(await keyledger('keys', 'list', '--tenant', 'nobody')).toStrictEqual(
      ended(1, '', 'tenant not found\n'),
    )
  })

  test('prepare the next signing key, which signs nothing until it is rotated in', async () => {
    await keyledger('tenant', 'create', 'preparer')
    const keys = (verb: string) => host.json(Keys, ['keys', verb, '--tenant', 'preparer'], environment)
    await keys('rotate')
    const [signing, next] = await keys('prepare')
    expect([signing, next]).toMatchObject([{ status: 'signing' }, { status: 'next', signsFrom: null }])
    expect(await keys('prepare')).toStrictEqual([signing, next])
    const rotated = await keys('rotate')
    expect(rotated).toMatchObject([{ kid: signing?.kid }, { kid: next?.kid, status: 'next' }])
    expect(rotated[1]?.signsFrom).not.toBeNull()
    const { stdout } = await keyledger('keys', 'list', '--tenant', 'preparer')
    expect(stdout).toContain(next?.kid)
  })

  test('show the same SDK key each time', async () => {
    await keyledger('tenant', 'create', 'shower')
    const { stdout } = await keyledger('sdk-key', 'show', '--tenant', 'shower')
    expect(stdout).toMatch(/^kl_sdk_\w{38}\n$/)
    expect(await keyledger('sdk-key', 'show', '--tenant', 'shower', '--json')).toStrictEqual(
      ended(0, json({ sdkKey: stdout.trim() })),
    )
    expect((await keyledger('sdk-key', 'show', '--tenant', 'nobody')).code).toBe(1)
    const revealed = await queryAudit(`tenant_id = $1 and action = 'revealed' and target_kind = 'sdk_key'`, [
      'shower',
    ])
    expect(revealed.rows).toHaveLength(2)
  })

  test('create a new checkout key each time, and none for an unknown tenant', async () => {
    await keyledger('tenant', 'create', 'seller')
    const create = (...more: string[]) => keyledger('checkout-key', 'create', '--tenant', 'seller', ...more)
    const { stdout } = await create()
    expect(stdout).toMatch(/^kl_chk_\w{38}\n$/)
    const { checkoutKey } = z
      .strictObject({ checkoutKey: z.string() })
      .parse(JSON.parse((await create('--json')).stdout))
    expect(checkoutKey).not.toBe(stdout.trim())
    expect((await keyledger('checkout-key', 'create', '--tenant', 'nobody')).code).toBe(1)
  })

  test('connect a payment provider and show its URL and secret once', async () => {
    await keyledger('tenant', 'create', 'shop')
    const connect = (provider: string, ...more: string[]) =>
      keyledger('integrations', 'connect', provider, '--tenant', 'shop', ...more)
    const shown = JSON.parse((await connect('gumroad', '--json')).stdout) as unknown
    const ping = (path: string) =>
      expect.stringMatching(new RegExp(`/webhooks/gumroad/shop${path}\\?token=[\\w-]{43}$`)) as string
    expect(shown).toStrictEqual({ pingUrl: ping(''), resourcesUrl: ping('/resources') })
    expect((await connect('gumroad')).code).toBe(1)
    expect((await connect('lemonsqueezy')).stdout).toMatch(
      /^webhookUrl {2}\S+\/webhooks\/lemonsqueezy\/shop\nwebhookSecret {2}[\w-]{32}\n$/,
    )
    expect((await connect('stripe')).code).toBe(1)
    expect((await connect('ebay')).code).toBe(2)
  })
})

describe('keyledger projections', () => {
  test('status, verify, audit replay and rebuild report and fix a changed row', async () => {
    const { licenseId: id } = await seated()
    expect((await keyledger('projections', 'status')).stdout).toMatch(
      /^checkpoint \d+, log \d+, \d+ events behind\nno parked streams\n$/,
    )
    expect((await keyledger('projections', 'verify')).stdout).toMatch(
      /^\d+ events replayed, \d+ rows compared, 0 differences\n$/,
    )
    const db = createPool(databaseUrl, { size: 1 })
    onTestFinished(() => db.end())
    await db.query(`update devices set name = 'by hand' where license_id = '${id}'`)
    const { code, stdout } = await keyledger('audit', 'replay')
    const rows = ['live', 'replay'].map((side) => `devices: only in ${side}: {"license_id":"${id}".+\n`)
    expect(`${code} ${stdout}`).toMatch(RegExp(`^1 ${rows.join('')}[^]+ 2 differences\n$`))
    expect((await keyledger('projections', 'rebuild')).stdout).toMatch(
      /^Rebuilt from \d+ events of the log [0-9a-f-]{36}\.\n$/,
    )
    const status = await host.json(z.unknown(), ['projections', 'status'], environment)
    expect(status).toMatchObject({ lagEvents: 0, parked: [] })
    const Rebuilt = z.object({ events: z.int().positive(), ledgerId: z.uuid() })
    const { events } = await host.json(Rebuilt, ['projections', 'rebuild'], environment)
    // The system page shows it to every tenant.
    expect(await findLastRebuild(db)).toMatchObject({
      endedAt: expect.stringMatching(/Z$/) as string,
      events,
      problem: null,
    })
  })
})

describe('keyledger', () => {
  test('init creates a tenant with an owner, and changes nothing the second time', async () => {
    const init = ['init', '--tenant', 'hooli', '--owner', 'gavin@hooli.example']
    const Made = z.strictObject({
      dataDirectory: z.string(),
      tenantId: z.literal('hooli'),
      ownerId: z.string(),
      ownerLink: z.string(),
    })
    const first = await host.json(Made, init, environment)
    expect(first.ownerId).toMatch(/^mem_/)
    const second = await host.json(Made, init, environment)
    expect(second).toStrictEqual({ ...first, ownerLink: second.ownerLink })
    expect(second.ownerLink).not.toBe(first.ownerLink)
    const { code, stdout, stderr } = await keyledger('init', '--tenant', 'hooli')
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('Tenant hooli exists')
    expect((await keyledger('init', '--owner', 'nobody')).code).toBe(2)
  })

  test('migrate reports that the schemas are at this version', async () => {
    const migrated = ended(0, 'The schemas and the read models are at this version.\n')
    expect(await keyledger('migrate')).toStrictEqual(migrated)
    expect(await keyledger('migrate', '--json')).toStrictEqual(ended(0, json({ migrated: true })))
  })

  test('doctor reports every part as healthy', async () => {
    const { code, stdout, stderr } = await host.run(['doctor'], { ...environment, KEYLEDGER_PORT: '0' })
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^event_store +ok$/m)
    expect(stdout).toMatch(/^postgres +ok$/m)
    const Health = z.looseObject({
      healthy: z.literal(true),
      parts: z.record(z.string(), z.looseObject({ ok: z.boolean() })),
    })
    const { parts } = await host.json(Health, ['doctor'], { ...environment, KEYLEDGER_PORT: '0' })
    // Other tests here connect a provider, which a machine without internet access cannot reach; and the port is another one.
    const own = Object.entries(parts).filter(
      ([name]) => !name.startsWith('provider_') && name !== 'configuration',
    )
    expect(own.map(([name]) => name)).toContain('event_store')
    expect(own.filter(([, { ok }]) => !ok)).toStrictEqual([])
  })

  test('doctor reports a parked stream, which affects only one tenant', async () => {
    const db = createPool(databaseUrl)
    onTestFinished(() => db.end())
    await db.query(
      `insert into parked (stream, revision, position, type, problem)
       values ('sale-a.gumroad.b', 0, 0, 'SaleReceived', 'cannot be applied')`,
    )
    const { code, stdout } = await host.run(['doctor'], { ...environment, KEYLEDGER_PORT: '0' })
    await db.query('delete from parked')
    expect(code).toBe(0)
    expect(stdout).toContain('1 parked streams')
  })
})
