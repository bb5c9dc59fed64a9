/**
 * Of several requests with one key, one runs at a time. A request that takes over from a dead process makes the
 * same things. A stored answer is kept for 24 hours and then deleted. Nothing of it can be read in the
 * database.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool } from '../../projections/database/pool.ts'
import { createIdempotency, type Idempotency, type Reservation } from '../../src/idempotency/idempotency.ts'
import type { KeyedRequest } from '../../src/idempotency/request.ts'
import { newMasterKey, parseMasterKey } from '../../src/vault/master-key.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'

const master = parseMasterKey(newMasterKey())
const day = 86_400_000
let database: TestDatabase
let db: Pool
let time: number
let idempotency: Idempotency
beforeAll(async () => {
  database = await createTestDatabase()
  await migrate(database.url)
  db = createPool(database.url)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})
beforeEach(() => {
  time = Date.parse('2026-03-01T12:00:00.000Z')
  idempotency = createIdempotency(db, master, () => new Date(time))
})

let keys = 0
const aRequest = (): KeyedRequest => ({
  tenantId: 'acme',
  tokenId: 'tok_1',
  route: 'POST /v1/licenses',
  key: `order-${++keys}`,
  params: {},
  query: {},
  body: { productId: 'editor' },
})
const reply = { status: 201, contentType: 'application/json; charset=utf-8', body: '{"licenseKey":"ACME-…"}' }
type Running = Extract<Reservation, { state: 'run' }>

async function running(request: KeyedRequest, requestId = 'req_1'): Promise<Running> {
  const reservation = await idempotency.reserve(request, requestId)
  if (reservation.state !== 'run') throw new Error(`it is ${reservation.state}`)
  return reservation
}
const stateOf = async (request: KeyedRequest) => (await idempotency.reserve(request, 'req_later')).state
/** Simulates a killed process: its lease is not renewed any more. */
async function die(request: Running) {
  const { rows } = await db.query<{ holder: string }>(
    `update vault.idempotency set leased_until = clock_timestamp() returning holder`,
  )
  expect(rows).not.toHaveLength(0)
  return request
}

describe('a request', () => {
  test('that is new runs, and its repetition is told that it is in progress', async () => {
    const request = aRequest()
    const { run, end } = await running(request)
    expect({ at: run.at, first: run.firstRequestId, resumed: run.resumed }).toStrictEqual({
      at: '2026-03-01T12:00:00.000Z',
      first: 'req_1',
      resumed: false,
    })
    expect(await stateOf(request)).toBe('in progress')
    await end.answer(reply)
  })

  test('that was answered always gets the same answer', async () => {
    const request = aRequest()
    const { end } = await running(request)
    expect(await end.answer(reply)).toStrictEqual(reply)
    for (let count = 0; count < 3; count++) {
      expect(await idempotency.reserve(request, 'req_2')).toStrictEqual({ state: 'answered', reply })
    }
  })

  test('with another body under the same key is a mismatch, before and after the answer and after a crash', async () => {
    const request = aRequest()
    const other = { ...request, body: { productId: 'player' } }
    const first = await running(request)
    expect(await stateOf(other)).toBe('mismatch')
    await die(first)
    expect(await stateOf(other)).toBe('mismatch')
    const { end } = await running(request)
    await end.answer(reply)
    expect(await stateOf(other)).toBe('mismatch')
  })

  test('sent many times at once runs once', async () => {
    const request = aRequest()
    const reservations = await Promise.all(
      Array.from({ length: 64 }, (_, n) => idempotency.reserve(request, `req_${n}`)),
    )
    const states = reservations.map(({ state }) => state)
    expect(states.filter((state) => state === 'run')).toHaveLength(1)
    expect(states.filter((state) => state === 'in progress')).toHaveLength(63)
    for (const reservation of reservations) if (reservation.state === 'run') await reservation.end.forget()
  })
})

describe('a run whose process died', () => {
  test('is taken over once, with the same seed and time', async () => {
    const request = aRequest()
    const first = await die(await running(request, 'req_first'))
    time += 5000
    const reservations = await Promise.all(
      Array.from({ length: 16 }, () => idempotency.reserve(request, 'req_second')),
    )
    const [second, ...more] = reservations.filter((reservation) => reservation.state === 'run')
    expect(more).toStrictEqual([])
    expect(second?.run).toMatchObject({ at: first.run.at, firstRequestId: 'req_first', resumed: true })
    expect(second?.run.newId('lic')).toBe(first.run.newId('lic'))
    expect(second?.run.randomBytes(25)).toStrictEqual(first.run.randomBytes(25))
    await second?.end.answer(reply)
  })

  test('but is still alive gets the stored answer, whichever of the two is first', async () => {
    const request = aRequest()
    const slow = await die(await running(request))
    const second = await running(request)
    expect(await second.end.answer(reply)).toStrictEqual(reply)
    const late = { ...reply, body: 'late' }
    expect(await slow.end.answer(late)).toStrictEqual(reply)
    expect(await idempotency.reserve(request, 'req_3')).toStrictEqual({ state: 'answered', reply })

    const again = aRequest()
    const first = await die(await running(again))
    const other = await running(again)
    expect(await first.end.answer(reply)).toStrictEqual(reply)
    expect(await other.end.answer(late)).toStrictEqual(reply)
  })

  test('does not affect its successor when it gives up late', async () => {
    const request = aRequest()
    const slow = await die(await running(request))
    const successor = await running(request)
    await slow.end.leaveOpen()
    expect(await stateOf(request)).toBe('in progress')
    await slow.end.forget()
    expect(await stateOf(request)).toBe('in progress')
    await successor.end.answer(reply)
    await slow.end.forget()
    expect(await stateOf(request)).toBe('answered')
  })
})

test('a long run keeps its lease', async () => {
  const leaseMs = 1500
  idempotency = createIdempotency(db, master, () => new Date(time), leaseMs)
  const request = aRequest()
  const { end } = await running(request)
  await sleep(leaseMs * 2.5)
  expect(await stateOf(request)).toBe('in progress')
  await end.answer(reply)
  expect(await stateOf(request)).toBe('answered')
})

test('an unfinished run is continued at once; a removed one starts anew', async () => {
  const request = aRequest()
  const first = await running(request)
  await first.end.leaveOpen()
  const second = await running(request)
  expect(second.run.resumed).toBe(true)
  await second.end.forget()
  const third = await running(request)
  expect(third.run.resumed).toBe(false)
  expect(third.run.newId('lic')).not.toBe(first.run.newId('lic'))
  await third.end.forget()
})

describe('after 24 hours', () => {
  test('an answer expires to the millisecond, and the key is free for any request', async () => {
    const request = aRequest()
    const { end } = await running(request)
    await end.answer(reply)
    time += day - 1
    expect(await stateOf(request)).toBe('answered')
    time += 1
    const other = await running({ ...request, body: { productId: 'player' } })
    expect(other.run).toMatchObject({ resumed: false, at: '2026-03-02T12:00:00.000Z' })
    await other.end.answer(reply)
    expect(await stateOf(request)).toBe('mismatch')
  })

  test('an unanswered run starts anew', async () => {
    const request = aRequest()
    const first = await die(await running(request))
    time += day
    const second = await running(request)
    expect(second.run.resumed).toBe(false)
    expect(second.run.newId('lic')).not.toBe(first.run.newId('lic'))
    // The earlier run cannot store its answer any more.
    expect(await first.end.answer({ ...reply, body: 'from another day' })).toMatchObject({
      body: 'from another day',
    })
    expect(await stateOf(request)).toBe('in progress')
    await second.end.answer(reply)
  })

  test('its row is deleted, and no other', async () => {
    await db.query('delete from vault.idempotency')
    const [old, young] = [aRequest(), aRequest()]
    await (await running(old)).end.answer(reply)
    time += 1000
    await (await running(young)).end.answer(reply)
    time += day - 1000
    expect(await idempotency.sweep()).toBe(1)
    expect(await idempotency.sweep()).toBe(0)
    const { rows } = await db.query<{ count: bigint }>('select count(*) from vault.idempotency')
    expect(rows).toStrictEqual([{ count: 1n }])
    expect(await stateOf(young)).toBe('answered')
  })
})

test('all expired rows are deleted, however many', async () => {
  await db.query('delete from vault.idempotency')
  await db.query(
    `insert into vault.idempotency (key_hash, tenant_id, request_hash, wrapped, run, holder, leased_until, expires_at)
     select int4send(n), 'acme', '', '', '', gen_random_uuid(), now(), '2026-03-01T11:00:00Z'
     from generate_series(1, 12001) as n`,
  )
  expect(await idempotency.sweep()).toBe(12_001)
})

describe('in the database', () => {
  test('neither the key, the request, the answer, nor anything the run makes can be read', async () => {
    const secret = `canary-${randomBytes(8).toString('hex')}`
    const request = { ...aRequest(), key: `key-${secret}`, body: { email: `${secret}@example.com` } }
    const { run, end } = await running(request, 'req_canary')
    await end.answer({ ...reply, body: JSON.stringify({ licenseKey: `ACME-${secret}` }) })
    const { rows } = await db.query<{ row: string; bytes: Buffer }>(
      `select to_json(k)::text as row,
         key_hash || request_hash || wrapped || run || coalesce(reply, '') as bytes from vault.idempotency k`,
    )
    for (const { row, bytes } of rows) {
      for (const word of [secret, 'licenseKey', 'req_canary', run.newId('lic'), run.at]) {
        expect(row).not.toContain(word)
        expect(bytes.includes(word)).toBe(false)
      }
    }
  })

  test('answers with an erased text are destroyed, and running requests store none', async () => {
    const [answered, other, under] = [aRequest(), aRequest(), aRequest()]
    const canary = { ...reply, body: '{"email":"Canary@example.com"}' }
    await (await running(answered)).end.answer(canary)
    await (await running(other)).end.answer(reply)
    const late = await running(under)
    expect(await idempotency.forgetAnswersWith('acme', ['canary@example.com'])).toBe(1)
    // Its own caller gets the answer, but no repetition does.
    expect(await late.end.answer(canary)).toStrictEqual(canary)
    await die(late)
    expect(await stateOf(other)).toBe('answered')
    for (const request of [answered, under]) {
      const again = await running(request)
      expect(again.run.resumed).toBe(true)
      if (request === under) expect(again.run.newId('lic')).toBe(late.run.newId('lic'))
      await again.end.answer(reply)
      expect(await stateOf(request)).toBe('answered')
    }
  })

  test('a row of another tenant or key cannot be opened', async () => {
    const [mine, theirs] = [aRequest(), { ...aRequest(), tenantId: 'other' }]
    await (await running(mine)).end.answer(reply)
    await (await running(theirs)).end.answer({ ...reply, body: 'theirs' })
    await db.query(
      `update vault.idempotency m set wrapped = t.wrapped, run = t.run, reply = t.reply
       from vault.idempotency t where m.tenant_id = 'acme' and t.tenant_id = 'other'`,
    )
    await expect(idempotency.reserve(mine, 'req_2')).rejects.toThrow()
  })

  test('nothing can be opened with another master key', async () => {
    const request = aRequest()
    await (await running(request)).end.answer(reply)
    const stranger = createIdempotency(db, parseMasterKey(newMasterKey()), () => new Date(time))
    // It cannot find the row either, so the request is new to it.
    const reservation = await stranger.reserve(request, 'req_2')
    expect(reservation.state).toBe('run')
    if (reservation.state === 'run') await reservation.end.forget()
  })
})
