import fc from 'fast-check'
import { expect } from 'vitest'
import { z } from 'zod'
import { revokeLicense } from '../../src/commands/licenses/licenses.ts'
import { type Undo, undo } from '../../src/commands/licenses/undo.ts'
import { changeKeyType } from '../../src/commands/products.ts'
import { newId } from '../../src/credentials/id.ts'
import { givesSeats, statusAt } from '../../src/domain/licenses/status.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { isSeating, type RuntimeStatus } from '../../src/verdicts/answer.ts'
import type { Answer, Ask } from '../harness/api.ts'
import { commandLicense, origin } from '../harness/ledger.ts'
import { importRows, mint } from '../http/samples.ts'
import {
  expectAgreement,
  history,
  isKeyOf,
  type Model,
  type ModelLicense,
  picked,
  productId,
  type World,
} from './world.ts'

type Step = fc.AsyncCommand<Model, World>

/** @param run returns the index of the license to check afterwards */
const step = (name: string, run: (model: Model, real: World) => Promise<number>): Step => ({
  check: () => true,
  run: async (model, real) => expectAgreement(model, real, await run(model, real)),
  toString: () => name,
})

const day = 86_400_000
const keyTypes = ['perpetual', 'hard', 'soft'] as const
const nowIn = (real: World) => real.api.ledger.clock.now().toISOString()
const inDays = (real: World, days: number) =>
  new Date(real.api.ledger.clock.now().getTime() + days * day).toISOString()

const termsOf = (keyTypeId: string, real: World): Pick<ModelLicense, 'expiresAt' | 'onExpiry'> => ({
  expiresAt: keyTypeId === 'perpetual' ? null : inDays(real, 10),
  onExpiry: keyTypeId === 'soft' ? 'fallback' : 'expire',
})

const Reminted = z.looseObject({ licenseKey: z.string() })

function calls(ask: Ask, { tenant, licenses }: World, index: number) {
  const { id, key } = picked(licenses, index)
  const post = (path: string, body: object) =>
    ask('POST', `/v1/licenses/${path}`, { token: tenant.token, body })
  const runtime = (call: string, device: string, license_key = key) =>
    post(call, { product_id: productId, license_key, device_id: device })
  return {
    activate: (device: string, oldKey?: string) => runtime('activate', device, oldKey),
    deactivate: (device: string, oldKey?: string) => runtime('deactivate', device, oldKey),
    remove: (deviceId: string) => post(`${id}/deactivate-device`, { deviceId }),
    remint: (keepDevices: boolean) => post(`${id}/remint`, { keepDevices }),
  }
}

/** The expected status of an activation. */
function seated(license: ModelLicense, device: string, now: string): RuntimeStatus {
  const status = statusAt({ ...license, suspendedAt: null, graceSeconds: null }, now)
  if (status === 'suspended') throw new Error('no step suspends a license')
  if (!givesSeats(status) || license.seats.has(device)) return status
  return license.limit !== null && license.seats.size >= license.limit ? 'seat_limit_reached' : status
}

export async function mintOne(model: Model, real: World, keyTypeId: string): Promise<number> {
  const { id, licenseKey } = await mint(real.api.ask, real.tenant.token, productId, { keyTypeId })
  real.licenses.push({ id, key: licenseKey, oldKeys: [] })
  model.licenses.push({
    limit: model.keyTypeLimit,
    ...termsOf(keyTypeId, real),
    revokedAt: null,
    seats: new Set(),
  })
  return model.licenses.length - 1
}

const activate = (index: number, device: string) =>
  step(`activate ${device} on ${index}`, async (model, real) => {
    const license = picked(model.licenses, index)
    const status = seated(license, device, nowIn(real))
    const { body } = await calls(real.api.ask, real, index).activate(device)
    const activated = isSeating(status)
    expect(body).toMatchObject({ activated, status, device_id: device })
    if (activated) license.seats.add(device)
    return index
  })

const deactivate = (index: number, device: string) =>
  step(`deactivate ${device} on ${index}`, async (model, real) => {
    const { body } = await calls(real.api.ask, real, index).deactivate(device)
    expect(body).toStrictEqual({ deactivated: true })
    picked(model.licenses, index).seats.delete(device)
    return index
  })

const withOldKey = (index: number, device: string) =>
  step(`activate and deactivate ${device} on ${index} with an old key`, async (_, real) => {
    const [old] = picked(real.licenses, index).oldKeys
    if (old === undefined) return index
    const { activate, deactivate } = calls(real.api.ask, real, index)
    expect((await activate(device, old)).body).toMatchObject({ activated: false, status: 'reminted' })
    expect((await deactivate(device, old)).body).toStrictEqual({ deactivated: false, reason: 'reminted' })
    return index
  })

const remove = (index: number, device: string) =>
  step(`the vendor frees the seat of ${device} on ${index}`, async (model, real) => {
    await calls(real.api.ask, real, index).remove(device)
    picked(model.licenses, index).seats.delete(device)
    return index
  })

const remint = (index: number, keepDevices: boolean) =>
  step(`remint ${index}, ${keepDevices ? 'keeping' : 'freeing'} its devices`, async (model, real) => {
    const license = picked(model.licenses, index)
    const known = picked(real.licenses, index)
    const { status, body } = await calls(real.api.ask, real, index).remint(keepDevices)
    expect(status).toBe(license.revokedAt === null ? 200 : 409)
    if (status !== 200) return index
    known.oldKeys.push(known.key)
    known.key = Reminted.parse(body).licenseKey
    if (!keepDevices) license.seats.clear()
    return index
  })

const revoke = (index: number) =>
  step(`revoke ${index}`, async (model, real) => {
    await revokeIfNotYet(real, index)
    picked(model.licenses, index).revokedAt ??= nowIn(real)
    return index
  })

async function revokeIfNotYet(real: World, index: number): Promise<void> {
  const { id } = picked(real.licenses, index)
  const revoking = revokeLicense(real.api.ledger.ports, real.tenant.tenantId, id, null, origin)
  await revoking.catch((error: unknown) => {
    if (!(error instanceof Refusal && error.code === 'license_revoked')) throw error
  })
}

const undoing = async (real: World, index: number, wanted: Undo): Promise<string> => {
  const { id } = picked(real.licenses, index)
  try {
    await undo(real.api.ledger.ports, real.tenant.tenantId, id, wanted, {
      ...origin,
      requestId: newId('req'),
    })
    return 'done'
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}

const reinstate = (index: number) =>
  step(`reinstate ${index}`, async (model, real) => {
    expect(await undoing(real, index, { type: 'reinstate', reason: null })).toBe('done')
    picked(model.licenses, index).revokedAt = null
    return index
  })

const reseat = (index: number, device: string) =>
  step(`give ${device} its seat on ${index} back`, async (model, real) => {
    const license = picked(model.licenses, index)
    const came = await undoing(real, index, { type: 'reseat', deviceId: device })
    // Only the license knows which devices it ever had; an unknown device changes nothing.
    if (came === 'device_not_found') {
      expect(license.seats).not.toContain(device)
      return index
    }
    const status = seated(license, device, nowIn(real))
    const refusal = status === 'seat_limit_reached' ? status : `license_${status}`
    expect(came).toBe(isSeating(status) ? 'done' : refusal)
    if (isSeating(status)) license.seats.add(device)
    return index
  })

const renew = (index: number) =>
  step(`renew ${index}`, async (model, real) => {
    const license = picked(model.licenses, index)
    if (license.revokedAt !== null || license.expiresAt === null) return index
    const expiresAt = inDays(real, 10)
    const { id } = picked(real.licenses, index)
    await commandLicense(real.api.ledger, id, { type: 'RenewLicense', expiresAt, at: nowIn(real) })
    if (expiresAt > license.expiresAt) license.expiresAt = expiresAt
    return index
  })

const changeLimit = (limit: number) =>
  step(`the key types get ${limit} seats`, async (model, real) => {
    const { ports } = real.api.ledger
    for (const keyTypeId of keyTypes) {
      const { tenantId } = real.tenant
      await changeKeyType(ports, tenantId, productId, keyTypeId, { deviceLimit: limit }, origin)
    }
    model.keyTypeLimit = limit
    return 0
  })

const takeOver = (devices: readonly string[]) =>
  step(`import a license with ${devices.join(', ')}`, async (model, real) => {
    const licenseKey = `IMPORTED-${real.tenant.tenantId}-${real.licenses.length}`
    const row = { licenseKey, devices: devices.map((deviceId) => ({ deviceId, name: deviceId })) }
    const { results } = await importRows(real.api.ask, real.tenant.token, productId, [row])
    const seats = new Set(devices)
    const fits = seats.size <= model.keyTypeLimit
    expect(results[0]?.status).toBe(fits ? 'imported' : 'invalid')
    if (!fits) return 0
    real.licenses.push({ id: results[0]?.id ?? '', key: licenseKey, oldKeys: [] })
    model.licenses.push({
      limit: model.keyTypeLimit,
      ...termsOf('perpetual', real),
      revokedAt: null,
      seats,
    })
    return model.licenses.length - 1
  })

const wait = (days: number) =>
  step(`wait ${days} days`, async (_, real) => {
    real.api.ledger.clock.advance(days * day)
    await real.recordEnds()
    return 0
  })

type Move =
  | { do: 'activate' | 'deactivate' | 'remove'; device: string }
  | { do: 'remint'; keepDevices: boolean }
  | { do: 'revoke' }

/**
 * Several at once, on two applications. Their order is not known beforehand: the license's history shows it,
 * and every answer must be right for some moment of it.
 */
const race = (index: number, moves: readonly Move[]) =>
  step(`at once on ${index}: ${JSON.stringify(moves)}`, async (model, real) => {
    const license = picked(model.licenses, index)
    const known = picked(real.licenses, index)
    const before =
      license.revokedAt === null
        ? statusAt({ ...license, suspendedAt: null, graceSeconds: null }, nowIn(real))
        : 'revoked'
    const from = (await history(real, index)).moments.length - 1
    const answers = await Promise.all(
      moves.map(async (move, turn) => ({ move, answer: await make(move, real, index, turn) })),
    )
    const { moments, revokedAt, keyHash } = await history(real, index)
    const during = moments.slice(from)
    for (const seats of during)
      expect(seats.size).toBeLessThanOrEqual(license.limit ?? Number.POSITIVE_INFINITY)
    for (const { move, answer } of answers) {
      if (answer === undefined) continue
      expect([200, 404, 409]).toContain(answer.status)
      if ('device' in move) expectTrue(move, answer, during, license.limit, before)
      const fresh = move.do === 'remint' && answer.status === 200 && Reminted.parse(answer.body).licenseKey
      if (fresh) known.oldKeys.push(fresh)
    }
    license.seats = moments.at(-1) ?? new Set()
    license.revokedAt = revokedAt
    const keys = [known.key, ...known.oldKeys]
    known.key = keys.find((key) => isKeyOf(key, keyHash)) ?? known.key
    known.oldKeys = keys.filter((key) => key !== known.key)
    return index
  })

async function make(move: Move, real: World, index: number, turn: number): Promise<Answer | undefined> {
  const { activate, deactivate, remove, remint } = calls(picked(real.asks, turn), real, index)
  switch (move.do) {
    case 'activate':
      return activate(move.device)
    case 'deactivate':
      return deactivate(move.device)
    case 'remove':
      return remove(move.device)
    case 'remint':
      return remint(move.keepDevices)
    case 'revoke':
      return void (await revokeIfNotYet(real, index))
  }
}

function expectTrue(
  move: Extract<Move, { device: string }>,
  { status, body }: Answer,
  during: readonly ReadonlySet<string>[],
  limit: number | null,
  before: string,
): void {
  if (move.do !== 'activate') {
    if (status !== 200) return
    const gone = z.looseObject({ deactivated: z.boolean() }).parse(body).deactivated
    if (gone) expect(during.some((seats) => !seats.has(move.device))).toBe(true)
    return
  }
  const told = z.looseObject({ activated: z.boolean(), status: z.string() }).parse(body)
  if (told.activated) expect(during.some((seats) => seats.has(move.device))).toBe(true)
  else if (told.status === 'seat_limit_reached') {
    expect(during.some((seats) => seats.size === limit && !seats.has(move.device))).toBe(true)
  } else expect(['revoked', 'reminted', before]).toContain(told.status)
}

const index = fc.nat({ max: 3 })
const device = fc.constantFrom('a', 'b', 'c', 'd')
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('activate' as const, 'activate' as const, 'deactivate' as const, 'remove' as const),
      device,
    }),
  },
  fc.record({ do: fc.constant('remint' as const), keepDevices: fc.boolean() }),
  fc.record({ do: fc.constant('revoke' as const) }),
)

const often = (weight: number, arbitrary: fc.Arbitrary<Step>) =>
  Array<fc.Arbitrary<Step>>(weight).fill(arbitrary)

export const anyStep: fc.Arbitrary<Step>[] = [
  ...often(
    2,
    fc
      .constantFrom(...keyTypes)
      .map((keyTypeId) => step(`mint ${keyTypeId}`, (model, real) => mintOne(model, real, keyTypeId))),
  ),
  ...often(
    6,
    fc.tuple(index, device).map(([at, which]) => activate(at, which)),
  ),
  ...often(
    2,
    fc.tuple(index, device).map(([at, which]) => deactivate(at, which)),
  ),
  fc.tuple(index, device).map(([at, which]) => withOldKey(at, which)),
  fc.tuple(index, device).map(([at, which]) => remove(at, which)),
  ...often(
    2,
    fc.tuple(index, fc.boolean()).map(([at, keep]) => remint(at, keep)),
  ),
  index.map(revoke),
  index.map(reinstate),
  fc.tuple(index, device).map(([at, which]) => reseat(at, which)),
  ...often(2, index.map(renew)),
  fc.integer({ min: 1, max: 4 }).map(changeLimit),
  fc.array(device, { maxLength: 4 }).map(takeOver),
  ...often(2, fc.constantFrom(1, 6, 10).map(wait)),
  ...often(
    3,
    fc.tuple(index, fc.array(move, { minLength: 2, maxLength: 8 })).map(([at, moves]) => race(at, moves)),
  ),
]
