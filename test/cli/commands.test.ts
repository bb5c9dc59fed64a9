// Guarantee: every operator command works beside a running server, prints data to stdout and messages to stderr,
// one JSON value with --json, and exits with 0 when done, 1 when refused, 2 when used incorrectly.
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createPool } from '../../projections/database/pool.ts'
import { findLastRebuild } from '../../projections/runner/rebuilds.ts'
import { type Client, client, createVendor } from '../flows/vendor.ts'
import { createHost, type Environment, type Finished, program } from '../harness/process.ts'

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
    expect(await keyledger('tenant', 'close', 'globex')).toStrictEqual(ended(0, 'Tenant globex is closed.\n'))
    expect(await keyledger('tenant', 'reinstate', 'globex')).toStrictEqual(
      ended(1, '', 'the tenant is closed\n'),
    )
  })

  test('prints JSON with --json', async () => {
    expect(await keyledger('tenant', 'create', 'initech', '--json')).toStrictEqual(
      ended(0, json({ tenantId: 'initech' })),
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
    ['create', 'Not A Slug', 2, 'the tenant id is not valid'],
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
    [['--tenant', 'acme', '--scopes', 'everything'], 2, '--scopes is not valid'],
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

  test('show the same SDK key each time', async () => {
    await keyledger('tenant', 'create', 'shower')
    const { stdout } = await keyledger('sdk-key', 'show', '--tenant', 'shower')
    expect(stdout).toMatch(/^kl_sdk_\w{38}\n$/)
    expect(await keyledger('sdk-key', 'show', '--tenant', 'shower', '--json')).toStrictEqual(
      ended(0, json({ sdkKey: stdout.trim() })),
    )
    expect((await keyledger('sdk-key', 'show', '--tenant', 'nobody')).code).toBe(1)
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

describe('keyledger license', () => {
  const Event = z.looseObject({ revision: z.int(), type: z.string(), actor: z.string(), at: z.string() })
  const State = z.looseObject({ status: z.string(), seatsUsed: z.int(), devices: z.array(z.unknown()) })

  test('show prints the license with its devices', async () => {
    const { licenseId } = await seated()
    const { code, stdout, stderr } = await keyledger('license', 'show', licenseId)
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' })
    for (const line of ['status: active', 'seatsUsed: 1', 'email: ada@example.com', '  deviceId: laptop']) {
      expect(stdout.split('\n')).toContain(line)
    }
    const shown = await host.json(State, ['license', 'show', licenseId], environment)
    expect(shown).toMatchObject({ id: licenseId, status: 'active', devices: [{ deviceId: 'laptop' }] })
  })

  test('revoke exits with 1 the second time, and the history shows who revoked and why', async () => {
    const { licenseId, licenseKey } = await seated()
    expect(await keyledger('license', 'revoke', licenseId, '--reason', 'payment disputed')).toStrictEqual(
      ended(0, `License ${licenseId} is revoked.\n`),
    )
    expect((await vendor.validate(licenseKey, 'laptop')).body.status).toBe('revoked')
    expect(await keyledger('license', 'revoke', licenseId)).toStrictEqual(
      ended(1, '', 'the license is revoked\n'),
    )
    const { stdout } = await keyledger('license', 'history', licenseId)
    const lines = stdout.trimEnd().split('\n')
    expect(lines.map((line) => line.trim().split(/ {2,}/).toSpliced(1, 1))).toStrictEqual([
      ['0', expect.stringMatching(/^Issued, by token “.+”$/)],
      ['1', expect.stringMatching(/^“laptop” activated, seats 0 → 1, by token “.+”$/)],
      ['2', expect.stringMatching(/^Revoked: payment disputed, by operator /)],
    ])
  })

  test('revoke --json prints the license', async () => {
    const { licenseId } = await seated()
    const revoked = await host.json(State, ['license', 'revoke', licenseId], environment)
    expect(revoked).toMatchObject({ id: licenseId, status: 'revoked' })
  })

  test('history --at shows the past state, by revision and by time', async () => {
    const { licenseId } = await seated()
    await host.json(State, ['license', 'revoke', licenseId], environment)
    const history = ['license', 'history', licenseId]
    const events = await host.json(z.array(Event), history, environment)
    expect(events.map(({ type }) => type)).toStrictEqual([
      'LicenseMinted',
      'DeviceActivated',
      'LicenseRevoked',
    ])
    const at = (moment: string) => host.json(State, [...history, '--at', moment], environment)
    const states = await Promise.all(['0', '1', '2', events[1]?.at ?? '', '2999-01-01'].map(at))
    expect(states.map(({ status, seatsUsed }) => [status, seatsUsed])).toStrictEqual([
      ['active', 0],
      ['active', 1],
      ['revoked', 1],
      ['active', 1],
      ['revoked', 1],
    ])
    const { stdout } = await keyledger(...history, '--at', '1')
    expect(stdout.split('\n')).toContain('status: active')
    expect(await keyledger(...history, '--at', '2000-01-01')).toStrictEqual(
      ended(1, '', 'the license did not exist at 2000-01-01\n'),
    )
    const { code, stderr } = await keyledger(...history, '--at', 'yesterday')
    expect({ code, stderr }).toStrictEqual({
      code: 2,
      stderr: '--at yesterday is neither a revision nor an ISO 8601 time\n',
    })
  })

  test('explain shows current and past responses with their reasons; diff shows the changes', async () => {
    const { licenseId, licenseKey } = await seated()
    await vendor.deactivate(licenseKey, 'laptop')
    const Explained = z.looseObject({ validate: z.looseObject({ rule: z.string() }) })
    const ask = (command: string, ...args: string[]) => keyledger('license', command, licenseId, ...args)
    const [now, then, diff, unclear, future] = await Promise.all([
      ask('explain', '--device', 'laptop'),
      ask('explain', '--device', 'laptop', '--at', '1', '--json'),
      ask('diff', '0..1'),
      ask('diff', '0'),
      ask('explain', '--at', '99'),
    ])
    const [first, ...lines] = now.stdout.trimEnd().split('\n')
    expect(first).toMatch(/^at \S+Z, after event 2$/)
    expect(lines).toStrictEqual([
      'validate: inactive',
      expect.stringMatching(/^ {2}denied: “laptop” was deactivated on /),
      expect.stringMatching(/^ {2}2 {2}\S+Z {2}“laptop” deactivated, by token “.+”$/),
      'activate: active',
      expect.stringMatching(/^ {2}allowed: 0 of \d+ seats are in use$/),
      expect.stringMatching(/^ {2}0 {2}\S+Z {2}Issued, by token “.+”$/),
    ])
    expect(Explained.parse(JSON.parse(then.stdout)).validate.rule).toBe('seated')
    expect(diff.stdout.split('\n').slice(1, 3)).toStrictEqual([
      'seatsUsed: 0 → 1',
      'device “laptop”: none → active',
    ])
    expect([unclear.code, future.code]).toStrictEqual([2, 1])
  })

  test('history --watch prints further events, each once', async () => {
    const { licenseId, licenseKey } = await vendor.mint({})
    const args = ['node', program, 'license', 'history', licenseId, '--watch', '--json']
    const watching = host.start(args, environment)
    const types = () =>
      watching
        .stdout()
        .split('\n')
        .flatMap((line) => (line ? Event.parse(JSON.parse(line)).type : []))
    await expect.poll(types).toStrictEqual(['LicenseMinted'])
    await vendor.activate(licenseKey, 'laptop')
    await expect.poll(types).toStrictEqual(['LicenseMinted', 'DeviceActivated'])
    expect((await watching.end('SIGINT')).code).toBe(0)
  })

  test('evidence can be verified with only the public key, and overwrites no file', async () => {
    const { licenseId } = await seated()
    const out = host.path('evidence.zip')
    const take = () => keyledger('license', 'evidence', licenseId, '--out', out)
    expect((await take()).stdout).toContain(`${out} contains the evidence about ${licenseId} up to event 1.`)
    const Keys = z.array(z.looseObject({ publicKey: z.string() }))
    const [key] = await host.json(Keys, ['keys', 'list', '--tenant', 'acme'], environment)
    const script = join(import.meta.dirname, '../../docs/reference/verify-evidence.mjs')
    const args = ['node', script, out, key?.publicKey ?? '']
    expect((await host.start(args, environment).finished).stdout).toMatch(/^Genuine: \d+ files/)
    expect(await take()).toMatchObject({ code: 1, stderr: expect.stringContaining('EEXIST') as string })
  })

  test.each(['show', 'history', 'revoke'])('%s exits with 1 for an unknown license', async (command) => {
    expect(await keyledger('license', command, 'lic_nothing')).toStrictEqual(
      ended(1, '', 'license not found\n'),
    )
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
    // Other tests here connect a provider, which a machine without internet access cannot reach.
    const own = Object.entries(parts).filter(([name]) => !name.startsWith('provider_'))
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
