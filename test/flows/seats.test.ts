// Guarantee: no race between requests or processes gives a license more active devices than it has seats.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { licenseStream } from '../../src/domain/streams.ts'
import { connectLedger } from '../../src/ledger/ledger.ts'
import { createClient, memoryStorage } from '../../src/sdk/javascript/app/index.ts'
import { createHost, type Stores } from '../harness/process.ts'
import { type Answer, type Client, client, createVendor, productId } from './vendor.ts'

const host = createHost()
const seats = 5
const racers = 200

test('5 of 200 concurrent activations on 5 seats succeed, and all others get seat_limit_reached', async () => {
  const { clients, stores } = await vendorWithTwoServers()
  const [first] = clients
  const license = await first.mint()

  const answers = await race(clients, (chosen, index) =>
    chosen.activate(license.licenseKey, `device-${index}`),
  )

  expect(tally(answers)).toStrictEqual({
    '200 active true': seats,
    '200 seat_limit_reached false': racers - seats,
  })
  const events = await eventsOf(stores, license.licenseId)
  expect(events).toStrictEqual(['LicenseMinted', ...Array<string>(seats).fill('DeviceActivated')])

  const seated = answers.flatMap(({ body }) => (body.activated === true ? [String(body.device_id)] : []))
  const verdicts = await Promise.all(
    answers.map(({ body }) =>
      untilAnswered(() => first.validate(license.licenseKey, String(body.device_id))),
    ),
  )
  const valid = verdicts.flatMap(({ body }) => (body.valid === true ? [String(body.device_id)] : []))
  expect(valid.toSorted()).toStrictEqual(seated.toSorted())

  // Concurrent activations of the same device take only one seat.
  const again = await race(clients, (chosen) => chosen.activate(license.licenseKey, seated[0] ?? ''))
  expect(tally(again)).toStrictEqual({ '200 active true': racers })
  expect(await eventsOf(stores, license.licenseId)).toStrictEqual(events)
})

test('40 machines with one name that race for 5 seats, each five times over, get one seat each or none', async () => {
  const { clients, stores, addresses } = await vendorWithTwoServers()
  const { sdkKey } = await host.json(SdkKey, ['sdk-key', 'show', '--tenant', 'acme'], stores.environment)
  const license = await clients[0].mint()
  const activate = async (address: string, machine: number): Promise<Answer> => {
    const response = await fetch(`${address}/acme/${productId}/activate`, {
      method: 'POST',
      headers: { 'x-service-sdk-key': sdkKey, 'content-type': 'application/json' },
      body: JSON.stringify({
        license_key: license.licenseKey,
        instance_name: 'MacBook-Pro.local',
        machine_hash: `the-machine-number-${machine}`,
      }),
    })
    return { status: response.status, body: z.record(z.string(), z.unknown()).parse(await response.json()) }
  }
  const machineOf = (racer: number) => racer % 40
  const answers = await Promise.all(
    Array.from({ length: racers }, (_, racer) =>
      untilAnswered(() => activate(addresses[Math.floor(racer / 40) % 2] ?? '', machineOf(racer))),
    ),
  )
  expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([200, 422]))
  const given = answers.flatMap(({ status, body }, racer) =>
    status === 200 ? [`${machineOf(racer)} ${String(body.instance_id)}`] : [],
  )
  // Each machine was given one instance id, and no two the same.
  const pairs = [...new Set(given)].map((pair) => pair.split(' '))
  expect(pairs).toHaveLength(seats)
  for (const at of [0, 1]) expect(new Set(pairs.map((pair) => pair[at])).size).toBe(seats)
  const events = await eventsOf(stores, license.licenseId)
  expect(events.filter((type) => type === 'DeviceActivated')).toHaveLength(seats)
})

test('20 devices that activate at once start the term of their license once', async () => {
  const { clients, stores } = await vendorWithTwoServers()
  const [first] = clients
  const later = { name: 'Later', deviceLimit: 20, duration: { count: 1, unit: 'month' } }
  const keyType = { ...later, startsAt: 'first_activation' }
  const added = await first.send('POST', `/v1/products/${productId}/key-types`, keyType)
  expect(added.status).toBe(201)
  const license = await first.mint({ keyTypeId: 'later' })

  const answers = await race(clients, (chosen, index) =>
    chosen.activate(license.licenseKey, `device-${index % 20}`),
  )

  expect(tally(answers)).toStrictEqual({ '200 active true': racers })
  const events = await eventsOf(stores, license.licenseId)
  expect(events.toSorted()).toStrictEqual(
    ['LicenseMinted', 'LicenseStarted', ...Array<string>(20).fill('DeviceActivated')].toSorted(),
  )
  // In one append with the first activation: no device has a seat on a license whose term has not started.
  expect(events.slice(0, 3)).toStrictEqual(['LicenseMinted', 'DeviceActivated', 'LicenseStarted'])
  const ends = new Set(answers.map(({ body }) => body.expires_at))
  expect(ends.size).toBe(1)
  const verdict = await untilAnswered(() => first.validate(license.licenseKey, 'device-0'))
  expect([...ends]).toStrictEqual([verdict.body.expires_at])
})

const SdkKey = z.object({ sdkKey: z.string() })

async function vendorWithTwoServers(): Promise<{
  clients: [Client, Client]
  stores: Stores
  addresses: string[]
}> {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const servers = await Promise.all([host.serve(stores.environment), host.serve(stores.environment)])
  const [first, second] = servers.map(({ address }) => client(address, token))
  if (!first || !second) throw new Error('two servers were started')
  await first.createProduct(seats)
  return { clients: [first, second], stores, addresses: servers.map(({ address }) => address) }
}

/** Half of the requests go to each server, all at once. */
function race(clients: readonly Client[], ask: (client: Client, index: number) => Promise<Answer>) {
  return Promise.all(
    Array.from({ length: racers }, async (_, index) => {
      const chosen = clients[index % clients.length]
      if (!chosen) throw new Error('no client')
      return untilAnswered(() => ask(chosen, index))
    }),
  )
}

/** A server on a busy machine says 503; an activation and a validate may be repeated. */
async function untilAnswered(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (answer.status !== 503) return answer
    await sleep(500)
  }
}

function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const kind = [status, body.status ?? JSON.stringify(body.error), body.activated].join(' ')
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}

async function eventsOf({ eventstoreUrl }: Stores, licenseId: string): Promise<string[]> {
  const ledger = connectLedger(eventstoreUrl)
  try {
    const types: string[] = []
    for await (const entry of ledger.readStream(licenseStream(licenseId))) {
      types.push(entry.readable ? entry.event.type : `unreadable ${entry.type}`)
    }
    return types
  } finally {
    await ledger.close()
  }
}

test('20 machines that race for license files on 5 seats, while all devices are deactivated, hold 5 files on 5 seats', async () => {
  const { clients, stores, addresses } = await vendorWithTwoServers()
  const [first] = clients
  const files = { name: 'Files', deviceLimit: seats, offlineFiles: { maxDays: 30, perSeatPerYear: 4 } }
  expect((await first.send('POST', `/v1/products/${productId}/key-types`, files)).status).toBe(201)
  const license = await first.mint({ keyTypeId: 'files' })
  const response = await fetch(`${addresses[0]}/acme/.well-known/service-keys`)
  const { keys } = z.object({ keys: z.record(z.string(), z.string()) }).parse(await response.json())
  const requests = await Promise.all(
    Array.from({ length: 20 }, async (_, machine) => {
      const app = createClient({
        tenantId: 'acme',
        productId,
        keys,
        storage: memoryStorage(),
        identity: () => ({ machineHash: `the-machine-number-${machine}` }),
        deviceName: `Machine ${machine}`,
      })
      return (await app.createOfflineRequest(license.licenseKey)).text
    }),
  )
  const path = `/v1/licenses/${license.licenseId}`
  const freed: Answer[] = []
  const answers = await race(clients, async (chosen, index) => {
    const answer = await chosen.send('POST', `${path}/files`, { request: requests[index % 20] })
    if (answer.status === 201) {
      const { instanceId } = answer.body
      freed.push(await untilAnswered(() => chosen.send('POST', `${path}/deactivate-device`, { instanceId })))
    }
    return answer
  })
  // Each machine is given one file, however often it asks; nobody frees the seat of one that has it.
  expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([201, 409]))
  const made = answers.flatMap(({ status, body }) => (status === 201 ? [String(body.file)] : []))
  expect(new Set(made).size).toBe(seats)
  expect(new Set(freed.map(({ status }) => status))).toStrictEqual(new Set([409]))
  const events = await eventsOf(stores, license.licenseId)
  expect(events.filter((type) => type === 'LicenseFileIssued')).toHaveLength(seats)
  expect(events.filter((type) => type === 'DeviceActivated')).toHaveLength(seats)
  expect(events).not.toContain('DeviceDeactivated')
})
