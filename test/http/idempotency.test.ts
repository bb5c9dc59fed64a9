/**
 * Guarantee: a POST repeated with its Idempotency-Key runs once and gets the same response, byte for byte;
 * also when the first one was interrupted before its response was stored.
 */
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keyHashOf } from '../../src/credentials/license-key.ts'
import { licenseStream } from '../../src/domain/streams.ts'
import type { Idempotency } from '../../src/idempotency/idempotency.ts'
import { LedgerUnavailable } from '../../src/ledger/connection/unavailable.ts'
import {
  type Answer,
  type Ask,
  askOf,
  createTestApp,
  makeTenant,
  openTestApi,
  type TestApi,
  type TestTenant,
} from '../harness/api.ts'
import { eventsIn } from '../harness/ledger.ts'
import { makeProduct, mint } from './samples.ts'

let api: TestApi
let tenant: TestTenant
/** An application that loses every response, as if it were killed right after sending. */
let losing: FastifyInstance
/** An application whose event store does not respond. */
let failing: FastifyInstance
beforeAll(async () => {
  api = await openTestApi()
  const { ports } = api.ledger
  losing = await createTestApp(api.ledger, { ...ports, idempotency: losingAnswers(ports.idempotency) })
  failing = await createTestApp(api.ledger, {
    ...ports,
    execute: () => Promise.reject(new LedgerUnavailable('it does not answer')),
  })
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Pro', deviceLimit: 2 }] })
})
afterAll(async () => {
  await losing.close()
  await failing.close()
  await api.close()
})

function losingAnswers(idempotency: Idempotency): Idempotency {
  return {
    ...idempotency,
    async reserve(request, requestId) {
      const reservation = await idempotency.reserve(request, requestId)
      if (reservation.state !== 'run') return reservation
      const { end } = reservation
      const lose = async <T>(answer: T) => {
        await end.leaveOpen()
        return answer
      }
      return { ...reservation, end: { ...end, answer: lose } }
    },
  }
}

let keys = 0
const newKey = () => `key-${++keys}`

type Request = { url: string; body?: unknown }

function send({ url, body }: Request, key: string, ask: Ask = api.ask, token = tenant.token) {
  return ask('POST', url, { token, body, headers: { 'idempotency-key': key } })
}

const isReplay = ({ headers }: Answer) => headers['idempotent-replay']
/** The response without its request's own headers. */
const whole = ({ status, text, headers }: Answer) => ({ status, text, type: headers['content-type'] })

async function everyEvent(): Promise<number> {
  let count = 0
  for (let after: bigint | undefined; ; ) {
    const page = await api.ledger.ports.ledger.readPage(after, 1000)
    if (page.through === undefined) return count
    count += page.entries.length
    after = page.through
  }
}

const LicenseId = z.looseObject({ license: z.looseObject({ id: z.string() }), licenseKey: z.string() })
const minted = () => mint(api.ask, tenant.token, 'editor')
const onDevice = (license_key: string, device_id = 'laptop') => ({
  product_id: 'editor',
  license_key,
  device_id,
})
const seated = async () => {
  const license = await minted()
  await api.ask('POST', '/v1/licenses/activate', { token: tenant.token, body: onDevice(license.licenseKey) })
  return license
}

/** Every operation whose run takes its ids, keys and time from the reservation. */
const operations: [what: string, events: number, prepare: () => Promise<Request>][] = [
  [
    'a mint, which makes the customer with the address too',
    2,
    async () => ({
      url: '/v1/licenses',
      body: { productId: 'editor', email: `${newKey()}@example.com`, name: 'Ada', metadata: { order: '1' } },
    }),
  ],
  [
    'an import',
    5,
    async () => {
      const licenseKey = `imported with ${newKey()}`
      const rows = [
        { licenseKey, devices: [{ deviceId: 'a' }, { deviceId: 'b' }] },
        { licenseKey },
        { licenseKey: 'x' },
        { licenseKey: `${licenseKey} too`, status: 'revoked' },
        { licenseKey: (await minted()).licenseKey },
      ]
      return { url: '/v1/licenses/import', body: { productId: 'editor', licenses: rows } }
    },
  ],
  [
    'an activation',
    1,
    async () => ({ url: '/v1/licenses/activate', body: onDevice((await minted()).licenseKey) }),
  ],
  [
    'a deactivation',
    1,
    async () => ({ url: '/v1/licenses/deactivate', body: onDevice((await seated()).licenseKey) }),
  ],
  [
    'a remint',
    1,
    async () => ({ url: `/v1/licenses/${(await seated()).id}/remint`, body: { keepDevices: true } }),
  ],
  [
    'the creation of a product',
    2,
    async () => ({ url: '/v1/products', body: { name: `Made by ${newKey()}` } }),
  ],
  [
    'the addition of a key type',
    1,
    async () => ({ url: '/v1/products/editor/key-types', body: { name: `Made by ${newKey()}` } }),
  ],
  [
    'the removal of a device',
    1,
    async () => ({
      url: `/v1/licenses/${(await seated()).id}/deactivate-device`,
      body: { deviceId: 'laptop' },
    }),
  ],
]

describe.each(operations)('%s', (_, events, prepare) => {
  test('runs once when it is repeated, and gets the same bytes', async () => {
    const request = await prepare()
    const before = await everyEvent()
    const key = newKey()
    const first = await send(request, key)
    expect(first.status).toBeLessThan(300)
    expect(isReplay(first)).toBeUndefined()
    api.ledger.clock.advance(1000)
    for (let count = 0; count < 3; count++) {
      const again = await send(request, key)
      expect(whole(again)).toStrictEqual(whole(first))
      expect(isReplay(again)).toBe('true')
      expect(again.headers['request-id']).not.toBe(first.headers['request-id'])
    }
    expect(await everyEvent()).toBe(before + events)
  })

  test('is recorded once when its response was lost, and the repeat gets the same bytes', async () => {
    const request = await prepare()
    const before = await everyEvent()
    const key = newKey()
    const lost = await send(request, key, askOf(losing))
    expect(lost.status).toBeLessThan(300)
    expect(await everyEvent()).toBe(before + events)
    api.ledger.clock.advance(60_000)
    for (const expected of [undefined, undefined, 'true']) {
      const again = await send(request, key, expected === undefined ? askOf(losing) : api.ask)
      expect(whole(again)).toStrictEqual(whole(lost))
    }
    expect(isReplay(await send(request, key))).toBe('true')
    expect(await everyEvent()).toBe(before + events)
  })

  test('runs once when the first request failed before anything was recorded', async () => {
    const request = await prepare()
    const before = await everyEvent()
    const key = newKey()
    expect((await send(request, key, askOf(failing))).status).toBe(503)
    expect(await everyEvent()).toBe(before)
    const first = await send(request, key)
    expect(first.status).toBeLessThan(300)
    expect(whole(await send(request, key))).toStrictEqual(whole(first))
    expect(await everyEvent()).toBe(before + events)
  })

  test('runs once when 16 requests are concurrent, and all finally get the same response', async () => {
    const request = await prepare()
    const before = await everyEvent()
    const key = newKey()
    const settled = async (): Promise<Answer> => {
      const answer = await send(request, key)
      if (answer.status !== 409) return answer
      expect(answer.headers['retry-after']).toBe('1')
      await new Promise((resolve) => setTimeout(resolve, 20))
      return settled()
    }
    const answers = await Promise.all(Array.from({ length: 16 }, settled))
    expect(new Set(answers.map((answer) => JSON.stringify(whole(answer)))).size).toBe(1)
    expect(answers.filter((answer) => isReplay(answer) === undefined)).toHaveLength(1)
    expect(await everyEvent()).toBe(before + events)
  })
})

describe('a retried run', () => {
  test('returns the license of the first run, with its time and its key', async () => {
    const request = { url: '/v1/licenses', body: { productId: 'editor' } }
    const key = newKey()
    const at = api.ledger.clock.now().toISOString()
    await send(request, key, askOf(losing))
    api.ledger.clock.advance(3_600_000)
    const { body } = await send(request, key)
    const { license, licenseKey } = LicenseId.parse(body)
    expect(license).toMatchObject({ createdAt: at })
    const [event] = await eventsIn(api.ledger.ports.ledger, licenseStream(license.id))
    expect(event).toMatchObject({ event: { data: { keyHash: keyHashOf(licenseKey), at } } })
  })

  test("has the first request's id as correlation id in its events", async () => {
    const request = { url: '/v1/licenses', body: { productId: 'editor' } }
    const key = newKey()
    const first = await send(request, key, askOf(failing))
    const second = await send(request, key)
    const { license } = LicenseId.parse(second.body)
    const [event] = await eventsIn(api.ledger.ports.ledger, licenseStream(license.id))
    expect(event).toMatchObject({
      metadata: {
        requestId: second.headers['request-id'],
        causationId: second.headers['request-id'],
        correlationId: first.headers['request-id'],
      },
    })
  })

  test('does not undo later activations and deactivations of the device', async () => {
    const { id, licenseKey } = await minted()
    const [activate, deactivate] = [
      { url: '/v1/licenses/activate', body: onDevice(licenseKey) },
      { url: '/v1/licenses/deactivate', body: onDevice(licenseKey) },
    ]
    const [seating, removing] = [newKey(), newKey()]
    const lost = await send(activate, seating, askOf(losing))
    await send(deactivate, newKey())
    expect(whole(await send(activate, seating))).toStrictEqual(whole(lost))
    await send(activate, newKey())
    await send(deactivate, removing, askOf(losing))
    await send(activate, newKey())
    expect((await send(deactivate, removing)).body).toStrictEqual({ deactivated: true })
    const types = (await eventsIn(api.ledger.ports.ledger, licenseStream(id))).map((entry) =>
      entry.readable ? entry.event.type.replace('Device', '') : '',
    )
    expect(types).toStrictEqual([
      'LicenseMinted',
      'Activated',
      'Deactivated',
      'Activated',
      'Deactivated',
      'Activated',
    ])
  })

  test('returns the original key when the license was reminted meanwhile', async () => {
    const request = { url: '/v1/licenses', body: { productId: 'editor' } }
    const key = newKey()
    const lost = await send(request, key, askOf(losing))
    const { license } = LicenseId.parse(lost.body)
    await api.ask('POST', `/v1/licenses/${license.id}/remint`, { token: tenant.token })
    expect(whole(await send(request, key))).toStrictEqual(whole(lost))
  })
})
