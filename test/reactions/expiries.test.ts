/**
 * Every end of a paid period is recorded once, at its second or as soon as a process runs again, by any
 * number of processes. One that was renewed or revoked in time is not recorded, and one that cannot be
 * recorded does not delay others.
 */
import { jsonEvent } from '@eventstore/db-client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { licenseStream, streamName } from '../../src/domain/streams.ts'
import type { Execute } from '../../src/ledger/execute.ts'
import type { AllPorts } from '../../src/ports.ts'
import { recordExpiries } from '../../src/reactions/expiries.ts'
import type { Failure } from '../../src/reactions/process-manager.ts'
import { makeTenant, metricsToken, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { appendRaw, beginning, commandLicense, eventsIn } from '../harness/ledger.ts'
import { importRows, makeProduct, mint } from '../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let failures: Failure[]
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  failures = []
  api.ledger.clock.set(beginning)
  tenant = await makeTenant(api.ledger)
  const duration = { count: 1, unit: 'day' }
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [
      { name: 'Hard', duration },
      { name: 'Soft', duration, onExpiry: 'fallback' },
      { name: 'Perpetual' },
    ],
  })
})

const end = '2026-03-02T12:00:00.000Z'
const expiries = (ports = api.ledger.ports, most = 500) =>
  recordExpiries(ports, { most, onFailure: (found) => void failures.push(found) })
const license = (keyTypeId = 'hard', fields = {}) =>
  mint(api.ask, tenant.token, 'editor', { keyTypeId, ...fields })

/** The events after the license was issued. */
const recorded = async (id: string) =>
  (await eventsIn(api.ledger.ports.ledger, licenseStream(id)))
    .slice(1)
    .map((entry) => (entry.readable ? [entry.event.type, entry.event.data] : ['unreadable']))

async function statusOf(id: string): Promise<unknown> {
  const { body } = await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })
  return (body as { license: { status: unknown } }).license.status
}

class Killed extends Error {}

/** Ports that do something before or after each command. */
const around = (act: (run: () => ReturnType<Execute>, stream: string) => ReturnType<Execute>): AllPorts => ({
  ...api.ledger.ports,
  execute: ((...args: Parameters<Execute>) =>
    act(() => api.ledger.ports.execute(...args), streamName(args[0].category, args[1]))) as Execute,
})

describe('the end of a paid period', () => {
  test('is recorded at its second and not before, as an expiry or a fallback', async () => {
    const hard = await license('hard')
    const soft = await license('soft')
    const perpetual = await license('perpetual')
    const { poll } = expiries()
    api.ledger.clock.set('2026-03-02T11:59:59.999Z')
    await poll()
    expect(await recorded(hard.id)).toStrictEqual([])
    api.ledger.clock.set(end)
    await poll()
    await poll()
    expect(await recorded(hard.id)).toStrictEqual([['LicenseExpired', { expiresAt: end, at: end }]])
    expect(await recorded(soft.id)).toStrictEqual([['LicenseFellBack', { expiresAt: end, at: end }]])
    expect(await recorded(perpetual.id)).toStrictEqual([])
    expect(failures).toStrictEqual([])
  })

  test('that came while no process ran is recorded by the first poll, with the moment of that poll', async () => {
    const { id } = await license()
    const at = '2026-04-20T08:00:00.123Z'
    api.ledger.clock.set(at)
    await expiries().poll()
    expect(await recorded(id)).toStrictEqual([['LicenseExpired', { expiresAt: end, at }]])
  })

  test('is recorded once by several processes at once', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, async () => (await license()).id))
    api.ledger.clock.set(end)
    await Promise.all(Array.from({ length: 6 }, () => expiries().poll()))
    for (const id of ids) {
      expect(await recorded(id)).toStrictEqual([['LicenseExpired', { expiresAt: end, at: end }]])
    }
  })

  test('is recorded once when processes die right after they have recorded it', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, async () => (await license()).id))
    api.ledger.clock.set(end)
    const dying = around(async (run) => {
      await run()
      throw new Killed()
    })
    await expiries(dying).poll()
    await expiries().poll()
    for (const id of ids) expect(await recorded(id)).toHaveLength(1)
  })

  test('is not recorded when the license was renewed after it had been found due', async () => {
    const { id } = await license()
    api.ledger.clock.set(end)
    const renewing = around(async (run) => {
      await commandLicense(api.ledger, id, {
        type: 'RenewLicense',
        expiresAt: '2026-03-03T12:00:00.000Z',
        at: end,
      })
      return run()
    })
    await expiries(renewing).poll()
    expect(await recorded(id)).toMatchObject([['LicenseRenewed', {}]])
    expect(await statusOf(id)).toBe('active')
  })

  test('is not recorded for a revoked license', async () => {
    const { id } = await license()
    await commandLicense(api.ledger, id, { type: 'RevokeLicense', reason: null, at: beginning })
    api.ledger.clock.set(end)
    await expiries().poll()
    expect(await recorded(id)).toMatchObject([['LicenseRevoked', {}]])
  })

  test('of a license that was imported after it had ended is recorded too', async () => {
    const row = {
      licenseKey: 'OLD-KEY-0001',
      createdAt: '2020-01-01T00:00:00Z',
      expiresAt: '2021-01-01T00:00:00Z',
    }
    const { results } = await importRows(api.ask, tenant.token, 'editor', [row])
    await expiries().poll()
    expect(await recorded(results[0]?.id ?? '')).toStrictEqual([
      ['LicenseExpired', { expiresAt: '2021-01-01T00:00:00.000Z', at: beginning }],
    ])
  })
})

test('a license that is renewed after its end was recorded comes back, and ends again', async () => {
  const { id, licenseKey } = await license('soft')
  const laptop = { product_id: 'editor', license_key: licenseKey, device_id: 'laptop' }
  const ask = async (call: string) =>
    (await api.ask('POST', `/v1/licenses/${call}`, { token: tenant.token, body: laptop })).body
  await ask('activate')
  api.ledger.clock.set(end)
  await expiries().poll()
  expect(await ask('validate')).toMatchObject({ valid: false, status: 'fallback' })
  const renewed = '2026-03-03T12:00:00.000Z'
  await commandLicense(api.ledger, id, { type: 'RenewLicense', expiresAt: renewed, at: end })
  await expiries().poll()
  expect(await ask('validate')).toMatchObject({ valid: true, status: 'active' })
  api.ledger.clock.set(renewed)
  await expiries().poll()
  expect((await recorded(id)).slice(1)).toStrictEqual([
    ['LicenseFellBack', { expiresAt: end, at: end }],
    ['LicenseRenewed', { expiresAt: renewed, at: end }],
    ['LicenseFellBack', { expiresAt: renewed, at: renewed }],
  ])
  expect(await ask('validate')).toMatchObject({ valid: false, status: 'fallback' })
})

describe('the next poll', () => {
  test('comes when the nearest end is due, and soon enough to see a nearer one', async () => {
    await license('hard', { expiresAt: '2026-03-01T12:00:01Z' })
    const { poll, dueInMs } = expiries()
    await poll()
    expect(dueInMs?.()).toBe(1000)
    api.ledger.clock.advance(700)
    await poll()
    expect(dueInMs?.()).toBe(300)
    api.ledger.clock.advance(300)
    await poll()
    expect(dueInMs?.()).toBeUndefined()
  })

  test('comes at once while more is due than one poll records, and at most 32 are recorded concurrently', async () => {
    const rows = Array.from({ length: 41 }, (_, index) => ({
      licenseKey: `MANY-KEY-${index + 1000}`,
      expiresAt: '2026-02-01T00:00:00Z',
    }))
    const { results } = await importRows(api.ask, tenant.token, 'editor', rows)
    let running = 0
    let most = 0
    const { poll, dueInMs } = expiries(
      around(async (run) => {
        most = Math.max(most, ++running)
        return run().finally(() => running--)
      }),
      40,
    )
    await poll()
    expect(dueInMs?.()).toBe(0)
    await poll()
    expect(dueInMs?.()).toBeUndefined()
    expect(most).toBe(32)
    for (const { id = '' } of results) expect(await recorded(id)).toHaveLength(1)
  })
})

describe('a license whose end cannot be recorded', () => {
  test('does not delay others, and is retried with growing pauses', async () => {
    const poisoned = await license()
    const other = await license()
    let tries = 0
    const { poll } = expiries(
      around(async (run, stream) => {
        if (stream !== licenseStream(poisoned.id)) return run()
        tries++
        if (tries < 3) throw new Error('poison')
        return run()
      }),
    )
    api.ledger.clock.set(end)
    await poll()
    expect(await recorded(other.id)).toHaveLength(1)
    expect(failures).toMatchObject([{ id: poisoned.id, error: { message: 'poison' } }])
    for (const [waitedMs, triesThen] of [
      [1999, 1],
      [1, 2],
      [3999, 2],
      [1, 3],
    ] as const) {
      api.ledger.clock.advance(waitedMs)
      await poll()
      expect(tries).toBe(triesThen)
    }
    expect(await recorded(poisoned.id)).toHaveLength(1)
  })

  test('because of an unreadable event is left until that is repaired', async () => {
    const { id } = await license()
    const other = await license()
    const unreadable = jsonEvent({ type: 'LicenseRenewed', data: { nonsense: true }, metadata: {} })
    const position = await appendRaw(api.ledger, licenseStream(id), [unreadable], 0n)
    await api.ledger.readModels.advanceTo(position)
    api.ledger.clock.set(end)
    await expiries().poll()
    expect(await recorded(id)).toStrictEqual([['unreadable']])
    expect(await recorded(other.id)).toHaveLength(1)
    expect(failures).toStrictEqual([])
  })

  test('because a store does not respond is not backed off: the poll fails as a whole', async () => {
    const { id } = await license()
    api.ledger.clock.set(end)
    let down = true
    const ports = around((run) => (down ? Promise.reject(new Error('down')) : run()))
    const head = () => (down ? Promise.reject(new Error('down')) : api.ledger.ports.ledger.head())
    const { poll } = expiries({ ...ports, ledger: { ...ports.ledger, head } })
    await expect(poll()).rejects.toThrow('down')
    expect(failures).toStrictEqual([])
    down = false
    await poll()
    expect(await recorded(id)).toHaveLength(1)
  })
})

test('the metrics show how long the oldest end has been waiting', async () => {
  const overdue = async () =>
    /^keyledger_expiry_overdue_seconds (\S+)$/m.exec(
      (await api.ask('GET', '/metrics', { token: metricsToken })).text,
    )?.[1]
  api.ledger.clock.set('2026-05-01T00:00:00.000Z')
  await expiries().poll()
  expect(await overdue()).toBe('0')
  await license('hard', { expiresAt: '2026-05-01T00:00:30Z' })
  api.ledger.clock.set('2026-05-01T00:01:00.500Z')
  expect(await overdue()).toBe('30.5')
  await expiries().poll()
  expect(await overdue()).toBe('0')
})
