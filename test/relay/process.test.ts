/**
 * Guarantee: over any number of kills under load a relay has never more living seats than its certificate, counted over all answers
 * that clients ever got; its chain stays whole; and two processes never serve one directory.
 */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { newToken } from '../../src/credentials/token.ts'
import { createClient, memoryStorage } from '../../src/sdk/javascript/app/index.ts'
import { launchBrowser } from '../harness/chromium.ts'
import { createHost, program, type Running } from '../harness/process.ts'
import { call, type Life, live, mostAtOnce } from './lives.ts'
import { password } from './relay.ts'
import { createVendor, productId, type Terms, tenantId, type Vendor } from './vendor.ts'

const host = createHost()
const environment = {}

/** The secrets of a relay in files, and the options that name them. */
function secretsOf(vendor: Vendor, name: string): string[] {
  const [key, secret] = [host.path(`${name}.key`), host.path(`${name}.password`)]
  writeFileSync(key, vendor.licenseKey)
  writeFileSync(secret, `${password}\n`)
  return ['--license-key-file', key, '--password-file', secret]
}

/** Enrolls a relay with the commands, carrying files. */
async function enroll(vendor: Vendor, name: string, seats: number, terms: Terms): Promise<string> {
  const [data, request, answer] = [host.path(name), host.path(`${name}.txt`), host.path(`${name}.json`)]
  const place = ['--tenant', tenantId, '--product', productId, '--name', name, '--seats', String(seats)]
  const enrolling = [
    'relay',
    'enroll',
    '--data',
    data,
    ...place,
    ...secretsOf(vendor, name),
    '--out',
    request,
  ]
  expect(await host.run(enrolling, environment)).toMatchObject({ code: 0 })
  writeFileSync(answer, vendor.answer(readFileSync(request, 'utf8'), terms))
  expect(await host.run(['relay', 'accept', answer, '--data', data], environment)).toMatchObject({ code: 0 })
  return data
}

async function serve(data: string): Promise<Running & { address: string }> {
  const running = host.start(['node', program, 'relay', 'serve', '--data', data, '--port', '0'], environment)
  for (;;) {
    const address = /http:\S+/.exec(running.stdout())?.[0]
    if (address !== undefined) return { ...running, address }
    const ended = await Promise.race([running.finished, sleep(10)])
    if (ended) throw new Error(`the relay ended: ${running.stderr()}`)
  }
}

const periodMs = 1000

test('killed again and again under load, it never gives out more seats than it has', {
  timeout: 120_000,
}, async () => {
  const vendor = createVendor()
  const data = await enroll(vendor, 'killed', 5, { seatSeconds: periodMs / 1000 })
  const lives: Life[] = []
  const stop = new AbortController()
  let relay = await serve(data)
  const { licenseKey } = vendor
  const crowd = { licenseKey, periodMs, addressOf: () => relay.address, signal: stop.signal }
  const devices = Array.from({ length: 12 }, (_, number) => live({ ...crowd, lives }, number))
  for (let kill = 0; kill < 8; kill++) {
    await sleep(300 + 150 * kill)
    await relay.end('SIGKILL')
    const { stdout } = await host.run(['relay', 'status', '--data', data, '--json'], environment)
    expect(z.looseObject({ fault: z.null(), seats: z.literal(5) }).parse(JSON.parse(stdout)).fault).toBeNull()
    relay = await serve(data)
  }
  await expect.poll(() => lives.length, { timeout: 60_000 }).toBeGreaterThan(20)
  stop.abort()
  await Promise.all(devices)
  await relay.end('SIGTERM')
  expect(new Set(lives.map(({ fence }) => fence)).size).toBe(lives.length)
  expect(new Set(lives.map(({ instanceId }) => instanceId)).size).toBe(lives.length)
  expect(mostAtOnce(lives)).toBeLessThanOrEqual(5)
  expect(mostAtOnce(lives)).toBeGreaterThan(2)
})

describe('a relay that runs', () => {
  test('runs once, renews while it runs, and answers as the client interface does', async () => {
    const vendor = createVendor()
    const data = await enroll(vendor, 'once', 2, {})
    const relay = await serve(data)
    const second = host.start(['node', program, 'relay', '--data', data, '--port', '0'], environment)
    expect(await second.finished).toMatchObject({ code: 3 })
    expect(second.stderr()).toContain('Another process uses')
    expect(await (await fetch(`${relay.address}/health`)).json()).toStrictEqual({
      status: 'ok',
      relay: 'serving',
    })
    const elsewhere = await fetch(`${relay.address}/${tenantId}/other/config`)
    expect([elsewhere.status, await elsewhere.json()]).toStrictEqual([404, { error: 'product not found' }])
    expect(elsewhere.headers.get('access-control-allow-origin')).toBe('*')
    const config = await fetch(`${relay.address}/${tenantId}/${productId}/config`)
    expect(await config.json()).toMatchObject({ free_tier_enabled: true })
    const keys = await fetch(`${relay.address}/${tenantId}/.well-known/service-keys`)
    expect(await keys.json()).toStrictEqual({ keys: vendor.keys })
    const wrong = await fetch(`${relay.address}/${tenantId}/${productId}/activate`)
    expect([wrong.status, wrong.headers.get('allow')]).toStrictEqual([405, 'POST, OPTIONS'])
    expect(await call(relay.address, 'heartbeat', { license_key: vendor.licenseKey })).toMatchObject({
      status: 400,
      said: { error: 'instance_id is required' },
    })
    for (const name of ['consume', 'uses', 'allowance'])
      expect(await call(relay.address, name, { license_key: vendor.licenseKey })).toMatchObject({
        status: 404,
        said: { error: "a relay counts no uses; ask the vendor's server" },
      })

    const request = host.path('renewal.txt')
    await host.run(['relay', 'renew', '--seats', '3', '--data', data, '--out', request], environment)
    const answer = host.path('renewal.json')
    writeFileSync(answer, vendor.answer(readFileSync(request, 'utf8')))
    await host.run(['relay', 'accept', answer, '--data', data], environment)
    await expect
      .poll(async () => (await fetch(`${relay.address}/metrics`)).text(), { timeout: 5000 })
      .toContain('keyledger_relay_seats 3\n')
    expect(await relay.end('SIGTERM')).toMatchObject({ code: 0 })
  })
})

test('an app with the SDK takes its seat from it, believing the keys of the vendor alone', async () => {
  const vendor = createVendor()
  const data = await enroll(vendor, 'sdk', 1, {})
  const relay = await serve(data)
  const open = (deviceName: string) =>
    createClient({
      tenantId,
      productId,
      keys: vendor.keys,
      relays: [relay.address],
      storage: memoryStorage(),
      deviceName,
    })
  const [one, other] = [open('one'), open('other')]
  expect(await one.activate(vendor.licenseKey)).toMatchObject({
    ok: true,
    state: { status: 'licensed', entitlements: ['export', 'projects'] },
  })
  expect(await other.activate(vendor.licenseKey)).toMatchObject({
    ok: false,
    problem: { code: 'seat_limit_reached' },
  })
  expect(await one.validate()).toMatchObject({ ok: true, state: { status: 'licensed' } })
  expect(await one.deactivate()).toMatchObject({ ok: true })
  expect(await other.activate(vendor.licenseKey)).toMatchObject({ ok: true, state: { status: 'licensed' } })
  one.stop()
  other.stop()
  await relay.end('SIGTERM')
})

test('it enrolls, renews and is released over the network', async () => {
  const vendor = createVendor()
  const { token: sdkKey } = newToken('sdk', randomBytes)
  const asked: unknown[] = []
  const server = createServer((request, response) => {
    void (async () => {
      let body = ''
      for await (const part of request) body += String(part)
      const said = z.looseObject({ request: z.string().optional() }).parse(JSON.parse(body))
      asked.push([request.url, request.headers['x-service-sdk-key'], Object.keys(said).sort()])
      if (said.request === undefined) return response.end('{}')
      // The certificate is over by more than half at once, so that the relay renews when it starts.
      const halfOver =
        asked.length === 1 ? { now: Math.floor(Date.now() / 1000) - 6000, seconds: 10_000 } : {}
      return response.end(vendor.answer(said.request, halfOver))
    })()
  })
  server.on('error', () => undefined)
  server.listen(0, 'localhost')
  await once(server, 'listening')
  afterAll(() => server.close())
  const url = `http://localhost:${String((server.address() as AddressInfo).port)}`
  const [data, sdkKeyFile] = [host.path('online'), host.path('online.sdk')]
  writeFileSync(sdkKeyFile, sdkKey)
  const place = ['--tenant', tenantId, '--product', productId, '--name', 'Online', '--seats', '2']
  const online = ['--server', url, '--sdk-key-file', sdkKeyFile]
  const enrolling = ['relay', 'enroll', '--data', data, ...place, ...online, ...secretsOf(vendor, 'online')]
  expect(await host.run(enrolling, environment)).toMatchObject({ code: 0 })
  const relay = await serve(data)
  await expect.poll(() => asked.length, { timeout: 5000 }).toBe(2)
  const certificateEnd = async () => {
    const metrics = await (await fetch(`${relay.address}/metrics`)).text()
    return Number(/^keyledger_relay_certificate_end_seconds (\d+)$/m.exec(metrics)?.[1])
  }
  await expect.poll(certificateEnd, { timeout: 5000 }).toBeGreaterThan(Date.now() / 1000 + 86_400)
  expect(await host.run(['relay', 'release', '--data', data], environment)).toMatchObject({ code: 0 })
  expect(
    await call(relay.address, 'activate', {
      license_key: vendor.licenseKey,
      instance_name: 'a',
      lease_version: 2,
    }),
  ).toMatchObject({ status: expect.toBeOneOf([403, 422]) as number })
  const path = `/${tenantId}/${productId}/relay`
  expect(asked).toStrictEqual([
    [path, sdkKey, ['license_key', 'request']],
    [path, sdkKey, ['license_key', 'request']],
    [`${path}/release`, sdkKey, ['license_key', 'release']],
  ])
  await relay.end('SIGTERM')
})

test('its page shows the seats to the administrator alone, who frees and blocks them', {
  timeout: 60_000,
}, async () => {
  const vendor = createVendor()
  const data = await enroll(vendor, 'page', 2, {})
  const relay = await serve(data)
  const key = { license_key: vendor.licenseKey, lease_version: 2 }
  const take = (name: string) =>
    call(relay.address, 'activate', { ...key, instance_name: name, platform: 'linux' })
  for (const name of ['Render <1>', 'Render 2']) expect((await take(name))?.status).toBe(200)

  const unsigned = await fetch(`${relay.address}/admin/free`, { method: 'POST', redirect: 'manual' })
  expect([unsigned.status, unsigned.headers.get('location')]).toStrictEqual([303, '/admin'])
  const foreign = await fetch(`${relay.address}/admin/sign-in`, {
    method: 'POST',
    headers: { origin: 'https://evil.example' },
    body: new URLSearchParams({ password }),
  })
  expect(foreign.status).toBe(403)

  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    await page.goto(`${relay.address}/admin`)
    expect(await page.content()).not.toContain('Render 2')
    await page.getByLabel('Password').fill('not the password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByRole('alert').textContent()).toBe('The password is wrong.')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('2 of 2 seats in use')
    expect(await page.locator('.device .name').allTextContents()).toStrictEqual(['Render <1>', 'Render 2'])
    const pictures = process.env.KEYLEDGER_PICTURES
    if (pictures !== undefined) await page.screenshot({ path: `${pictures}/relay.png`, fullPage: true })

    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/admin' })
    const forged = await fetch(`${relay.address}/admin/free`, {
      method: 'POST',
      headers: { cookie: `${cookie?.name ?? ''}=${cookie?.value ?? ''}` },
      body: new URLSearchParams({ instance: 'x', _csrf: 'x' }),
    })
    expect(forged.status).toBe(403)

    await page.getByRole('button', { name: 'Block' }).first().click()
    await page.getByRole('heading', { name: 'Blocked devices' }).waitFor()
    expect((await take('Render <1>'))?.status).toBe(403)
    await page.getByRole('button', { name: 'Unblock' }).click()
    await page.getByRole('heading', { name: 'Blocked devices' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Free', exact: true }).click()
    await page.getByText('No device has a seat.').waitFor()

    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download request' }).click()
    const request = readFileSync(await (await download).path(), 'utf8')
    const answer = Buffer.from(vendor.answer(request, { seats: 7 }))
    await page
      .getByLabel('Answer of the vendor')
      .setInputFiles({ name: 'a.json', mimeType: 'application/json', buffer: answer })
    await page.getByRole('button', { name: 'Upload answer' }).click()
    await page.getByRole('heading', { name: '0 of 7 seats in use' }).waitFor()
    await page.getByRole('link', { name: 'Log' }).click()
    const log = await page.locator('.device .soft').allTextContents()
    expect(log.map((line) => line.split('·')[1]?.trim())).toStrictEqual([
      'lost its seat: freed by the administrator',
      'lost its seat: blocked by the administrator',
      'took a seat',
      'took a seat',
    ])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Password').waitFor()
  } finally {
    await browser.close()
  }
  let status = 0
  for (let attempt = 0; attempt < 10 && status !== 429; attempt++) {
    const body = new URLSearchParams({ password: 'wrong' })
    status = (await fetch(`${relay.address}/admin/sign-in`, { method: 'POST', body })).status
  }
  expect(status).toBe(429)
  await relay.end('SIGTERM')
})
