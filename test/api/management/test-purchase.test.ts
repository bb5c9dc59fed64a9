/** Guarantee: a test purchase shows what would be sold, reports only what happened, and completes despite kills. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sendInProcess } from '../../../src/app/http.ts'
import { suspendTenant } from '../../../src/commands/tenants.ts'
import { startTestPurchase } from '../../../src/commands/test-purchases.ts'
import { testPurchaseStream } from '../../../src/domain/streams.ts'
import { createTestPurchaseDriver } from '../../../src/reactions/test-purchase-driver.ts'
import {
  createTestPurchaseRunner,
  resumeTestPurchases,
  type TestPurchaseDriver,
} from '../../../src/reactions/test-purchases.ts'
import { type Method, makeTenant, type TestTenant } from '../../harness/api.ts'
import { beginning, eventsIn, origin } from '../../harness/ledger.ts'
import type { ProviderStandIns } from '../../harness/providers.ts'
import { openSellingApi, type SellingApi } from '../../harness/selling-api.ts'
import { makeProduct } from '../../http/samples.ts'

let standIns: ProviderStandIns
let api: SellingApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openSellingApi()
  ;({ standIns } = api)
})
afterAll(() => api.close())
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  standIns.stripe.health = 'well'
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Pro' }, { name: 'Team' }] })
})

const asks = async (method: Method, url: string, body?: unknown) => {
  const { status, body: answered, headers } = await api.ask(method, url, { token: tenant.token, body })
  return { status, body: answered, retryAfter: headers['retry-after'] }
}
const start = (body: object) => asks('POST', '/v1/test-purchase', body)
const connect = (provider: string, body?: unknown) =>
  asks('POST', `/v1/integrations/${provider}/connect`, body)
const configure = (provider: string, body: unknown) =>
  asks('POST', `/v1/products/editor/integrations/${provider}`, body)
const testKeys = { publishableKey: 'pk_test_own', secretKey: 'sk_test_own' }
const enterTestMode = () => asks('POST', '/v1/products/editor/test-mode', testKeys)

const Shown = z.object({
  testPurchase: z.looseObject({
    id: z.string(),
    provider: z.string(),
    keyTypeId: z.string(),
    status: z.string(),
    stages: z.array(
      z.object({
        name: z.string(),
        status: z.string(),
        at: z.string().nullable(),
        detail: z.string().nullable(),
      }),
    ),
  }),
})

/** The result of a purchase: its provider, and the outcome of each stage. */
async function outcome(body: object) {
  const begun = await start(body)
  expect(begun).toMatchObject({ status: 202, retryAfter: '1' })
  const { id } = Shown.parse(begun.body).testPurchase
  await expect
    .poll(async () => Shown.parse((await asks('GET', `/v1/test-purchase/${id}`)).body).testPurchase.status)
    .not.toBe('running')
  const { testPurchase } = Shown.parse((await asks('GET', `/v1/test-purchase/${id}`)).body)
  const stages = testPurchase.stages.map(({ name, status, detail }) => [name, status, detail])
  return {
    provider: testPurchase.provider,
    keyTypeId: testPurchase.keyTypeId,
    status: testPurchase.status,
    stages,
  }
}
/** The further stages of a purchase whose checkout would succeed. */
const soldBy = (provider: string) => [
  ['webhook', 'done', `a notification with the signature of ${provider} got 200`],
  ['license_minted', 'done', expect.stringMatching(/^the license lic_\w+ was issued, marked as a test$/)],
]
const failedAt = (detail: string) => [
  ['checkout', 'failed', detail],
  ['webhook', 'pending', null],
  ['license_minted', 'pending', null],
]

test('a test purchase starts with the status running and all stages pending', async () => {
  await connect('gumroad')
  const { status, body } = await start({ productId: 'editor' })
  expect({ status, body }).toStrictEqual({
    status: 202,
    body: {
      testPurchase: {
        id: expect.stringMatching(/^tp_[0-9a-hjkmnp-tv-z]{26}$/) as string,
        productId: 'editor',
        keyTypeId: 'pro',
        provider: 'gumroad',
        status: 'running',
        stages: ['checkout', 'webhook', 'license_minted'].map((name) => ({
          name,
          status: 'pending',
          at: null,
          detail: null,
        })),
        startedAt: beginning,
      },
    },
  })
})

describe('the mapping', () => {
  test('is shown by the checkout stage', async () => {
    await connect('gumroad')
    await configure('gumroad', { permalinks: ['editor'] })
    expect(await outcome({ productId: 'editor' })).toStrictEqual({
      provider: 'gumroad',
      keyTypeId: 'pro',
      status: 'succeeded',
      stages: [['checkout', 'done', 'no payment was made; gumroad sells it as editor'], ...soldBy('gumroad')],
    })
  })

  test('is looked up by key type when the marketplace maps key types', async () => {
    await connect('paddle', { webhookSecret: 'secret' })
    await configure('paddle', { prices: { pri_1: 'team' } })
    expect(await outcome({ productId: 'editor', keyTypeId: 'team' })).toMatchObject({
      keyTypeId: 'team',
      stages: [['checkout', 'done', 'no payment was made; paddle sells it as pri_1'], ...soldBy('paddle')],
    })
    expect(await outcome({ productId: 'editor' })).toMatchObject({
      stages: failedAt(
        'nothing at paddle is mapped to the key type pro; map it at …/editor/integrations/paddle',
      ),
    })
  })

  test('of the card provider is a price that is read from Stripe', async () => {
    standIns.stripe.keys.add(testKeys.secretKey)
    const { prices } = standIns.stripe
    prices.set('price_1', { owner: testKeys.secretKey, recurring: { interval: 'month', interval_count: 1 } })
    prices.set('price_2', { owner: testKeys.secretKey, unit_amount: null })
    await enterTestMode()
    expect(await outcome({ productId: 'editor' })).toMatchObject({
      provider: 'stripe',
      stages: failedAt('the key type pro has no price; map one at …/editor/integrations/stripe'),
    })
    expect(await configure('stripe', { prices: { pro: 'price_1', team: 'price_2' } })).toMatchObject({
      status: 200,
    })
    expect(await outcome({ productId: 'editor' })).toMatchObject({
      stages: [
        ['checkout', 'done', 'no payment was made; the price price_1 is on sale ($29.00, month)'],
        ...soldBy('stripe'),
      ],
    })
    expect(await outcome({ productId: 'editor', keyTypeId: 'team', provider: 'stripe' })).toMatchObject({
      stages: [
        ['checkout', 'done', 'no payment was made; the price price_2 is on sale (no fixed amount, once)'],
        ...soldBy('stripe'),
      ],
    })
    prices.set('price_1', { owner: testKeys.secretKey, active: false })
    expect(await outcome({ productId: 'editor' })).toMatchObject({
      stages: failedAt('the price price_1 is archived at Stripe'),
    })
    prices.delete('price_1')
    expect(await outcome({ productId: 'editor' })).toMatchObject({
      stages: failedAt('Stripe has no price price_1'),
    })
    standIns.stripe.health = 'cut'
    expect(await outcome({ productId: 'editor' })).toMatchObject({
      stages: failedAt('stripe does not respond'),
    })
    standIns.stripe.health = 'well'
    standIns.stripe.keys.delete(testKeys.secretKey)
    expect(await outcome({ productId: 'editor' })).toMatchObject({
      stages: failedAt('stripe rejected the request (key)'),
    })
  })
})

describe('the provider', () => {
  test('is the first connected one with a mapping of the product, else the first connected one', async () => {
    await connect('polar', { webhookSecret: 'secret' })
    expect(await outcome({ productId: 'editor' })).toMatchObject({ provider: 'polar' })
    await connect('gumroad')
    expect(await outcome({ productId: 'editor' })).toMatchObject({ provider: 'gumroad' })
    await configure('polar', { products: { p1: 'pro' } })
    expect(await outcome({ productId: 'editor' })).toMatchObject({ provider: 'polar' })
    expect(await outcome({ productId: 'editor', provider: 'gumroad' })).toMatchObject({ provider: 'gumroad' })
    expect((await asks('POST', '/v1/products/editor/test-mode', {})).status).toBe(200)
    expect(await outcome({ productId: 'editor' })).toMatchObject({ provider: 'polar' })
    await enterTestMode()
    expect(await outcome({ productId: 'editor' })).toMatchObject({ provider: 'stripe' })
  })

  test('returns 409 and says what to do when none is connected', async () => {
    const nothing = {
      status: 409,
      body: { error: expect.stringContaining('connect one') as string },
      retryAfter: undefined,
    }
    expect(await start({ productId: 'editor' })).toStrictEqual(nothing)
    await connect('gumroad')
    expect(await start({ productId: 'editor', provider: 'paddle' })).toStrictEqual(nothing)
    expect(await start({ productId: 'editor', provider: 'stripe' })).toStrictEqual(nothing)
    await asks('DELETE', '/v1/integrations/gumroad')
    expect(await start({ productId: 'editor' })).toStrictEqual(nothing)
  })
})

test.each([
  [{}, 400],
  [{ productId: 'editor', provider: 'ebay' }, 400],
  [{ productId: 'editor', color: 'red' }, 400],
  [{ productId: 'EDITOR' }, 400],
  [{ productId: 'absent' }, 404],
  [{ productId: 'editor', keyTypeId: 'absent' }, 404],
])('%j returns %i', async (body, status) => {
  await connect('gumroad')
  expect(await start(body)).toMatchObject({ status, body: { error: expect.any(String) as string } })
})

test.each(['tp_00000000000000000000000000', 'tp_', 'lic_00000000000000000000000000', 'x'])(
  'the test purchase id %s returns 404',
  async (id) => {
    expect(await asks('GET', `/v1/test-purchase/${id}`)).toMatchObject({
      status: 404,
      body: { error: 'test purchase not found' },
    })
  },
)

test('a suspended tenant cannot start a test purchase', async () => {
  await connect('gumroad')
  await suspendTenant(api.ledger.ports, tenant.tenantId, null, origin)
  expect(await start({ productId: 'editor' })).toMatchObject({ status: 403 })
})

describe('a run of a test purchase', () => {
  const events = async (id: string) =>
    (await eventsIn(api.ledger.ports.ledger, testPurchaseStream(id))).map((entry) =>
      entry.readable ? entry.event.type : entry.problem,
    )
  /** A test purchase whose process died before running it. */
  async function abandoned(): Promise<string> {
    await connect('gumroad')
    const { ports } = api.ledger
    const product = await ports.findProduct(tenant.tenantId, 'editor')
    if (!product) throw new Error('the product is there')
    const { testPurchaseId } = await startTestPurchase(ports, product, {}, origin)
    return testPurchaseId
  }
  const driver = (run: TestPurchaseDriver['checkout']): TestPurchaseDriver => ({
    checkout: run,
    webhook: run,
    license_minted: run,
  })
  const resume = (run: ReturnType<typeof createTestPurchaseRunner>, failures: unknown[] = []) =>
    resumeTestPurchases(api.ledger.ports, run, (t) => failures.push(t)).poll()

  test('is resumed by the process manager after a kill, once no other process runs it', async () => {
    const { ports, clock } = api.ledger
    const run = createTestPurchaseRunner(ports, createTestPurchaseDriver(ports, sendInProcess(api.app)))
    const id = await abandoned()
    await resume(run)
    expect(await events(id)).toHaveLength(1)
    clock.advance(11_000)
    await resume(run)
    clock.set(beginning)
    const whole = ['TestPurchaseStarted', 'StageStarted', 'StageFailed']
    expect(await events(id)).toStrictEqual(whole)
    await run(id, origin)
    expect(await events(id)).toStrictEqual(whole)
  })

  test('records each stage once when 10 processes run it concurrently', async () => {
    const id = await abandoned()
    let runs = 0
    const run = createTestPurchaseRunner(
      api.ledger.ports,
      driver(async () => ({ outcome: 'done', detail: `run ${runs++}` })),
    )
    await Promise.all(Array.from({ length: 10 }, () => run(id, origin)))
    expect(await events(id)).toStrictEqual([
      'TestPurchaseStarted',
      ...Array<string[]>(3).fill(['StageStarted', 'StageDone']).flat(),
    ])
    expect((await asks('GET', `/v1/test-purchase/${id}`)).body).toMatchObject({
      testPurchase: { status: 'succeeded' },
    })
  })

  test('reports an error and is retried', async () => {
    const id = await abandoned()
    const { ports, clock } = api.ledger
    let broken = true
    const run = createTestPurchaseRunner(
      ports,
      driver(async () => {
        if (broken) throw new Error('a mistake of ours')
        return { outcome: 'failed', detail: 'found out' }
      }),
    )
    const failures: unknown[] = []
    clock.advance(11_000)
    await resume(run, failures)
    expect(failures).toStrictEqual([{ id, error: new Error('a mistake of ours') }])
    broken = false
    await resume(run)
    clock.set(beginning)
    expect(await events(id)).toStrictEqual(['TestPurchaseStarted', 'StageStarted', 'StageFailed'])
  })

  test('does nothing for an id that was never started', async () => {
    const run = createTestPurchaseRunner(
      api.ledger.ports,
      createTestPurchaseDriver(api.ledger.ports, sendInProcess(api.app)),
    )
    await run('tp_00000000000000000000000000', origin)
    expect(await events('tp_00000000000000000000000000')).toStrictEqual([])
  })
})
