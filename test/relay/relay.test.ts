/**
 * Guarantee: what a relay gives out is durable and within its certificate, whatever its clock, its disk and other commands do; and
 * what it reports to the vendor shows a copied relay.
 */
import { cpSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Problem } from '../../src/http/problem.ts'
import { activate, deactivate, heartbeat, settingsOf, validate } from '../../src/relay/calls.ts'
import { makeRelease } from '../../src/relay/requests.ts'
import { faultInChain } from '../../src/relay/store/changes.ts'
import { fileIn, StoreFailed } from '../../src/relay/store/database.ts'
import { verifyToken } from '../../src/signing/paseto.ts'
import { accept, activation, enrolled, newDirectory, onFiles, openedRelay, renewalRequest } from './relay.ts'
import { productId, tenantId } from './vendor.ts'

const Seated = z.looseObject({
  instance_id: z.string(),
  lease2: z.string(),
  seat: z.object({ id: z.string(), fence: z.int(), ends_at: z.int() }),
})

const minute = 60_000
const day = 24 * 60 * minute

/** What a call is refused with. */
function refusal(call: () => unknown): { status: number; message: string; details: object } {
  try {
    call()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { status, message, details } = error
    return { status, message, details }
  }
  throw new Error('the call was not refused')
}

test('its lease is signed by its key, its key by the certificate, and that by the vendor', async () => {
  const { vendor, directory, time } = await enrolled()
  const served = openedRelay(directory, time.clocks)
  const { lease2, instance_id, seat } = Seated.parse(activate(served, activation(vendor, 'a')))
  const [, , , footer = ''] = lease2.split('.')
  const { relay: certificate } = z
    .object({ relay: z.string() })
    .parse(JSON.parse(Buffer.from(footer, 'base64url').toString()))
  const certified = verifyToken(
    certificate,
    `keyledger:relay1:${tenantId}:${productId}`,
    () => vendor.publicKey,
  )
  const { pk, exp } = z.looseObject({ pk: z.string(), exp: z.string() }).parse(certified?.message)
  const lease = verifyToken(lease2, `keyledger:lease2:${tenantId}:${productId}`, () =>
    Buffer.from(pk, 'base64url'),
  )
  expect(lease?.message).toStrictEqual({
    iat: '2026-11-27T10:00:00Z',
    nbf: '2026-11-26T10:00:00Z',
    exp: '2026-11-27T10:10:00Z',
    serial: expect.any(Number) as number,
    license_id: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc',
    license_key_hash: vendor.keyHash,
    instance_id,
    device: { machine_hash: activation(vendor, 'a').machine_hash, components: {} },
    status: 'active',
    entitlements: { export: true, projects: 50 },
    license_expires_at: null,
  })
  expect(seat).toStrictEqual({ id: instance_id, fence: 1, ends_at: time.real / 1000 + 600 })
  expect(Date.parse(exp)).toBeGreaterThan(time.real)
})

test('nothing that a device is recognized by can be read in its files', async () => {
  const { vendor, directory, time } = await enrolled()
  const served = openedRelay(directory, time.clocks)
  const body = activation(vendor, 'a', { device: { disk: 'bm90IHRoZSBzYW1lIGRpc2s=' } })
  activate(served, body)
  const database = new DatabaseSync(fileIn(directory))
  const [row] = database.prepare('select seat from seats').all()
  database.close()
  expect(String(row?.seat)).toContain('"name":"a"')
  expect(String(row?.seat)).not.toContain(body.machine_hash)
  expect(String(row?.seat)).not.toContain('bm90IHRo')
  for (const name of ['relay.key', 'relay.sqlite', 'relay.sqlite-wal'])
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600)
})

test('a lease of version 1, another key, an unknown instance and an old fence are refused as by a server', async () => {
  const { vendor, directory, time } = await enrolled()
  const served = openedRelay(directory, time.clocks)
  const body = activation(vendor, 'a')
  expect(refusal(() => activate(served, { ...body, lease_version: 1 }))).toMatchObject({ status: 400 })
  const other = { ...body, license_key: 'ANOTHER-KEY-OF-SOMEONE' }
  expect(refusal(() => activate(served, other))).toStrictEqual({
    status: 404,
    message: 'license not found',
    details: { reason: 'not_found' },
  })
  expect(refusal(() => activate(served, { ...body, borrow_seconds: 86_400 })).details).toStrictEqual({
    reason: 'borrowing_off',
  })
  const { license_key } = body
  expect(refusal(() => heartbeat(served, { license_key, instance_id: 'ins_x' }))).toMatchObject({
    status: 422,
    details: { reason: 'inactive' },
  })
  expect(refusal(() => deactivate(served, { license_key, instance_id: 'ins_x' })).status).toBe(404)
  const { instance_id } = Seated.parse(activate(served, body))
  expect(refusal(() => heartbeat(served, { license_key, instance_id, fence: 2 }))).toMatchObject({
    status: 422,
    details: { reason: 'seat_lost' },
  })
  expect(refusal(() => deactivate(served, { license_key, instance_id, fence: 2 })).status).toBe(422)
  expect(deactivate(served, { license_key, instance_id, fence: 1 })).toStrictEqual({ deactivated: true })
  expect(deactivate(served, { license_key, instance_id, fence: 1 })).toStrictEqual({ deactivated: true })
  expect(refusal(() => validate(served, { license_key, instance_id, lease_version: 2 }))).toMatchObject({
    status: 422,
    details: { reason: 'seat_lost' },
  })
})

test('a seat is of the user where the certificate says so', async () => {
  const { vendor, directory, time } = await enrolled({ scope: 'user', seats: 1 })
  const served = openedRelay(directory, time.clocks)
  expect(refusal(() => activate(served, activation(vendor, 'a'))).message).toContain('send `user_id`')
  const ada = { user_id: 'ada@example.com' }
  const first = Seated.parse(activate(served, activation(vendor, 'a', ada)))
  expect(Seated.parse(activate(served, activation(vendor, 'b', ada))).instance_id).toBe(first.instance_id)
  expect(refusal(() => activate(served, activation(vendor, 'c', { user_id: 'eve' }))).status).toBe(422)
})

test('a device that finds no seat is told how many wait: each once, until it is to come again or has a seat', async () => {
  const { vendor, directory, time } = await enrolled({ seats: 1 })
  const served = openedRelay(directory, time.clocks)
  const license_key = vendor.licenseKey
  const { instance_id } = Seated.parse(activate(served, activation(vendor, 'a')))
  const waiting = (name: string) =>
    z
      .looseObject({ waiting: z.int() })
      .parse(refusal(() => activate(served, activation(vendor, name))).details).waiting
  expect(['b', 'c', 'b'].map(waiting)).toStrictEqual([1, 2, 2])
  deactivate(served, { license_key, instance_id })
  const next = Seated.parse(activate(served, activation(vendor, 'b')))
  expect(waiting('d')).toBe(2)
  // Half of a period: the answer says to come again no later.
  time.pass(5 * minute)
  heartbeat(served, { license_key, instance_id: next.instance_id })
  expect(waiting('e')).toBe(1)
})

test('a clock that is set by a day frees no seat early, and revives none', async () => {
  const { vendor, directory, time } = await enrolled({ seats: 1 })
  const served = openedRelay(directory, time.clocks)
  const license_key = vendor.licenseKey
  const { instance_id } = Seated.parse(activate(served, activation(vendor, 'a')))
  time.set(day)
  served.relay.tick()
  time.pass(9 * minute)
  expect(refusal(() => activate(served, activation(vendor, 'b'))).details).toStrictEqual({
    reason: 'seat_limit_reached',
    retry_after: 60,
    waiting: 1,
  })
  const kept = z
    .looseObject({ seat: z.looseObject({ ends_at: z.int() }) })
    .parse(heartbeat(served, { license_key, instance_id }))
  expect(kept.seat.ends_at).toBe(time.real / 1000 + 600)
  time.pass(10 * minute)
  time.set(-2 * day)
  expect(refusal(() => heartbeat(served, { license_key, instance_id })).details).toStrictEqual({
    reason: 'seat_lost',
  })
  expect(Seated.parse(activate(served, activation(vendor, 'b'))).seat.fence).toBe(2)
  expect(served.relay.use()).toStrictEqual({ inUse: 1, seats: 1 })
})

test('after a restart each seat lasts for one period, whatever the clock says', async () => {
  for (const shift of [-day, 0, day]) {
    const { vendor, directory, time } = await enrolled({ seats: 1 })
    const before = openedRelay(directory, time.clocks)
    const { instance_id } = Seated.parse(activate(before, activation(vendor, 'a')))
    time.pass(9 * minute)
    before.relay.tick()
    before.database.close()
    time.restart()
    time.set(shift)
    const served = openedRelay(directory, time.clocks)
    time.pass(9 * minute)
    expect(refusal(() => activate(served, activation(vendor, 'b'))).status).toBe(422)
    heartbeat(served, { license_key: vendor.licenseKey, instance_id, fence: 1 })
    time.pass(10 * minute)
    expect(Seated.parse(activate(served, activation(vendor, 'b'))).seat.fence).toBe(2)
  }
})

test('when its certificate is over it gives and keeps no seats, also with a clock that was set back', async () => {
  const { vendor, directory, time } = await enrolled({ seconds: 3600 })
  const served = openedRelay(directory, time.clocks)
  const { instance_id, seat } = Seated.parse(activate(served, activation(vendor, 'a')))
  expect(seat.ends_at).toBe(time.real / 1000 + 600)
  time.pass(55 * minute)
  const late = Seated.parse(activate(served, activation(vendor, 'b')))
  expect(late.seat.ends_at).toBe(time.real / 1000 + 300)
  time.pass(5 * minute)
  time.set(-day)
  const call = { license_key: vendor.licenseKey, instance_id, lease_version: 2 as const }
  for (const refused of [
    () => activate(served, activation(vendor, 'a')),
    () => validate(served, call),
    () => heartbeat(served, call),
  ]) {
    expect(refusal(refused)).toMatchObject({
      status: 403,
      message: expect.stringContaining('ended at 2026-11-27T11:00:00Z') as string,
    })
  }
  served.relay.tick()
  served.database.close()
  time.restart()
  const again = openedRelay(directory, time.clocks)
  expect(again.relay.standing().kind).toBe('over')
  const answer = vendor.answer(renewalRequest(directory, time.clocks), { now: time.real / 1000 })
  accept(directory, answer, time.clocks)
  again.relay.tick()
  expect(again.relay.standing().kind).toBe('serving')
})

test('a clock that was a day ahead at the start is corrected by the next answer', async () => {
  const { vendor, directory, time } = await enrolled({ seconds: 3 * 86_400 })
  time.set(day)
  const served = openedRelay(directory, time.clocks)
  served.relay.tick()
  expect(served.relay.clock.now()).toBe(time.real + day)
  time.set(-day)
  time.pass(30_000)
  served.relay.tick()
  const request = renewalRequest(directory, time.clocks)
  time.pass(5000)
  accept(directory, vendor.answer(request, { now: time.real / 1000 }), time.clocks)
  served.relay.tick()
  expect(Math.abs(served.relay.clock.now() - time.real)).toBeLessThan(40_000)
})

test('settings are answered as they were signed until they are over', async () => {
  const { directory, time } = await enrolled()
  const served = openedRelay(directory, time.clocks)
  expect(settingsOf(served)).toMatchObject({ free_tier_enabled: true, trial_duration_days: 14 })
  time.pass(day)
  expect(settingsOf(served)).toStrictEqual({ free_tier_enabled: true })
})

test('a full disk refuses what cannot be written, and keeps the seats that there are', async () => {
  const { vendor, directory, time } = await enrolled({ seats: 500 })
  const pages = onFiles(directory, time.clocks, ({ database }) =>
    database.read((file) => z.object({ page_count: z.int() }).parse(file.prepare('pragma page_count').get())),
  )
  const served = openedRelay(directory, time.clocks, pages.page_count + 3)
  let taken = 0
  const fill = () => {
    for (; taken < 500; taken++) activate(served, activation(vendor, `d${String(taken)}`))
  }
  expect(fill).toThrow(StoreFailed)
  expect(taken).toBeGreaterThan(0)
  expect(served.relay.use().inUse).toBe(taken)
  const [held] = served.relay.seats()
  const call = { license_key: vendor.licenseKey, instance_id: held?.seat.instanceId ?? '' }
  expect(heartbeat(served, call)).toMatchObject({ kept: true })
  served.database.close()
  const again = openedRelay(directory, time.clocks)
  expect(again.relay.use().inUse).toBe(taken)
  activate(again, activation(vendor, 'more'))
  expect(again.relay.use().inUse).toBe(taken + 1)
  expect(again.database.read(faultInChain)).toBeUndefined()
})

test('a file that is locked or damaged refuses, and a locked one recovers by itself', async () => {
  const { vendor, directory, time } = await enrolled()
  const served = openedRelay(directory, time.clocks)
  const other = new DatabaseSync(fileIn(directory))
  other.exec('begin immediate')
  expect(() => activate(served, activation(vendor, 'a'))).toThrow(StoreFailed)
  expect(served.relay.use().inUse).toBe(0)
  other.exec('rollback')
  other.close()
  activate(served, activation(vendor, 'a'))
  expect(served.relay.use().inUse).toBe(1)
})

test('a changed or missing entry of the chain shows', async () => {
  const { vendor, directory, time } = await enrolled()
  const served = openedRelay(directory, time.clocks)
  for (const name of ['a', 'b']) activate(served, activation(vendor, name))
  const fault = () => served.database.read(faultInChain)
  expect(fault()).toBeUndefined()
  const file = new DatabaseSync(fileIn(directory))
  file.exec(`update entries set entry = replace(entry, '"a"', '"x"') where number = 1`)
  expect(fault()).toBe('entry 1 was changed')
  file.exec(`update entries set entry = replace(entry, '"x"', '"a"') where number = 1`)
  expect(fault()).toBeUndefined()
  file.exec('delete from entries where number = 2')
  expect(fault()).toBe('the last entries are missing')
  file.close()
})

test('a renewal reports what happened once, also when an answer was lost', async () => {
  const { vendor, directory, time } = await enrolled()
  const served = openedRelay(directory, time.clocks)
  const first = Math.floor(time.real / minute)
  for (const name of ['a', 'b']) activate(served, activation(vendor, name))
  refusal(() => activate(served, activation(vendor, 'c')))
  served.relay.tick()
  time.pass(minute)
  const lost = renewalRequest(directory, time.clocks)
  expect(vendor.readRequest(lost)).toMatchObject({
    relay_id: 'rel_06f5w3k8hx7vq2m4n9t1r0s5zc',
    minutes: [[first, 2, 2, 1]],
  })
  vendor.answer(lost, { now: time.real / 1000 })
  deactivate(served, {
    license_key: vendor.licenseKey,
    instance_id: served.relay.seats()[0]?.seat.instanceId ?? '',
  })
  time.pass(minute)
  const next = renewalRequest(directory, time.clocks)
  expect(vendor.readRequest(next).minutes).toStrictEqual([
    [first, 2, 2, 1],
    [first + 1, 2, 0, 0],
  ])
  expect(vendor.readRequest(next).heads.map(({ length }) => length)).toStrictEqual([0, 2, 3])
  const answer = vendor.answer(next, { now: time.real / 1000 })
  accept(directory, answer, time.clocks)
  accept(directory, answer, time.clocks)
  time.pass(minute)
  const third = vendor.readRequest(renewalRequest(directory, time.clocks))
  expect(third.minutes).toStrictEqual([])
  const counters = [lost, next].map((text) => vendor.readRequest(text).counter)
  expect(counters[0]).toBeLessThan(counters[1] ?? 0)
  expect(counters[1]).toBeLessThan(third.counter)
  expect(third.heads.map(({ length }) => length)).toStrictEqual([3])
})

test('an answer to an older request or to another relay is refused', async () => {
  const { vendor, directory, time } = await enrolled()
  const old = renewalRequest(directory, time.clocks)
  const oldAnswer = vendor.answer(old, { now: time.real / 1000 })
  const next = renewalRequest(directory, time.clocks)
  accept(directory, vendor.answer(next, { now: time.real / 1000 }), time.clocks)
  expect(() => {
    accept(directory, oldAnswer, time.clocks)
  }).toThrow('older request')
  const stranger = await enrolled({}, time)
  expect(() => {
    accept(directory, stranger.vendor.answer(stranger.request, {}), time.clocks)
  }).toThrow('another relay')
  const changed = vendor
    .answer(renewalRequest(directory, time.clocks))
    .replace('"v4.public.e', '"v4.public.f')
  expect(() => {
    accept(directory, changed, time.clocks)
  }).toThrow('not signed by the vendor')
})

test('two copies of a relay show themselves at the renewal', async () => {
  const { vendor, directory, time } = await enrolled({ seats: 1 })
  const copy = newDirectory()
  cpSync(directory, copy, { recursive: true })
  const served = openedRelay(directory, time.clocks)
  activate(served, activation(vendor, 'a'))
  const copied = openedRelay(copy, time.clocks)
  activate(copied, activation(vendor, 'b'))
  vendor.answer(renewalRequest(directory, time.clocks), { now: time.real / 1000 })
  expect(() => vendor.answer(renewalRequest(copy, time.clocks))).toThrow('the relay was copied')
})

test('a request for fewer seats counts before it is answered, and is refused while more are in use', async () => {
  const { vendor, directory, time } = await enrolled({ seats: 3 })
  const served = openedRelay(directory, time.clocks)
  for (const name of ['a', 'b']) activate(served, activation(vendor, name))
  expect(() => renewalRequest(directory, time.clocks, 1)).toThrow('Seats in use: 2')
  renewalRequest(directory, time.clocks, 2)
  expect(refusal(() => activate(served, activation(vendor, 'c'))).status).toBe(422)
  const more = renewalRequest(directory, time.clocks, 4)
  accept(directory, vendor.answer(more, { now: time.real / 1000 }), time.clocks)
  served.relay.tick()
  activate(served, activation(vendor, 'c'))
  expect(served.relay.use()).toStrictEqual({ inUse: 3, seats: 4 })
})

test('a relay that gave its seats back takes no seat from that moment on', async () => {
  const { vendor, directory, time } = await enrolled({ seats: 1 })
  const served = openedRelay(directory, time.clocks)
  const { instance_id } = Seated.parse(activate(served, activation(vendor, 'a')))
  const release = () =>
    onFiles(directory, time.clocks, ({ database, key, clock }) => makeRelease(database, key, clock))
  expect(release).toThrow('Seats in use: 1')
  deactivate(served, { license_key: vendor.licenseKey, instance_id })
  expect(vendor.readRelease(release())).toMatchObject({
    relay_id: 'rel_06f5w3k8hx7vq2m4n9t1r0s5zc',
    heads: [{ length: 0 }, { length: 2 }],
    minutes: [[Math.floor(time.real / minute), 1, 1, 0]],
  })
  expect(refusal(() => activate(served, activation(vendor, 'a'))).status).toBe(422)
  served.relay.tick()
  expect(refusal(() => activate(served, activation(vendor, 'a'))).status).toBe(403)
})
