import { expect } from 'vitest'
import { z } from 'zod'
import { createReadModels } from '../../projections/runner/read-models.ts'
import { createKeyedMutex } from '../../src/async/keyed-mutex.ts'
import { keyHashOf } from '../../src/credentials/license-key.ts'
import { statusAt } from '../../src/domain/licenses/status.ts'
import { licenseStream } from '../../src/domain/streams.ts'
import { createExecute } from '../../src/ledger/execute.ts'
import { recordExpiries } from '../../src/reactions/expiries.ts'
import { type Ask, askOf, createTestApp, makeTenant, type TestApi, type TestTenant } from '../harness/api.ts'
import { eventsIn } from '../harness/ledger.ts'
import { makeProduct } from '../http/samples.ts'

export const productId = 'editor'

/** The simplest model of a license that the rules of seats need. */
export type ModelLicense = {
  limit: number | null
  expiresAt: string | null
  onExpiry: 'expire' | 'fallback'
  revokedAt: string | null
  seats: Set<string>
}

export type Model = { licenses: ModelLicense[]; keyTypeLimit: number }

export type World = {
  api: TestApi
  /** Two applications with the same stores and nothing else in common, as two processes. */
  asks: readonly Ask[]
  tenant: TestTenant
  licenses: { id: string; key: string; oldKeys: string[] }[]
  /** Records the expiries that are due. */
  recordEnds(): Promise<void>
}

/** Applications that stay for all runs: a second one beside that of the harness. */
export async function openAsks(api: TestApi): Promise<{ asks: Ask[]; close: () => Promise<void> }> {
  const { ledger } = api
  const readModels = createReadModels(ledger.db, ledger.ports.ledger, {
    timeLimitMs: 10_000,
    onParked: () => undefined,
    onFailure: () => undefined,
  })
  const execute = createExecute(ledger.ports.ledger, readModels, createKeyedMutex())
  const second = await createTestApp(ledger, { ...ledger.ports, execute })
  return { asks: [api.ask, askOf(second)], close: () => second.close() }
}

export async function newWorld(api: TestApi, asks: readonly Ask[]): Promise<{ model: Model; real: World }> {
  const tenant = await makeTenant(api.ledger)
  const duration = { count: 10, unit: 'day' }
  await makeProduct(api.ask, tenant.token, productId, {
    keyTypes: [
      { name: 'Perpetual', deviceLimit: 2 },
      { name: 'Hard', deviceLimit: 2, duration },
      { name: 'Soft', deviceLimit: 2, duration, onExpiry: 'fallback' },
    ],
  })
  const { poll } = recordExpiries(api.ledger.ports, {
    onFailure({ error }) {
      throw error
    },
  })
  return {
    model: { licenses: [], keyTypeLimit: 2 },
    real: { api, asks, tenant, licenses: [], recordEnds: poll },
  }
}

export const picked = <T>(list: readonly T[], index: number): T => {
  const found = list[index % list.length]
  if (found === undefined) throw new Error('there is a license from the beginning on')
  return found
}

const Told = z.object({
  license: z.object({
    status: z.string(),
    deviceLimit: z.int().nullable(),
    seatsUsed: z.int(),
    devices: z.array(z.object({ deviceId: z.string(), status: z.enum(['active', 'deactivated']) })),
  }),
})

/** Every report about a license agrees with the model, and its seats are within the limit. */
export async function expectAgreement({ licenses }: Model, real: World, index: number): Promise<void> {
  const model = picked(licenses, index)
  const { id } = picked(real.licenses, index)
  const { body } = await real.api.ask('GET', `/v1/licenses/${id}`, { token: real.tenant.token })
  const { license } = Told.parse(body)
  const sitting = license.devices.filter(({ status }) => status === 'active').map(({ deviceId }) => deviceId)
  expect(new Set(sitting)).toStrictEqual(model.seats)
  expect(license.seatsUsed).toBe(model.seats.size)
  expect(license.deviceLimit).toBe(model.limit)
  expect(license.seatsUsed).toBeLessThanOrEqual(model.limit ?? Number.POSITIVE_INFINITY)
  expect(license.status).toBe(
    statusAt({ ...model, suspendedAt: null, graceSeconds: null }, real.api.ledger.clock.now().toISOString()),
  )
}

const Usage = z.object({ limits: z.object({ devices: z.object({ used: z.int() }) }) })

/** No seat is counted without a device, and none is lost. */
export async function expectNoLeak({ licenses }: Model, real: World): Promise<void> {
  const { body } = await real.api.ask('GET', '/v1/usage', { token: real.tenant.token })
  const all = licenses.reduce((sum, { seats }) => sum + seats.size, 0)
  expect(Usage.parse(body).limits.devices.used).toBe(all)
}

/** The devices with a seat after each event of a license's history, without the domain's own `evolve`. */
export async function history(real: World, index: number) {
  const { id } = picked(real.licenses, index)
  const moments: Set<string>[] = []
  let seats = new Set<string>()
  let revokedAt: string | null = null
  let keyHash = ''
  for (const entry of await eventsIn(real.api.ledger.ports.ledger, licenseStream(id))) {
    if (!entry.readable || entry.category !== 'license') throw new Error('a license has its own events')
    const { event } = entry
    seats = new Set(seats)
    if (event.type === 'DeviceActivated') seats.add(event.data.deviceId)
    if (event.type === 'DeviceDeactivated') seats.delete(event.data.deviceId)
    if (event.type === 'LicenseReminted' && !event.data.keepDevices) seats.clear()
    if (event.type === 'LicenseRevoked') revokedAt = event.data.at
    if (event.type === 'RevocationUndone') revokedAt = null
    if ('keyHash' in event.data) keyHash = event.data.keyHash
    moments.push(seats)
  }
  return { moments, revokedAt, keyHash }
}

export const isKeyOf = (key: string, keyHash: string): boolean => keyHashOf(key) === keyHash
