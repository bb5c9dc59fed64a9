// Guarantee: relays that run as processes of their own and devices that call the server never have more seats than the license, over
// kills and renewals; a relay that was copied is found when both copies ask; and a released relay leaves its seats to others.
import { cpSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createLog } from '../../src/app/log.ts'
import { openStores } from '../../src/app/stores.ts'
import { setWebhook } from '../../src/commands/webhooks.ts'
import { parseConfig } from '../../src/config.ts'
import { createClient, memoryStorage } from '../../src/sdk/javascript/app/index.ts'
import { createHost, type Environment, freePort, program, type Running } from '../harness/process.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { type Client, client, createVendor, type Minted, productId } from './vendor.ts'

const host = createHost()
const limit = 5
const atRelay = 3

let server: string
let vendor: Client
let keys: Record<string, string>
let sdkKey: string
let receiver: Receiver
beforeAll(async () => {
  const stores = await host.stores()
  const environment = { ...stores.environment, KEYLEDGER_WEBHOOK_ALLOW_PRIVATE: 'true' }
  const token = await createVendor(environment)
  server = (await host.serve(environment)).address
  vendor = client(server, token)
  await vendor.createProduct(1)
  const floatingSeats = { seatSeconds: 3600, overdraft: null, scope: 'device', relays: { maxDays: 30 } }
  const keyType = { name: 'Floating', deviceLimit: limit, seatPolicy: 'floating', floatingSeats }
  expect((await vendor.send('POST', `/v1/products/${productId}/key-types`, keyType)).status).toBe(201)
  receiver = await startReceiver()
  receiver.secret = await webhookSecret(environment, receiver.url)
  ;({ sdkKey } = await host.json(SdkKey, ['sdk-key', 'show', '--tenant', 'acme'], environment))
  const keyset = await fetch(`${server}/acme/.well-known/service-keys`)
  ;({ keys } = z.object({ keys: z.record(z.string(), z.string()) }).parse(await keyset.json()))
}, 120_000)
afterAll(() => receiver.close())

/** Sets a webhook as its owner does who approved it. */
async function webhookSecret(environment: Environment, url: string): Promise<string> {
  const { ports, close } = await openStores(parseConfig(environment), createLog('silent'))
  try {
    const asked = { url, events: ['license.relay_forked' as const], rotateSecret: false }
    const origin = { requestId: 'req_test', actor: 'operator:test' } as const
    return (await setWebhook(ports, 'acme', asked, 'op_test', origin)).secret ?? ''
  } finally {
    await close()
  }
}

const SdkKey = z.object({ sdkKey: z.string() })

test('apps at a relay and devices at the server share the seats, over a kill, a renewal and the release', {
  timeout: 120_000,
}, async () => {
  const license = await vendor.mint({ keyTypeId: 'floating' })
  const data = await enroll(license, 'office')
  let relay = await serve(data)
  const near = apps(5, { relays: [relay.address] })
  const direct = apps(4, { baseUrl: server, sdkKey })

  const asked = await Promise.all([...near, ...direct].map((app) => app.activate(license.licenseKey)))
  const gave = ({ ok }: { ok: boolean }) => ok
  expect(asked.slice(0, near.length).filter(gave)).toHaveLength(atRelay)
  expect(asked.slice(near.length).filter(gave)).toHaveLength(limit - atRelay)
  for (const refused of asked.filter(({ ok }) => !ok))
    expect(refused).toMatchObject({ problem: { code: 'seat_limit_reached' } })
  // An app that knows both finds none either.
  const both = app({ relays: [relay.address], baseUrl: server, sdkKey })
  expect(await both.activate(license.licenseKey)).toMatchObject({ ok: false })
  expect(await shown(license)).toMatchObject({ seatsUsed: limit - atRelay, relaySeats: atRelay })

  const seated = near.filter((_, index) => asked[index]?.ok)
  await relay.end('SIGKILL')
  relay = await serve(data, relay.port)
  for (const each of seated) expect(await each.validate()).toMatchObject({ ok: true })
  const notSeated = near.filter((each) => !seated.includes(each))
  for (const each of notSeated) expect(await each.activate(license.licenseKey)).toMatchObject({ ok: false })

  const before = await onlyRelay(license)
  await run('renew', '--data', data)
  const after = await onlyRelay(license)
  expect(after).toMatchObject({ relayId: before.relayId, state: 'living', seatsTaken: atRelay })
  expect(Date.parse(after.certifiedAt)).toBeGreaterThan(Date.parse(before.certifiedAt))
  for (const each of seated) expect(await each.validate()).toMatchObject({ ok: true })

  expect((await host.run(['relay', 'release', '--data', data], {})).stderr).toContain(
    `Seats in use: ${String(atRelay)}.`,
  )
  for (const each of seated) expect(await each.deactivate()).toMatchObject({ ok: true })
  await run('release', '--data', data)
  expect(await onlyRelay(license)).toMatchObject({ state: 'released', seatsTaken: 0 })
  expect(await shown(license)).not.toHaveProperty('relaySeats')
  // The relay gives out none any more, and the server those that came back.
  const later = apps(atRelay + 1, { baseUrl: server, sdkKey })
  const taken = await Promise.all(later.map((each) => each.activate(license.licenseKey)))
  expect(taken.filter(gave)).toHaveLength(atRelay)
  const [late] = apps(1, { relays: [relay.address] })
  expect(await late?.activate(license.licenseKey)).toMatchObject({ ok: false })
  await relay.end('SIGTERM')
})

test('of two copies of a relay the first is renewed, and the second is refused and shown', {
  timeout: 120_000,
}, async () => {
  const license = await vendor.mint({ keyTypeId: 'floating' })
  const data = await enroll(license, 'cloned')
  const copy = host.path('copy')
  cpSync(data, copy, { recursive: true })
  const [first, second] = await Promise.all([serve(data), serve(copy)])
  // Each gives out a seat of which the other does not know.
  for (const { address } of [first, second])
    expect(await app({ relays: [address] }).activate(license.licenseKey)).toMatchObject({ ok: true })

  await run('renew', '--data', data)
  const refused = await host.run(['relay', 'renew', '--data', copy], {})
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.stderr).toContain('copied')
  const found = await onlyRelay(license)
  expect(found).toMatchObject({ state: 'copied', seatsTaken: atRelay })
  expect(found.copiedAt).toBeDefined()
  // From now on neither is renewed, and the seats stay taken.
  expect((await host.run(['relay', 'renew', '--data', data], {})).stderr).toContain('copied')
  expect(await shown(license)).toMatchObject({ relaySeats: atRelay })
  const { body } = await vendor.send('GET', `/v1/licenses/${license.licenseId}/history`)
  expect(JSON.stringify(body)).toContain('was copied, and is not renewed any more')
  await expect
    .poll(() => receiver.delivered, { timeout: 30_000 })
    .toMatchObject([{ event: 'license.relay_forked', license_id: license.licenseId }])
  expect(receiver.refused).toStrictEqual([])
  await Promise.all([first.end('SIGTERM'), second.end('SIGTERM')])
})

type Options = Partial<Parameters<typeof createClient>[0]>

let names = 0
function app(options: Options) {
  const made = createClient({
    tenantId: 'acme',
    productId,
    keys,
    storage: memoryStorage(),
    deviceName: `device ${String(++names)}`,
    ...options,
  })
  started.push(made)
  return made
}
const started: { stop: () => void }[] = []
afterAll(() => {
  for (const each of started) each.stop()
})

const apps = (count: number, options: Options) => Array.from({ length: count }, () => app(options))

async function run(...args: string[]): Promise<void> {
  expect(await host.run(['relay', ...args], {})).toMatchObject({ code: 0 })
}

/** Enrolls a relay at the server. @returns its directory */
async function enroll({ licenseKey }: Minted, name: string): Promise<string> {
  const file = (secret: string): string => {
    const path = host.path('secret')
    writeFileSync(path, secret)
    return path
  }
  const data = host.path(name)
  const place = ['--tenant', 'acme', '--product', productId, '--name', name, '--seats', String(atRelay)]
  const online = ['--server', server, '--sdk-key-file', file(sdkKey)]
  const secrets = ['--license-key-file', file(licenseKey), '--password-file', file('correct horse battery')]
  await run('enroll', '--data', data, ...place, ...online, ...secrets)
  return data
}

async function serve(data: string, port?: number): Promise<Running & { address: string; port: number }> {
  const chosen = port ?? (await freePort())
  const running = host.start(
    ['node', program, 'relay', 'serve', '--data', data, '--port', String(chosen)],
    {},
  )
  const address = `http://localhost:${String(chosen)}`
  while (!(await fetch(`${address}/health`).catch(() => undefined))?.ok) {
    const ended = await Promise.race([running.finished, sleep(25)])
    if (ended) throw new Error(`the relay ended: ${running.stderr()}`)
  }
  return { ...running, address, port: chosen }
}

const Relays = z.object({
  relays: z.tuple([
    z.looseObject({ relayId: z.string(), certifiedAt: z.string(), copiedAt: z.string().optional() }),
  ]),
})

async function onlyRelay({ licenseId }: Minted) {
  const { body } = await vendor.send('GET', `/v1/licenses/${licenseId}/relays`)
  return Relays.parse(body).relays[0]
}

async function shown({ licenseId }: Minted): Promise<unknown> {
  const { body } = await vendor.send('GET', `/v1/licenses/${licenseId}`)
  return body.license
}
