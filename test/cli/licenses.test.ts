// Guarantee: on the host of the ledger, the commands of a license work beside a running server, only for a license of the
// named tenant, and record what they show.
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createPool } from '../../projections/database/pool.ts'
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

async function seated() {
  const license = await vendor.mint({ email: 'ada@example.com' })
  await vendor.activate(license.licenseKey, 'laptop')
  return license
}

/** How often a view of the license is in the audit log. */
async function viewsOf(licenseId: string): Promise<number> {
  const db = createPool(databaseUrl, { size: 1 })
  onTestFinished(() => db.end())
  const { rows } = await db.query<{ times: number }>(
    `select times from audit where action = 'viewed' and target_kind = 'license' and target_id = $1`,
    [licenseId],
  )
  return rows.reduce((sum, { times }) => sum + times, 0)
}

const ofAcme = ['--tenant', 'acme']
const Event = z.looseObject({ revision: z.int(), type: z.string(), actor: z.string(), at: z.string() })
const State = z.looseObject({ status: z.string(), seatsUsed: z.int(), devices: z.array(z.unknown()) })

test('show prints the license with its devices', async () => {
  const { licenseId } = await seated()
  const { code, stdout, stderr } = await keyledger('licenses', 'show', licenseId, ...ofAcme)
  expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' })
  for (const line of ['status: active', 'seatsUsed: 1', 'email: ada@example.com', '  deviceId: laptop']) {
    expect(stdout.split('\n')).toContain(line)
  }
  const shown = await host.json(State, ['licenses', 'show', licenseId, ...ofAcme], environment)
  expect(shown).toMatchObject({ id: licenseId, status: 'active', devices: [{ deviceId: 'laptop' }] })
  expect(await viewsOf(licenseId)).toBe(2)
})

test('revoke exits with 1 the second time, and the history shows who revoked and why', async () => {
  const { licenseId, licenseKey } = await seated()
  expect(
    await keyledger('licenses', 'revoke', licenseId, ...ofAcme, '--reason', 'payment disputed'),
  ).toStrictEqual(ended(0, `License ${licenseId} is revoked.\n`))
  expect((await vendor.validate(licenseKey, 'laptop')).body.status).toBe('revoked')
  expect(await keyledger('licenses', 'revoke', licenseId, ...ofAcme)).toStrictEqual(
    ended(1, '', 'the license is revoked\n'),
  )
  const { stdout } = await keyledger('licenses', 'history', licenseId, ...ofAcme)
  const lines = stdout.trimEnd().split('\n')
  expect(lines.map((line) => line.trim().split(/ {2,}/).toSpliced(1, 1))).toStrictEqual([
    ['0', expect.stringMatching(/^Issued, by token “.+”$/)],
    ['1', expect.stringMatching(/^“laptop” activated, seats 0 → 1, by token “.+”$/)],
    ['2', expect.stringMatching(/^Revoked: payment disputed, by operator /)],
  ])
})

test('revoke --json prints the license', async () => {
  const { licenseId } = await seated()
  const revoked = await host.json(State, ['licenses', 'revoke', licenseId, ...ofAcme], environment)
  expect(revoked).toMatchObject({ id: licenseId, status: 'revoked' })
})

test('show --as-of shows the past state, by revision and by time', async () => {
  const { licenseId } = await seated()
  await host.json(State, ['licenses', 'revoke', licenseId, ...ofAcme], environment)
  const events = await host.json(z.array(Event), ['licenses', 'history', licenseId, ...ofAcme], environment)
  expect(events.map(({ type }) => type)).toStrictEqual(['LicenseMinted', 'DeviceActivated', 'LicenseRevoked'])
  const show = ['licenses', 'show', licenseId, ...ofAcme, '--as-of']
  const states = await Promise.all(
    ['0', '1', '2', events[1]?.at ?? ''].map((moment) => host.json(State, [...show, moment], environment)),
  )
  expect(states.map(({ status, seatsUsed }) => [status, seatsUsed])).toStrictEqual([
    ['active', 0],
    ['active', 1],
    ['revoked', 1],
    ['active', 1],
  ])
  const { stdout } = await keyledger(...show, '1')
  expect(stdout.split('\n')).toContain('status: active')
  expect((await keyledger(...show, '2000-01-01T00:00:00Z')).code).toBe(1)
  expect((await keyledger(...show, 'yesterday')).code).toBe(2)
})

test('explain shows current and past responses with their reasons; diff shows the changes', async () => {
  const { licenseId, licenseKey } = await seated()
  await vendor.deactivate(licenseKey, 'laptop')
  const Explained = z.looseObject({ validate: z.looseObject({ rule: z.string() }) })
  const ask = (command: string, ...args: string[]) =>
    keyledger('licenses', command, licenseId, ...ofAcme, ...args)
  const [now, then, diff, unclear, future] = await Promise.all([
    ask('explain', '--device', 'laptop'),
    ask('explain', '--device', 'laptop', '--as-of', '1', '--json'),
    ask('diff', '--from', '0', '--to', '1'),
    ask('diff'),
    ask('explain', '--as-of', '99'),
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
  const args = ['node', program, 'licenses', 'history', licenseId, ...ofAcme, '--watch', '--json']
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
  const take = () => keyledger('licenses', 'evidence', licenseId, ...ofAcme, '--out', out)
  expect((await take()).stdout).toContain(`${out} contains the evidence about ${licenseId} up to event 1.`)
  const Keys = z.array(z.looseObject({ publicKey: z.string() }))
  const [key] = await host.json(Keys, ['keys', 'list', '--tenant', 'acme'], environment)
  const script = join(import.meta.dirname, '../../docs/reference/verify-evidence.mjs')
  const args = ['node', script, out, key?.publicKey ?? '']
  expect((await host.start(args, environment).finished).stdout).toMatch(/^Genuine: \d+ files/)
  expect(await take()).toMatchObject({ code: 1, stderr: expect.stringContaining('EEXIST') as string })
})

test.each(['show', 'history', 'revoke'])('%s exits with 1 for an unknown license', async (command) => {
  expect(await keyledger('licenses', command, 'lic_nothing', ...ofAcme)).toStrictEqual(
    ended(1, '', 'license not found\n'),
  )
})

test('a license of another tenant is not found', async () => {
  const { licenseId } = await seated()
  await keyledger('tenant', 'create', 'globex')
  for (const command of ['show', 'history', 'explain', 'revoke']) {
    expect(await keyledger('licenses', command, licenseId, '--tenant', 'globex')).toStrictEqual(
      ended(1, '', 'license not found\n'),
    )
  }
})

test('an option that only a server understands is refused', async () => {
  expect(await keyledger('licenses', 'history', 'lic_x', ...ofAcme, '--all')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      '--all is for a call to a server: leave out either --all or --tenant.',
    ) as string,
  })
})
