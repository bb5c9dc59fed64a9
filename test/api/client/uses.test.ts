/**
 * Guarantee: what a device has journaled is counted once, each use by itself, however often its batch is sent; and a validate says how
 * meters stand only when it is asked.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning, commandLicense } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let app: App
const calls = { meter: 'calls', unit: 'calls', included: '10', period: 'month', overage: 'block' }
const minutes = { meter: 'minutes', unit: 'minutes', included: '2', period: 'license', overage: 'allow' }
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { tenantId } = tenant
  await makeProduct(api.ask, tenant.token, 'api', {
    keyTypes: [{ name: 'Pro', deviceLimit: 1, meters: [calls, minutes] }, { name: 'None' }],
  })
  app = appOf(api.ask, { tenantId, productId: 'api' }, await sdkKeyOf(api.ledger, tenantId))
})
afterAll(() => api.close())
beforeEach(() => api.ledger.clock.set(beginning))

const march = Date.parse('2026-04-01T00:00:00.000Z') / 1000
const seconds = (moment: string) => Date.parse(moment) / 1000
async function device(keyTypeId = 'pro') {
  const { licenseKey: license_key, id } = await mint(api.ask, tenant.token, 'api', { keyTypeId })
  const activated = await app.post('activate', { license_key, instance_name: 'one' })
  const { instance_id } = z.object({ instance_id: z.string() }).parse(activated.body)
  return { id, holder: { license_key, instance_id } }
}
const use = (idempotency_key: string, amount: string, more: object = {}) => ({
  ...{ meter: 'calls', amount, idempotency_key, ...more },
})
const report = async (holder: object, uses: object[], batch = 1) => {
  const { status, body } = await app.post('uses', { ...holder, batch, uses })
  return { status, body }
}
const counted = (idempotency_key: string, remaining: string, more: object = {}) => ({
  ...{ idempotency_key, allowed: true, meter: 'calls', remaining, overage: '0', resets_at: march, ...more },
})

test('uses are answered one by one, over several meters, and again the same', async () => {
  const { holder } = await device()
  const uses = [
    use('a', '7.5'),
    use('b', '3'),
    use('c', '2.5'),
    use('a', '1'),
    use('d', '5', { meter: 'minutes' }),
    use('e', '1', { meter: 'nothing' }),
  ]
  const answer = {
    status: 200,
    body: {
      batch: 7,
      uses: [
        counted('a', '2.5'),
        counted('b', '2.5', { allowed: false, reason: 'meter_exhausted' }),
        counted('c', '0'),
        counted('a', '0', { allowed: false, reason: 'meter_key_reused', resets_at: null }),
        counted('d', '0', { meter: 'minutes', overage: '3', resets_at: null }),
        counted('e', '0', { meter: 'nothing', allowed: false, reason: 'no_such_meter', resets_at: null }),
      ],
    },
  }
  expect(await report(holder, uses, 7)).toStrictEqual(answer)
  const again = structuredClone(answer)
  // A repeated use says how its period stands now.
  for (const one of again.body.uses.slice(0, 2)) one.remaining = '0'
  expect(await report(holder, uses, 7)).toStrictEqual(again)
})

test('500 uses at once are counted, and 501 are too many', async () => {
  const { holder } = await device()
  const many = Array.from({ length: 501 }, (_, index) => use(`k${index}`, '0.01'))
  const { body } = await report(holder, many.slice(0, 500))
  expect(
    z
      .object({ uses: z.array(z.object({ remaining: z.string() })) })
      .parse(body)
      .uses.at(-1),
  ).toStrictEqual({
    remaining: '5',
  })
  expect((await report(holder, many)).status).toBe(400)
})

test('a use of any age counts: late in the present period, and one whose time lies ahead counts now', async () => {
  const { holder } = await device()
  api.ledger.clock.set('2026-06-01T00:00:00.000Z')
  const july = seconds('2026-07-01T00:00:00.000Z')
  const uses = [
    use('old', '1', { used_at: seconds(beginning) + 60 }),
    use('own', '2', { used_at: seconds('2026-05-31T23:00:00.000Z') }),
    use('ahead', '3', { used_at: seconds('2030-01-01T00:00:00.000Z') }),
  ]
  expect(await report(holder, uses)).toMatchObject({
    status: 200,
    body: {
      uses: [
        counted('old', '9', { late: true, resets_at: july }),
        counted('own', '8', { resets_at: seconds('2026-06-01T00:00:00.000Z') }),
        counted('ahead', '6', { resets_at: july }),
      ],
    },
  })
})

test('a license that may not be used refuses each use with its reason, and an unknown one all', async () => {
  const { id, holder } = await device()
  await report(holder, [use('a', '1')])
  await commandLicense(api.ledger, id, { type: 'SuspendLicense', reason: 'because', at: beginning })
  expect(await report(holder, [use('b', '1')])).toMatchObject({
    status: 200,
    body: { uses: [{ idempotency_key: 'b', allowed: false, reason: 'suspended' }] },
  })
  expect(await report({ ...holder, license_key: 'nonsense' }, [use('b', '1')])).toMatchObject({
    status: 404,
    body: { reason: 'not_found' },
  })
})

test('a validate says how the meters stand that it asks for, and no other', async () => {
  const { id, holder } = await device()
  await report(holder, [use('a', '7.5')])
  const validated = async (more: object) => {
    const { body } = await app.post('validate', { ...holder, ...more })
    return z.object({ valid: z.boolean(), meters: z.unknown().optional() }).parse(body)
  }
  const ofCalls = {
    meter: 'calls',
    unit: 'calls',
    remaining: '2.5',
    used: '7.5',
    overage: '0',
    resets_at: march,
  }
  const ofMinutes = {
    ...{ meter: 'minutes', unit: 'minutes', remaining: '2', used: '0', overage: '0', resets_at: null },
  }
  expect(await validated({})).toStrictEqual({ valid: true })
  expect(await validated({ meters: false })).toStrictEqual({ valid: true })
  expect(await validated({ meters: true })).toStrictEqual({ valid: true, meters: [ofCalls, ofMinutes] })
  expect(await validated({ meters: ['nothing', 'minutes'] })).toStrictEqual({
    valid: true,
    meters: [ofMinutes],
  })
  expect((await app.post('validate', { ...holder, meters: 'calls' })).status).toBe(400)

  const runtime = await tenant.tokenWith('licenses:runtime')
  const ofServer = { product_id: 'api', license_key: holder.license_key, meters: ['calls'] }
  const { body } = await api.ask('POST', '/v1/licenses/validate', { token: runtime, body: ofServer })
  expect(body).toMatchObject({ valid: true, meters: [ofCalls] })

  await commandLicense(api.ledger, id, { type: 'SuspendLicense', reason: 'because', at: beginning })
  expect(await validated({ meters: true })).toStrictEqual({ valid: false })
})
