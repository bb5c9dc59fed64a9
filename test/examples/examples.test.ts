/**
 * Guarantee: each example starts with its one command and works against a real server; the page in a real browser.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { amountOf, amountText } from '../../src/domain/meters/amount.ts'
import { signatureHeaders } from '../../src/webhooks/signature.ts'
import type { TestApi, TestTenant } from '../harness/api.ts'
import { launchBrowser } from '../harness/chromium.ts'
import { commandLicense } from '../harness/ledger.ts'
import { createHost, type Running } from '../harness/process.ts'
import { waitMs } from '../harness/time-limits.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { openExamples } from './opened.ts'

const host = createHost()
const project = host.directory
const example = (path: string) => join(project, 'examples', path)
let api: TestApi
let tenant: TestTenant
let environment: Record<string, string>
beforeAll(async () => {
  ;({ api, tenant, environment } = await openExamples(project))
})
afterAll(() => api.close())

const revoke = (id: string) =>
  commandLicense(api.ledger, id, {
    type: 'RevokeLicense',
    reason: null,
    at: api.ledger.clock.now().toISOString(),
  })

test('the command line is licensed, works offline, and stops after a revocation', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'demo-app')
  const run = async (args: string[], more: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await host.start(['node', example('cli-app/main.js'), ...args], {
      ...environment,
      ...more,
    }).finished
    return [code, stdout + stderr]
  }
  expect(await run(['export'])).toStrictEqual([1, expect.stringContaining('No license')])
  expect(await run(['activate', 'DEMO-NO'])).toStrictEqual([1, 'license not found\n'])
  expect(await run(['activate', licenseKey])).toStrictEqual([0, 'Licensed, with pro.\n'])
  expect(await run(['export'])).toStrictEqual([0, 'Exported.\n'])
  expect(await run([], { LICENSE_SERVER: 'http://127.0.0.1:1' })).toStrictEqual([
    0,
    expect.stringContaining('Offline'),
  ])
  await revoke(id)
  api.ledger.clock.advance(1000)
  expect(await run(['export'])).toStrictEqual([1, 'The license was withdrawn: revoked.\n'])
})

test('a machine without a network goes from its request to a renewal and to giving its file back', async () => {
  const { token, tenantId } = tenant
  const offlineFiles = { maxDays: 30, perSeatPerYear: 4 }
  await makeProduct(api.ask, token, 'mill', {
    keyTypes: [{ name: 'Mill', keyTypeId: 'mill', entitlements: ['export'], offlineFiles }],
  })
  const { id, licenseKey } = await mint(api.ask, token, 'mill')
  const { keys } = (await api.ask('GET', `/${tenantId}/.well-known/service-keys`)).body as { keys: object }
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await host.start(['node', example('offline-app/main.js'), ...args], {
      TENANT: tenantId,
      PRODUCT: 'mill',
      KEYS: JSON.stringify(keys),
    }).finished
    return stdout + stderr
  }
  const carried = (name: string) => readFileSync(join(project, name), 'utf8')
  const answer = async () => {
    await run('request', licenseKey)
    const body = { request: carried('request.txt') }
    const made = await api.ask('POST', `/v1/licenses/${id}/files`, { token, body })
    writeFileSync(join(project, 'license.txt'), (made.body as { file: string }).file)
  }
  expect(await run()).toContain('No license')
  await answer()
  const former = carried('license.txt')
  expect(await run('import', 'license.txt')).toMatch(/^Licensed until 20.*, with export\.$/m)
  await answer()
  expect(await run('import', 'license.txt')).toContain('Licensed until')
  writeFileSync(join(project, 'former.txt'), former)
  expect(await run('import', 'former.txt')).toContain('cannot be used: it answers another request')
  expect(await run('release')).toContain('Carry release.txt')
  expect(await run()).toContain('No license')
  const body = { release: carried('release.txt') }
  expect((await api.ask('POST', `/v1/licenses/${id}/files/release`, { token, body })).status).toBe(200)
})

const floatingType = (keyTypeId: string, deviceLimit: number, more: object) => ({
  ...{ name: keyTypeId, keyTypeId, deviceLimit, entitlements: ['draw'], seatPolicy: 'floating' },
  floatingSeats: { seatSeconds: 600, overdraft: null, ...more },
})

test('a job runs with a seat of its own and gives it back, and one that finds none says who waits', async () => {
  const { token } = tenant
  const keyTypes = [floatingType('farm', 1, { scope: 'process' })]
  await makeProduct(api.ask, token, 'renderer', { keyTypes })
  const { licenseKey } = await mint(api.ask, token, 'renderer')
  const begin = (...args: string[]) =>
    host.start(['node', example('floating-app/job.js'), ...args], {
      ...{ ...environment, PRODUCT: 'renderer', LICENSE_KEY: licenseKey, WAIT_SECONDS: '0' },
    })
  const long = begin('node', '-e', 'console.log("at work"); setInterval(() => undefined, 1000)')
  await expect.poll(() => long.stdout() + long.stderr()).toContain('at work')
  expect(await begin('node', '-e', '').finished).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('activation limit reached') as string,
  })
  await long.end('SIGTERM')
  expect(await begin('node', '-e', 'console.log("done")').finished).toMatchObject({
    code: 0,
    stdout: 'done\n',
  })
})

test('a laptop takes a seat, borrows it, and returns it before its end', async () => {
  const { token } = tenant
  const keyTypes = [floatingType('team', 1, { scope: 'device', maxBorrowDays: 7, maxBorrowed: 1 })]
  await makeProduct(api.ask, token, 'draft', { keyTypes })
  const { licenseKey } = await mint(api.ask, token, 'draft')
  const [ada, ben] = [host.path('ada'), host.path('ben')]
  const run = async (home: string, ...args: string[]) => {
    const { stdout, stderr } = await host.start(['node', example('floating-app/laptop.js'), ...args], {
      ...{ ...environment, PRODUCT: 'draft', XDG_CONFIG_HOME: home },
    }).finished
    return stdout + stderr
  }
  const inThreeDays = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10)
  expect(await run(ada)).toContain('No seat')
  expect(await run(ada, 'activate', licenseKey)).toContain('This machine has a seat until')
  expect(await run(ada, 'borrow', '3')).toContain(`until ${inThreeDays}`)
  expect(await run(ben, 'activate', licenseKey)).toContain('activation limit reached')
  expect(await run(ada, 'return')).toContain('No seat')
  expect(await run(ben, 'activate', licenseKey)).toContain('This machine has a seat until')
})

const meterOf = async (id: string) => {
  const { body } = await api.ask('GET', `/v1/licenses/${id}/meters`, { token: tenant.token })
  return (body as { meters: { used: string; remaining: string }[] }).meters[0]
}

async function meteredLicense(productId: string) {
  const minutes = { meter: 'minutes', unit: 'minutes', included: '10', period: 'license', overage: 'block' }
  const keyTypes = [{ name: 'Farm', keyTypeId: 'farm', meters: [minutes] }]
  await makeProduct(api.ask, tenant.token, productId, { keyTypes })
  return mint(api.ask, tenant.token, productId)
}

test('frames count once, and those that are rendered without a network when there is one again', async () => {
  const { id, licenseKey } = await meteredLicense('frames')
  const online = { ...environment, PRODUCT: 'frames', XDG_CONFIG_HOME: host.path('frames') }
  const run = async (args: string[], more: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await host.start(['node', example('metered-app/render.js'), ...args], {
      ...online,
      ...more,
    }).finished
    return [code, (stdout + stderr).trim().split('\n')]
  }
  const offline = { LICENSE_SERVER: 'http://127.0.0.1:1' }
  const standing = (reserved: string, unreported: number) =>
    `Reserved: ${reserved} minutes. To report: ${unreported} frames.`
  const frame = (number: number) => `Frame ${number} is rendered.`
  expect(await run(['activate', licenseKey])).toStrictEqual([0, [standing('0', 0)]])
  for (const _ of ['once', 'again after a crash'])
    expect(await run(['render', 'sea', '2'])).toStrictEqual([0, [frame(1), frame(2), standing('0', 0)]])
  expect(await meterOf(id)).toMatchObject({ used: '1', remaining: '9' })
  expect(await run(['reserve', '1.2', '7'])).toStrictEqual([0, [standing('1.2', 0)]])
  expect(await run(['render', 'land', '3'], offline)).toStrictEqual([
    1,
    [frame(1), frame(2), standing('0.2', 2), expect.stringContaining('Frame 3 is not rendered') as string],
  ])
  expect(await meterOf(id)).toMatchObject({ used: '1', remaining: '7.8' })
  expect(await run([])).toStrictEqual([0, [standing('0.2', 0)]])
  expect(await meterOf(id)).toMatchObject({ used: '2', remaining: '7.8' })
  expect(await run(['return'])).toStrictEqual([0, [standing('0', 0)]])
  expect(await meterOf(id)).toMatchObject({ used: '2', remaining: '8' })
})

test('a job keeps a hold while it runs, and what it took is counted', async () => {
  const { id, licenseKey } = await meteredLicense('jobs')
  const begin = (minutes: string, ...command: string[]) =>
    host.start(['node', example('metered-app/job.js'), ...command], {
      ...{ ...environment, PRODUCT: 'jobs', LICENSE_KEY: licenseKey, MINUTES: minutes },
    })
  const work = 'const end = setInterval(() => fs.existsSync("end-the-job") && clearInterval(end), 20)'
  const long = begin('6', 'node', '-e', `console.log("at work"); ${work}`)
  await expect.poll(() => long.stdout() + long.stderr()).toContain('at work')
  expect(await meterOf(id)).toMatchObject({ used: '0', remaining: '4' })
  expect(await begin('5', 'node', '-e', '').finished).toMatchObject({
    ...{ code: 1, stdout: '', stderr: 'The job needs 5 minutes; 4 are left.\n' },
  })
  writeFileSync(join(project, 'end-the-job'), '')
  const { code, stdout } = await long.finished
  const [, counted = 'none'] = /^Counted (0\.\d{6}) minutes\.$/m.exec(stdout) ?? []
  expect([code, amountOf(counted)]).toStrictEqual([0, amountOf((await meterOf(id))?.used ?? '0')])
  const { remaining } = (await meterOf(id)) ?? {}
  expect(remaining).toBe(amountText(amountOf('10') - amountOf(counted)))
  expect(await begin('4', 'no-such-program').finished).toMatchObject({ code: 1 })
  expect(await meterOf(id)).toMatchObject({ remaining })
})

/** The address that a program prints when it listens. */
async function addressOf(running: Running): Promise<string> {
  await expect.poll(() => running.stdout() + running.stderr()).toMatch(/^http:/)
  return running.stdout().trim()
}

test('the page activates in a browser, and knows its license when it is opened again', async () => {
  const running = host.start(['node', example('web-app/main.js')], { ...environment, PORT: '0' })
  const address = await addressOf(running)
  const { licenseKey } = await mint(api.ask, tenant.token, 'demo-app')
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    page.setDefaultTimeout(waitMs)
    const errors: string[] = []
    page.on('pageerror', ({ message }) => errors.push(message))
    await page.goto(address)
    await page.getByRole('status').getByText('unlicensed').waitFor()
    await page.getByLabel('License key').fill(licenseKey)
    await page.getByRole('button', { name: 'Activate' }).click()
    await page.getByRole('status').getByText('licensed', { exact: true }).waitFor()
    await page.reload()
    await page.getByRole('status').getByText('licensed', { exact: true }).waitFor()
    expect(await page.getByLabel('Document').isEnabled()).toBe(true)
    expect(errors).toStrictEqual([])
  } finally {
    await browser.close()
    await running.end('SIGTERM')
  }
})

test('the server mints one license for an order, and takes each signed webhook once', async () => {
  const WEBHOOK_SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
  const running = host.start(['node', example('server/main.js')], {
    ...environment,
    WEBHOOK_SECRET,
    PORT: '0',
  })
  const address = await addressOf(running)
  const post = async (path: string, body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${address}${path}`, { method: 'POST', body, headers })
    return { status: response.status, body: (await response.json()) as unknown }
  }
  const order = JSON.stringify({ order: '1017', email: 'ada@example.com', productId: 'demo-app' })
  const [first, again] = [await post('/buy', order), await post('/buy', order)]
  expect(first).toStrictEqual({ status: 201, body: { licenseKey: expect.stringContaining('-') as string } })
  expect(again).toStrictEqual(first)
  const body = '{"id":"whd_1","event":"license.created","license_id":"lic_1"}'
  const { ...headers } = signatureHeaders([WEBHOOK_SECRET], {
    id: 'whd_1',
    timestamp: Math.floor(Date.now() / 1000),
    body,
  })
  expect(await post('/hooks', body, headers)).toStrictEqual({ status: 200, body: { received: true } })
  expect(await post('/hooks', body, headers)).toStrictEqual({ status: 200, body: { duplicate: true } })
  expect(await post('/hooks', `${body} `, headers)).toStrictEqual({
    status: 400,
    body: { error: 'signature' },
  })
  expect(running.stdout()).toContain('license.created lic_1')
  await running.end('SIGTERM')
})

test('a program of a vendor compiles strictly against the types of the package', () => {
  const program = `
    import { createClient, memoryStorage, type State } from '@keyledger/client'
    import { fileStorage } from '@keyledger/client/node'
    import { verifyLease } from '@keyledger/client/verify'
    import { createServerClient, verifyWebhook } from '@keyledger/client/server'
    const place = { baseUrl: '', tenantId: '', productId: '', sdkKey: '' }
    createClient({ tenantId: '', productId: '', keys: {}, storage: memoryStorage() })
    // @ts-expect-error without a server, and without keys, nothing could be verified
    createClient({ tenantId: '', productId: '', storage: memoryStorage() })
    // @ts-expect-error the SDK key is missing
    createClient({ baseUrl: '', tenantId: '', productId: '', storage: memoryStorage() })
    const app = createClient({ ...place, storage: Math.random() > 0.5 ? fileStorage('x') : memoryStorage() })
    const until = (state: State): number => (state.status === 'licensed' ? state.until : 0)
    const server = createServerClient({ baseUrl: '', token: '' })
    export async function main(): Promise<(string | number)[]> {
      const { license, licenseKey } = await server.mintLicense({ productId: 'editor', email: 'ada@example.com' })
      const ids: string[] = []
      for await (const one of server.listLicenses({ status: 'active' })) ids.push(one.id)
      const revoked = await server.confirm('revokeLicense', { id: license.id, reason: 'charged back' })
      // @ts-expect-error there is no such status
      server.listLicenses({ status: 'fine' })
      // @ts-expect-error the id is missing
      server.getLicense({})
      // @ts-expect-error it is not gated
      server.confirm('mintLicense', { productId: 'editor' })
      // @ts-expect-error it may wait for an approval
      const direct: string = (await server.revokeLicense({ id: license.id })).license.id
      const { event } = await verifyWebhook('whsec_', { body: '', headers: new Headers() })
      return [licenseKey, revoked.license.status, event, direct, until(app.state()), typeof verifyLease]
    }`
  writeFileSync(join(project, 'program.ts'), program)
  const options = {
    ...{
      target: 'es2024',
      lib: ['es2024', 'dom'],
      module: 'nodenext',
      types: [],
      strict: true,
      noEmit: true,
    },
    ...{ exactOptionalPropertyTypes: true, skipLibCheck: false },
  }
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['program.ts'] }),
  )
  const compiler = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
  const compile = () => execFileSync(process.execPath, [compiler, '--project', project], { encoding: 'utf8' })
  expect(compile()).toBe('')
})
