/**
 * A POST that is sent again with its Idempotency-Key does nothing again and gets the same answer, byte for byte; also
 * when the first one broke off before its answer was kept.
 */
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { reinstateTenant, suspendTenant } from '../../src/commands/tenants.ts'
import { keyHashOf } from '../../src/credentials/license-key.ts'
import type { Idempotency } from '../../src/idempotency/idempotency.ts'
import { licenseStream } from '../../src/ledger/streams.ts'
import { LedgerUnavailable } from '../../src/ledger/unavailable.ts'
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
import { beginning, eventsIn, origin } from '../harness/ledger.ts'
import { makeProduct, mint } from './samples.ts'

let api: TestApi
let tenant: TestTenant
/** An application that loses every answer after it was given, as if it had been killed right then. */
let losing: FastifyInstance
/** An application whose event store does not answer. */
let failing: FastifyInstance
beforeAll(async () => {
  api = await openTestApi()
  const { services } = api.ledger
  losing = await createTestApp(api.ledger, { ...services, idempotency: losingAnswers(services.idempotency) })
  failing = await createTestApp(api.ledger, {
    ...services,
    handle: () => Promise.reject(new LedgerUnavailable('it does not answer')),
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
/** All of an answer but what belongs to the one request. */
const whole = ({ status, text, headers }: Answer) => ({ status, text, type: headers['content-type'] })

async function everyEvent(): Promise<number> {
  let count = 0
  for (let after: bigint | undefined; ; ) {
    const page = await api.ledger.services.ledger.readPage(after, 1000)
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

/** Every operation whose run takes its ids, keys and moment from the reservation. */
const operations: [what: string, events: number, prepare: () => Promise<Request>][] = [
  [
    'a mint',
    1,
    async () => ({
      url: '/v1/licenses',
      body: { productId: 'editor', email: 'ada@example.com', name: 'Ada', metadata: { order: '1' } },
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
    'the removal of a device',
    1,
    async () => ({
      url: `/v1/licenses/${(await seated()).id}/deactivate-device`,
      body: { deviceId: 'laptop' },
    }),
  ],
]

describe.each(operations)('%s', (_, events, prepare) => {
  test('that is sent again is not done again, and gets the same bytes', async () => {
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

  test('whose answer was lost is recorded once, and answered with the very bytes that were lost', async () => {
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

  test('that failed before anything was recorded runs when it is sent again, once', async () => {
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

  test('raced by many is done once, and all hear the same in the end', async () => {
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

describe('a run that begins again', () => {
  test('mints the license of the first moment, whose key is the one that was recorded', async () => {
    const request = { url: '/v1/licenses', body: { productId: 'editor' } }
    const key = newKey()
    const at = api.ledger.clock.now().toISOString()
    await send(request, key, askOf(losing))
    api.ledger.clock.advance(3_600_000)
    const { body } = await send(request, key)
    const { license, licenseKey } = LicenseId.parse(body)
    expect(license).toMatchObject({ createdAt: at })
    const [event] = await eventsIn(api.ledger.services.ledger, licenseStream(license.id))
    expect(event).toMatchObject({ event: { data: { keyHash: keyHashOf(licenseKey), at } } })
  })

  test('says in its events which request it began with', async () => {
    const request = { url: '/v1/licenses', body: { productId: 'editor' } }
    const key = newKey()
    const first = await send(request, key, askOf(failing))
    const second = await send(request, key)
    const { license } = LicenseId.parse(second.body)
    const [event] = await eventsIn(api.ledger.services.ledger, licenseStream(license.id))
    expect(event).toMatchObject({
      metadata: {
        requestId: second.headers['request-id'],
        causationId: second.headers['request-id'],
        correlationId: first.headers['request-id'],
      },
    })
  })

  test('does not seat a device again that others have removed since, nor remove one that others have seated', async () => {
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
    const types = (await eventsIn(api.ledger.services.ledger, licenseStream(id))).map((entry) =>
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

  test('mints no license anew that was revoked meanwhile, and still tells its key', async () => {
    const request = { url: '/v1/licenses', body: { productId: 'editor' } }
    const key = newKey()
    const lost = await send(request, key, askOf(losing))
    const { license } = LicenseId.parse(lost.body)
    await api.ask('POST', `/v1/licenses/${license.id}/remint`, { token: tenant.token })
    expect(whole(await send(request, key))).toStrictEqual(whole(lost))
  })
})

describe('a refusal', () => {
  test('by the rules is remembered as well, whatever changes', async () => {
    const own = await makeTenant(api.ledger)
    const request = { url: '/v1/licenses', body: { productId: 'later' } }
    const key = newKey()
    const first = await send(request, key, api.ask, own.token)
    expect(first).toMatchObject({ status: 404, body: { error: 'product not found' } })
    await makeProduct(api.ask, own.token, 'later')
    const again = await send(request, key, api.ask, own.token)
    expect(whole(again)).toStrictEqual(whole(first))
    expect(isReplay(again)).toBe('true')
    expect((await send(request, newKey(), api.ask, own.token)).status).toBe(201)
  })

  test('of a malformed request is not: nothing ran', async () => {
    const key = newKey()
    expect((await send({ url: '/v1/licenses', body: { productId: 7 } }, key)).status).toBe(400)
    expect((await send({ url: '/v1/licenses', body: { productId: 'editor' } }, key)).status).toBe(201)
  })

  test('of a token or a tenant is not, and comes before every other', async () => {
    const own = await makeTenant(api.ledger)
    await makeProduct(api.ask, own.token, 'editor')
    const request = { url: '/v1/licenses', body: { productId: 'editor' } }
    const key = newKey()
    await suspendTenant(api.ledger.services, own.tenantId, null, origin)
    expect((await send(request, key, api.ask, own.token)).status).toBe(403)
    await reinstateTenant(api.ledger.services, own.tenantId, origin)
    const first = await send(request, key, api.ask, own.token)
    expect(first.status).toBe(201)
    await suspendTenant(api.ledger.services, own.tenantId, null, origin)
    expect((await send(request, key, api.ask, own.token)).status).toBe(403)
    await reinstateTenant(api.ledger.services, own.tenantId, origin)
    expect(whole(await send(request, key, api.ask, own.token))).toStrictEqual(whole(first))
    expect((await send(request, 'not a key', api.ask, 'kl_pat_none')).status).toBe(401)
    const reader = await own.tokenWith('licenses:read')
    expect((await send(request, 'not a key', api.ask, reader)).status).toBe(403)
  })
})

describe('another request under the same key', () => {
  const mismatch = 'this Idempotency-Key was used for another request; choose a new one for each request'

  test('is refused on the management interface', async () => {
    const key = newKey()
    await send({ url: '/v1/licenses', body: { productId: 'editor' } }, key)
    const other = { url: '/v1/licenses', body: { productId: 'editor', quantity: 1 } }
    expect(await send(other, key)).toMatchObject({ status: 422, body: { error: mismatch } })
    const body = { quantity: 1, productId: 'editor' }
    const otherKey = newKey()
    const first = await send({ url: '/v1/licenses', body }, otherKey)
    const raw = '{"productId" : "editor",\n "quantity": 1.0}'
    const again = await api.ask('POST', '/v1/licenses', {
      token: tenant.token,
      raw,
      headers: { 'idempotency-key': otherKey },
    })
    expect(whole(again)).toStrictEqual(whole(first))
  })

  test('is refused with its code on the runtime interface', async () => {
    const { licenseKey } = await minted()
    const key = newKey()
    await send({ url: '/v1/licenses/activate', body: onDevice(licenseKey, 'one') }, key)
    const other = await send({ url: '/v1/licenses/activate', body: onDevice(licenseKey, 'two') }, key)
    expect(other).toMatchObject({
      status: 422,
      body: { error: { code: 'idempotency_mismatch', message: mismatch } },
    })
    // What the runtime interface passes over is part of the request all the same.
    const more = { ...onDevice(licenseKey, 'one'), sdk: '1.0' }
    expect((await send({ url: '/v1/licenses/activate', body: more }, key)).status).toBe(422)
  })

  test('on another license is another request', async () => {
    const [one, other] = [await minted(), await minted()]
    const key = newKey()
    expect((await send({ url: `/v1/licenses/${one.id}/remint` }, key)).status).toBe(200)
    expect(await send({ url: `/v1/licenses/${other.id}/remint` }, key)).toMatchObject({ status: 422 })
  })

  test('of another operation, token or tenant is its own', async () => {
    const key = newKey()
    const { licenseKey } = await minted()
    const body = onDevice(licenseKey)
    expect((await send({ url: '/v1/licenses/activate', body }, key)).body).toMatchObject({ activated: true })
    expect((await send({ url: '/v1/licenses/deactivate', body }, key)).body).toStrictEqual({
      deactivated: true,
    })
    const token = await tenant.tokenWith('licenses:runtime')
    const answer = await send({ url: '/v1/licenses/activate', body }, key, api.ask, token)
    expect(isReplay(answer)).toBeUndefined()
    expect(answer.body).toMatchObject({ activated: true })
  })
})

test('a request meanwhile hears that the first is running, with the code of its interface', async () => {
  const { licenseKey } = await minted()
  const waiting = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const { services } = api.ledger
  const slow = await createTestApp(api.ledger, {
    ...services,
    handle: async (command) => {
      arrived.resolve()
      await waiting.promise
      return services.handle(command)
    },
  })
  const message = 'the first request with this Idempotency-Key is still running; send it again in a second'
  const cases: [Request, unknown][] = [
    [
      { url: '/v1/licenses/activate', body: onDevice(licenseKey) },
      { code: 'idempotency_in_progress', message },
    ],
    [{ url: '/v1/licenses', body: { productId: 'editor' } }, message],
  ]
  const key = newKey()
  const running = cases.map(([request]) => send(request, key, askOf(slow)))
  await arrived.promise
  for (const [request, error] of cases) {
    const answer = await send(request, key)
    expect(answer).toMatchObject({ status: 409, body: { error } })
    expect(answer.headers['retry-after']).toBe('1')
  }
  waiting.resolve()
  const firsts = await Promise.all(running)
  for (const [index, [request]] of cases.entries()) {
    const answer = await send(request, key)
    expect(whole(answer)).toStrictEqual(whole(firsts[index] ?? answer))
    expect(isReplay(answer)).toBe('true')
  }
  await slow.close()
})

test.each(['', ' ', 'a b', 'x'.repeat(256), 'é', 'a\tb'])('a key like %j is malformed', async (key) => {
  const body = { productId: 'editor' }
  const error = 'headers Idempotency-Key: must be 1 to 255 visible ASCII characters, once'
  expect(await send({ url: '/v1/licenses', body }, key)).toMatchObject({ status: 400, body: { error } })
  expect(await send({ url: '/v1/licenses/activate', body: onDevice('A') }, key)).toMatchObject({
    status: 400,
    body: { error: { code: 'invalid_request', message: error } },
  })
})

test('a body without a canonical form is malformed, and not a failure', async () => {
  const deep = `{"product_id":"editor","license_key":"A","device_id":"d","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  for (const raw of [deep, '{"product_id":"editor","license_key":"A","device_id":"d","x":"\\ud800"}']) {
    const headers = { 'idempotency-key': newKey() }
    const answer = await api.ask('POST', '/v1/licenses/activate', { token: tenant.token, raw, headers })
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } })
    // Without the header nobody looks at it.
    expect(await api.ask('POST', '/v1/licenses/activate', { token: tenant.token, raw })).toMatchObject({
      status: 200,
    })
  }
})

test('a validate passes the header over, since it must see the present', async () => {
  const { id, licenseKey } = await seated()
  const request = { url: '/v1/licenses/validate', body: onDevice(licenseKey) }
  const key = newKey()
  expect((await send(request, key)).body).toMatchObject({ valid: true })
  await api.ask('POST', `/v1/licenses/${id}/remint`, { token: tenant.token })
  const again = await send(request, key)
  expect(again.body).toMatchObject({ valid: false, status: 'reminted' })
  expect(isReplay(again)).toBeUndefined()
})

test('any other POST takes it too', async () => {
  const key = newKey()
  const request = { url: '/v1/products', body: { name: 'Keyed' } }
  const first = await send(request, key)
  expect(first.status).toBe(201)
  const again = await send(request, key)
  expect(whole(again)).toStrictEqual(whole(first))
  expect(isReplay(again)).toBe('true')
})

test('after 24 hours a key is forgotten: the same request runs anew', async () => {
  const request = { url: '/v1/licenses', body: { productId: 'editor' } }
  const key = newKey()
  const first = await send(request, key)
  api.ledger.clock.advance(86_400_000 - 1)
  expect(whole(await send(request, key))).toStrictEqual(whole(first))
  api.ledger.clock.advance(1)
  const anew = await send(request, key)
  expect(anew.status).toBe(201)
  expect(isReplay(anew)).toBeUndefined()
  expect(LicenseId.parse(anew.body).licenseKey).not.toBe(LicenseId.parse(first.body).licenseKey)
  api.ledger.clock.set(beginning)
})

test('a request without the header leaves nothing behind', async () => {
  const count = async () => {
    const { rows } = await api.ledger.db.query<{ count: bigint }>('select count(*) from vault.idempotency')
    return rows[0]?.count
  }
  const before = await count()
  const { id } = await seated()
  await api.ask('POST', `/v1/licenses/${id}/remint`, { token: tenant.token })
  expect(await count()).toBe(before)
})
