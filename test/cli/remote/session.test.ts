// Guarantee: a person signs in from another machine by approving a code; the token is kept where only they can read
// it, is sent to its own server alone, and never over a network in the clear.
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { clientOf } from '../../dashboard/client.ts'
import { makeMember } from '../../dashboard/members.ts'
import { createHost, type Running } from '../../harness/process.ts'
import { createMachine, type Machine } from './machine.ts'
import { openTestServer, type TestServer } from './server.ts'

const host = createHost()
let server: TestServer
let machine: Machine
beforeAll(async () => {
  server = await openTestServer()
  machine = createMachine(host)
})

const profilesFile = () => join(machine.home, '.config/keyledger/profiles.json')
const ended = (code: number, stdout: string, stderr = '') => ({ code, signal: null, stdout, stderr })

/** Approves the code that a login has printed, as an owner does in the dashboard. */
async function approveLogin(login: Running): Promise<void> {
  const { api, tenant } = server
  const code = await shown(login, /code: (\w{4}-\w{4})/)
  const owner = await makeMember(api.ledger, tenant.tenantId, 'owner')
  const browser = clientOf(api.app, '192.0.2.9')
  await browser.signIn(owner)
  await browser.get('/dashboard/device')
  const { location = '' } = await browser.post('/dashboard/device', { code })
  await browser.get(location)
  const approved = await browser.post('/dashboard/device/approve', {
    scopes: ['products:read'],
    lifetime: '30',
  })
  expect(approved.text).toContain('is authorized')
  // The clock of the tests stands still, and polls have an interval.
  api.ledger.clock.advance(60_000)
}

async function shown(login: Running, pattern: RegExp): Promise<string> {
  await expect.poll(() => login.stderr()).toMatch(pattern)
  return pattern.exec(login.stderr())?.[1] ?? ''
}

test('login waits for the approval, and keeps the token where only this user can read it', async () => {
  const login = machine.start('login', '--server', server.address)
  await approveLogin(login)
  const { code, stdout, stderr } = await login.finished
  expect({ code, stderr }).toMatchObject({ code: 0 })
  expect(stderr).toContain(`Open ${server.address}/login?code=`)
  expect(stdout).toContain(`Signed in to ${server.tenant.tenantId} at ${server.address}`)
  expect(stdout + stderr).not.toContain('kl_pat_')
  expect(statSync(profilesFile()).mode & 0o777).toBe(0o600)
  expect(statSync(join(profilesFile(), '..')).mode & 0o777).toBe(0o700)
  const whoami = z.object({ tenantId: z.string(), scopes: z.array(z.string()) })
  expect(await machine.json(whoami, 'whoami')).toStrictEqual({
    tenantId: server.tenant.tenantId,
    scopes: ['products:read'],
  })
  expect((await machine.run('profiles')).stdout).toMatch(/^default +http:\/\/localhost:\d+ +\S+ +in use$/m)
})

test('logout revokes the token and forgets it', async () => {
  const { profiles } = z
    .object({ profiles: z.object({ default: z.object({ token: z.string() }) }) })
    .parse(JSON.parse(readFileSync(profilesFile(), 'utf8')))
  expect(await machine.run('logout')).toStrictEqual(
    ended(0, `Signed out of ${server.address}. The token is revoked.\n`),
  )
  const { status } = await server.api.ask('GET', '/v1/tokens/verify', { token: profiles.default.token })
  expect(status).toBe(401)
  expect(await machine.run('whoami')).toStrictEqual(
    ended(2, '', 'You are not signed in to a server. Sign in: keyledger login --server <address>\n'),
  )
})

describe('profiles', () => {
  const keep = (profiles: object, current: string | null = null) =>
    writeFileSync(profilesFile(), JSON.stringify({ current, profiles }), { mode: 0o600 })
  const profile = () => ({
    server: server.address,
    token: server.tenant.token,
    tenantId: server.tenant.tenantId,
  })

  test('one is used by its name, and by default after `profiles use`', async () => {
    keep({ work: profile(), broken: { ...profile(), token: 'kl_pat_wrong' } }, 'broken')
    const refused = await machine.run('whoami')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('Sign in again: keyledger login')
    expect((await machine.run('whoami', '--profile', 'work')).code).toBe(0)
    expect(await machine.run('profiles', 'use', 'work')).toStrictEqual(
      ended(0, '', 'The profile work is in use.\n'),
    )
    expect((await machine.run('whoami')).code).toBe(0)
    const missing = await machine.run('whoami', '--profile', 'home')
    expect(missing.code).toBe(2)
    expect(missing.stderr).toContain('There is no profile home. There are work, broken.')
  })

  test('a file that other users may read is refused', async () => {
    keep({ work: profile() }, 'work')
    chmodSync(profilesFile(), 0o644)
    const { code, stderr } = await machine.run('whoami')
    expect({ code, stderr }).toStrictEqual({
      code: 2,
      stderr: `Other users may read ${profilesFile()}, which holds tokens. Run: chmod 600 ${profilesFile()}\n`,
    })
    chmodSync(profilesFile(), 0o600)
  })

  test('a damaged file is refused with what to do', async () => {
    writeFileSync(profilesFile(), '{', { mode: 0o600 })
    const { code, stderr } = await machine.run('whoami')
    expect(code).toBe(2)
    expect(stderr).toContain('is damaged. Remove it, and sign in again')
  })
})

describe('a token from the environment', () => {
  test('is used with its server', async () => {
    const ci = createMachine(host, { KEYLEDGER_SERVER: server.address, KEYLEDGER_TOKEN: server.tenant.token })
    expect((await ci.run('whoami')).stdout).toContain(`tenantId: ${server.tenant.tenantId}`)
  })

  test.each([
    [{ KEYLEDGER_TOKEN: 'kl_pat_x' }, 'KEYLEDGER_TOKEN is set without a server'],
    [{ KEYLEDGER_TOKEN: 'kl_pat_x', KEYLEDGER_SERVER: 'http://example.com' }, 'has no TLS'],
    [
      { KEYLEDGER_TOKEN: 'kl_pat_x', KEYLEDGER_SERVER: 'ftp://example.com' },
      'is not the address of a server',
    ],
    [{ KEYLEDGER_SERVER: 'https://example.com' }, 'You are not signed in to https://example.com'],
  ])('%j is refused', async (environment, message) => {
    const { code, stderr } = await createMachine(host, environment).run('whoami')
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })
})

test('login refuses http to another machine before anything is sent', async () => {
  const { code, stderr } = await machine.run('login', '--server', 'http://keyledger.example.com')
  expect(code).toBe(2)
  expect(stderr).toContain('anyone on the network path could read the token')
})
