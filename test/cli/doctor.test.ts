// Guarantee: doctor also checks the environment of keyledger: each problem is one line with a remedy, a part that
// hangs or is missing hides no other, and no secret is printed.
import { once } from 'node:events'
import { createServer as createWebServer, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { SMTPServerOptions } from 'smtp-server'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { judgeClocks } from '../../src/app/start/clock-check.ts'
import { runChecks } from '../../src/cli/doctor/check.ts'
import { judgeSpace } from '../../src/cli/doctor/disk.ts'
import { failureOf } from '../../src/cli/doctor/providers.ts'
import { judgeRole } from '../../src/cli/doctor/stores.ts'
import { clockOfResponse } from '../../src/ledger/connection/clock-difference.ts'
import { startMailServer } from '../harness/mail-server.ts'
import { createHost, type Environment, freePort } from '../harness/process.ts'

const host = createHost()
let environment: Environment
beforeAll(async () => {
  environment = { ...(await host.stores()).environment, KEYLEDGER_PORT: '0' }
  expect((await host.run(['migrate'], environment)).code).toBe(0)
})

const Part = z.strictObject({
  ok: z.boolean(),
  required: z.boolean(),
  detail: z.string().optional(),
  remedy: z.string().optional(),
})
const Report = z.looseObject({ healthy: z.boolean(), parts: z.record(z.string(), Part) })

/** Doctor's report with some variables changed, and its exit code. */
async function examined(variables: Environment, args: readonly string[] = []) {
  const { code, stdout, stderr } = await host.run(['doctor', '--json', ...args], {
    ...environment,
    ...variables,
  })
  expect(stderr).toBe('')
  return { code, stdout, ...Report.parse(JSON.parse(stdout)) }
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** A provider's API with the given response. */
async function provider(answer: (response: ServerResponse) => void): Promise<Environment> {
  const port = await listening(createWebServer((_request, response) => answer(response)))
  return {
    KEYLEDGER_STRIPE_SECRET_KEY: 'sk_test_canary',
    KEYLEDGER_STRIPE_API_URL: `http://127.0.0.1:${port}`,
  }
}

test('doctor reports every part as healthy', async () => {
  const { code, healthy, parts } = await examined({})
  expect({ code, healthy }).toStrictEqual({ code: 0, healthy: true })
  expect(Object.keys(parts).sort()).toStrictEqual([
    'clock',
    'configuration',
    'data_directory',
    'database_role',
    'disk',
    'event_store',
    'mail',
    'port',
    'postgres',
    'read_models',
    'roles',
    'versions',
    'workers',
  ])
  expect(Object.values(parts).map(({ ok }) => ok)).not.toContain(false)
  expect(parts.disk?.detail).toMatch(/ free in .*; a synced write takes \d+\.\d ms$/)
  expect(parts.clock?.detail).toMatch(/^the same as Postgres$/)
  expect(parts.versions?.detail).toMatch(/^Node 24\.\S+, Postgres 1\d\.\S+/)
})

describe('the check of the port', () => {
  test('names the program that uses it', async () => {
    const port = await listening(createServer((socket) => socket.destroy()))
    const { code, parts } = await examined({ KEYLEDGER_HOST: '127.0.0.1', KEYLEDGER_PORT: String(port) })
    expect(code).toBe(0)
    const who = process.platform === 'linux' ? `process ${process.pid}` : 'another program'
    expect(parts.port).toMatchObject({ ok: false, detail: expect.stringContaining(who) as string })
    expect(parts.port?.remedy).toContain('KEYLEDGER_PORT')
  })

  test('succeeds when keyledger itself uses it', async () => {
    const server = await host.serve(environment, { roles: 'api' })
    const port = new URL(server.address).port
    const { parts } = await examined({ KEYLEDGER_PORT: port })
    const other = await examined({ KEYLEDGER_PORT: port, KEYLEDGER_LOG_LEVEL: 'error' })
    await server.end('SIGTERM')
    expect(parts.configuration).toMatchObject({ ok: true, detail: 'as in the running server' })
    expect(other.parts.configuration).toMatchObject({
      ok: false,
      detail: `process ${String(server.child.pid)} runs with another KEYLEDGER_LOG_LEVEL`,
    })
    expect(parts.port).toMatchObject({
      ok: true,
      detail: expect.stringContaining('keyledger is listening') as string,
    })
  })

  test('fails for an address of another machine', async () => {
    const { parts } = await examined({ KEYLEDGER_HOST: '192.0.2.1', KEYLEDGER_PORT: '8080' })
    expect(parts.port?.detail).toContain('Set KEYLEDGER_HOST')
  })
})

describe('the check of the mail server', () => {
  const options: SMTPServerOptions = {
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, callback) =>
      callback(password === 'right' ? null : new Error('no'), { user: 'me' }),
  }
  const sender = { KEYLEDGER_MAIL_FROM: 'licenses@example.com' }

  test('signs in, and sends a mail only on request', async () => {
    const { url, taken, stop } = await startMailServer(options)
    onTestFinished(stop)
    const set = { ...sender, KEYLEDGER_SMTP_URL: url.replace('//', '//me:right@') }
    expect((await examined(set)).parts.mail).toMatchObject({ ok: true })
    expect(taken).toStrictEqual([])
    const { parts } = await examined(set, ['--send-test-mail', 'ops@example.com'])
    expect(parts.mail?.detail).toContain('ops@example.com')
    expect(taken.map(({ from, to }) => ({ from, to }))).toStrictEqual([
      { from: 'licenses@example.com', to: ['ops@example.com'] },
    ])
  })

  test('reports a wrong password without printing it', async () => {
    const { url, stop } = await startMailServer(options)
    onTestFinished(stop)
    const report = await examined({ ...sender, KEYLEDGER_SMTP_URL: url.replace('//', '//me:canary-word@') })
    expect(report.parts.mail).toMatchObject({ ok: false, required: false })
    expect(report.parts.mail?.detail).toContain('rejects the credentials')
    expect(report.parts.mail?.remedy).toContain('KEYLEDGER_SMTP_URL')
    expect(report.stdout).not.toContain('canary-word')
  })

  test('exits with 2 for --send-test-mail without a mail server', async () => {
    const { code, stderr } = await host.run(['doctor', '--send-test-mail', 'ops@example.com'], environment)
    expect({ code, stderr }).toStrictEqual({
      code: 2,
      stderr: '--send-test-mail needs a mail server. Set KEYLEDGER_SMTP_URL.\n',
    })
  })
})

describe('the check of a provider', () => {
  test('succeeds for any response', async () => {
    const { parts } = await examined(await provider((response) => response.writeHead(401).end()))
    expect(parts.provider_stripe).toMatchObject({ ok: true, required: false })
    expect(parts.clock?.ok).toBe(true)
  })

  test('fails the clock check when its clock differs by minutes', async () => {
    const { code, parts } = await examined(
      await provider((response) =>
        response.writeHead(200, { date: new Date(Date.now() + 180_000).toUTCString() }).end(),
      ),
    )
    expect(code).toBe(3)
    expect(parts.clock).toMatchObject({ ok: false, required: true })
    expect(parts.clock?.detail).toMatch(/^1[78]\d\.\d s behind 127\.0\.0\.1:\d+$/)
    expect(parts.clock?.remedy).toContain('timedatectl')
  })

  test('warns when it cannot be reached', async () => {
    const address = `http://127.0.0.1:${await freePort()}`
    const { code, stdout, parts } = await examined({
      KEYLEDGER_STRIPE_SECRET_KEY: 'sk_test_canary',
      KEYLEDGER_STRIPE_API_URL: address,
    })
    expect(code).toBe(0)
    expect(parts.provider_stripe).toMatchObject({ ok: false, required: false })
    expect(parts.provider_stripe?.detail).toContain('ECONNREFUSED')
    expect(parts.provider_stripe?.remedy).toContain('outgoing HTTPS')
    expect(stdout).not.toContain('sk_test_canary')
  })

  test.each([
    ['ENOTFOUND', 'cannot be resolved', 'DNS'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'is not trusted', 'NODE_EXTRA_CA_CERTS'],
    ['ECONNRESET', 'cannot be reached', 'outgoing HTTPS'],
  ])('reports the cause of %s', (code, detail, remedy) => {
    const error = new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code }) })
    const found = failureOf('api.example.com', error)
    expect(found.detail).toContain(detail)
    expect(found.remedy).toMatch(remedy)
  })
})

test('stores that cannot be opened hide no other result', async () => {
  const url = `postgres://me:canary-word@127.0.0.1:${await freePort()}/x`
  const { code, stdout, healthy, parts } = await examined({ KEYLEDGER_DATABASE_URL: url })
  expect({ code, healthy }).toStrictEqual({ code: 3, healthy: false })
  expect(parts.stores).toMatchObject({
    ok: false,
    detail: expect.stringContaining('A store does not respond') as string,
  })
  expect(parts.disk?.ok).toBe(true)
  expect(stdout).not.toContain('canary-word')
})

test('doctor prints the results, followed by the remedies', async () => {
  const port = await listening(createServer((socket) => socket.destroy()))
  const taken = { ...environment, KEYLEDGER_HOST: '127.0.0.1', KEYLEDGER_PORT: String(port) }
  const { stdout } = await host.run(['doctor'], taken)
  expect(stdout).toMatch(/^port +warning +127\.0\.0\.1:\d+ is in use by /m)
  expect(stdout).toMatch(/^ {2}port: stop that program/m)
})

describe('a check', () => {
  test('fails when it times out or throws, and the other results remain', async () => {
    const never = new Promise<never>(() => undefined)
    const { found, ended } = await runChecks([
      { name: 'hangs', limitMs: 5, run: () => never },
      { name: 'throws', run: () => Promise.reject(new Error('no such file')) },
      { name: 'works', run: async () => ({ ok: true, required: true }) },
    ])
    expect({ found, ended }).toStrictEqual({
      found: {
        hangs: { ok: false, required: true, detail: 'did not finish within 0.005 s' },
        throws: { ok: false, required: true, detail: 'no such file' },
        works: { ok: true, required: true },
      },
      ended: false,
    })
  })
})

describe('the result', () => {
  const space = (free: number, hasFiles = true) => {
    const { ok, required } = judgeSpace({ directory: '/data', free, hasFiles, syncMs: 1 })
    return { ok, required }
  }

  test('of the disk is a warning with little space and a failure with almost none', () => {
    expect(space(5e9)).toStrictEqual({ ok: true, required: true })
    expect(space(1e9)).toStrictEqual({ ok: false, required: false })
    expect(space(1e8)).toStrictEqual({ ok: false, required: true })
    expect(space(5e9, false)).toStrictEqual({ ok: false, required: true })
  })

  test('of clocks ignores differences within the duration of the measurement', () => {
    expect(judgeClocks([]).ok).toBe(true)
    expect(judgeClocks([{ name: 'Postgres', aheadMs: 4000, uncertaintyMs: 10 }]).ok).toBe(true)
    expect(judgeClocks([{ name: 'Postgres', aheadMs: -9000, uncertaintyMs: 8000 }]).ok).toBe(true)
    const found = judgeClocks([
      { name: 'Postgres', aheadMs: -60_000, uncertaintyMs: 10 },
      { name: 'api.stripe.com', aheadMs: 100, uncertaintyMs: 500 },
    ])
    expect(found).toMatchObject({ ok: false, required: false, detail: '60.0 s ahead of Postgres' })
    expect(found.remedy).toContain('the others agree with this machine')
  })

  test('of a response without a date contains no clock', () => {
    expect(clockOfResponse('x', null, 0, 10)).toStrictEqual([])
    expect(clockOfResponse('x', 'yesterday', 0, 10)).toStrictEqual([])
    expect(clockOfResponse('x', new Date(60_000).toUTCString(), 60_000, 60_200)).toStrictEqual([
      { name: 'x', aheadMs: 400, uncertaintyMs: 600 },
    ])
  })

  test('of the Postgres role is a failure with too few rights and has a remedy with too many', () => {
    expect(judgeRole({ name: 'app', superuser: false, creates: true })).toStrictEqual({
      ok: true,
      required: true,
      detail: 'app',
    })
    expect(judgeRole({ name: 'app', superuser: false, creates: false })).toMatchObject({ ok: false })
    expect(judgeRole({ name: 'root', superuser: true, creates: true })).toMatchObject({
      ok: true,
      remedy: expect.stringContaining('rights-in-postgres') as string,
    })
  })
})
