/**
 * Guarantee: a license that is about to expire has each notice recorded once, whatever crashes, by any number of processes: by
 * the days of its product, or 14 and 3 before where a webhook wants to know. Otherwise none is.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { licenseStream, streamName } from '../../src/domain/streams.ts'
import type { Execute } from '../../src/ledger/execute.ts'
import type { AllPorts } from '../../src/ports.ts'
import { noticeExpiries } from '../../src/reactions/expiring.ts'
import type { Failure } from '../../src/reactions/process-manager.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { pointWebhook } from '../harness/dispatch.ts'
import { beginning, commandLicense, eventsIn } from '../harness/ledger.ts'
import { importRows, makeProduct, mint } from '../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let failures: Failure[]
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(async () => {
  expect(failures).toStrictEqual([])
  await api.close()
})
const keyTypes = [{ name: 'Month', duration: { count: 30, unit: 'day' } }]
beforeEach(async () => {
  failures = []
  api.ledger.clock.set(beginning)
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'told', { keyTypes, expiringNotice: { days: [3, 14, 3] } })
  await makeProduct(api.ask, tenant.token, 'silent', { keyTypes })
})

const dayMs = 86_400_000
const end = '2026-03-31T12:00:00.000Z'
const left = (days: number) => api.ledger.clock.set(new Date(Date.parse(end) - days * dayMs).toISOString())
const notices = (ports: AllPorts = api.ledger.ports) =>
  noticeExpiries(ports, { onFailure: (found) => void failures.push(found) })
const license = (productId = 'told', fields = {}) => mint(api.ask, tenant.token, productId, fields)
const recorded = async (id: string) =>
  (await eventsIn(api.ledger.ports.ledger, licenseStream(id))).flatMap((entry) =>
    entry.readable && entry.event.type === 'LicenseExpiring' ? [entry.event.data] : [],
  )
const daysOf = async (id: string) => (await recorded(id)).map(({ daysBefore }) => daysBefore)
const change = (method: 'PATCH' | 'POST', path: string, body: object) =>
  api.ask(method, path, { token: tenant.token, body })

class Killed extends Error {}

/** Ports that do something before or after each command on a license. */
const around = (act: (run: () => ReturnType<Execute>, stream: string) => ReturnType<Execute>): AllPorts => ({
  ...api.ledger.ports,
  execute: ((...args: Parameters<Execute>) =>
    act(() => api.ledger.ports.execute(...args), streamName(args[0].category, args[1]))) as Execute,
})

describe('the notices of a product', () => {
  test('are recorded at their moments and not before, once each', async () => {
    const { id } = await license()
    const { poll } = notices()
    left(14.001)
    await poll()
    expect(await recorded(id)).toStrictEqual([])
    left(14)
    for (let again = 0; again < 3; again++) await poll()
    left(3)
    for (let again = 0; again < 3; again++) await poll()
    expect(await recorded(id)).toStrictEqual([
      { expiresAt: end, daysBefore: 14, at: '2026-03-17T12:00:00.000Z' },
      { expiresAt: end, daysBefore: 3, at: '2026-03-28T12:00:00.000Z' },
    ])
    api.ledger.clock.set(end)
    await poll()
    expect(await recorded(id)).toHaveLength(2)
  })

  test('that became due while no process ran are one: the nearest', async () => {
    const { id } = await license()
    left(1)
    await notices().poll()
    expect(await daysOf(id)).toStrictEqual([3])
  })

  test('are recorded once by processes that run at once, and that die right after they have recorded it', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, async () => (await license()).id))
    left(14)
    const dying = around(async (run) => {
      await run()
      throw new Killed()
    })
    await notices(dying).poll()
    failures = []
    await Promise.all([notices().poll(), notices().poll(), notices().poll()])
    for (const id of ids) expect(await daysOf(id)).toStrictEqual([14])
  })

  test('are recorded by the next poll when a process died before it had recorded them', async () => {
    const { id } = await license()
    left(14)
    await notices(
      around(() => {
        throw new Killed()
      }),
    ).poll()
    failures = []
    expect(await recorded(id)).toStrictEqual([])
    await notices().poll()
    expect(await daysOf(id)).toStrictEqual([14])
  })

  test('are none for a license that was renewed after it had been found due', async () => {
    const { id } = await license()
    left(3)
    const at = api.ledger.ports.now().toISOString()
    const renewing = around(async (run) => {
      await commandLicense(api.ledger, id, {
        type: 'RenewLicense',
        expiresAt: '2026-04-30T12:00:00.000Z',
        at,
      })
      return run()
    })
    await notices(renewing).poll()
    expect(await recorded(id)).toStrictEqual([])
  })

  test('are none for a suspended or revoked license', async () => {
    const [suspended, revoked] = [await license(), await license()]
    await change('POST', `/v1/licenses/${suspended.id}/suspend`, {})
    await commandLicense(api.ledger, revoked.id, { type: 'RevokeLicense', reason: null, at: beginning })
    left(3)
    await notices().poll()
    expect(await recorded(suspended.id)).toStrictEqual([])
    expect(await recorded(revoked.id)).toStrictEqual([])
    await change('POST', `/v1/licenses/${suspended.id}/resume`, {})
    await notices().poll()
    expect(await daysOf(suspended.id)).toStrictEqual([3])
  })

  test('are none that were due before the expiry was set: a short license is not announced at its issue', async () => {
    const short = await license('told', { expiresAt: '2026-03-08T12:00:00.000Z' })
    const { results } = await importRows(api.ask, tenant.token, 'told', [
      { licenseKey: 'IMPORTED-NOTICE-1', expiresAt: '2026-03-03T12:00:00.000Z' },
    ])
    await notices().poll()
    expect(await recorded(short.id)).toStrictEqual([])
    expect(await recorded(results[0]?.id ?? '')).toStrictEqual([])
    api.ledger.clock.set('2026-03-05T12:00:00.000Z')
    await notices().poll()
    expect(await daysOf(short.id)).toStrictEqual([3])
  })

  test('follow the new days once the setting changes, and stop without it', async () => {
    const { id } = await license()
    left(14)
    await notices().poll()
    await change('PATCH', '/v1/products/told', { expiringNotice: { days: [7] } })
    left(7)
    await notices().poll()
    await change('PATCH', '/v1/products/told', { expiringNotice: null })
    left(3)
    await notices().poll()
    expect(await daysOf(id)).toStrictEqual([14, 7])
  })
})

test('a product without the setting has notices only for a webhook that names the event, 14 and 3 days before', async () => {
  const { id } = await license('silent', { email: 'ada@example.com' })
  await pointWebhook(api.ledger, tenant.tenantId, 'https://public.example.com/hook', {
    events: ['license.expired'],
  })
  left(14)
  await notices().poll()
  expect(await recorded(id)).toStrictEqual([])
  await pointWebhook(api.ledger, tenant.tenantId, 'https://public.example.com/hook', {
    events: ['license.expiring'],
  })
  await notices().poll()
  left(3)
  await notices().poll()
  // None of them is mailed: the vendor has not asked for that.
  expect(await recorded(id)).toStrictEqual([
    { expiresAt: end, daysBefore: 14, at: '2026-03-17T12:00:00.000Z' },
    { expiresAt: end, daysBefore: 3, at: '2026-03-28T12:00:00.000Z' },
  ])
})

test('another tenant’s webhook and setting change nothing', async () => {
  const { id } = await license('silent')
  const other = await makeTenant(api.ledger)
  await pointWebhook(api.ledger, other.tenantId, 'https://public.example.com/hook', {
    events: ['license.expiring'],
  })
  left(3)
  await notices().poll()
  expect(await recorded(id)).toStrictEqual([])
})
