/**
 * Guarantee: every list of the API can be read oldest first, in pages, as the exact reverse of newest first; a cursor
 * belongs to its order.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { scheduleDelivery } from '../../src/commands/deliveries.ts'
import { requestReplay } from '../../src/commands/replays.ts'
import { receiveNotification } from '../../src/sales/receive.ts'
import { recordIgnoredTest } from '../../src/usage/ignored-tests.ts'
import { makeReseller } from '../dashboard/members.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { pointWebhook } from '../harness/dispatch.ts'
import { beginning, origin } from '../harness/ledger.ts'
import { purchase } from '../sales/notifications.ts'
import { parkedSale } from '../sales/shop.ts'
import { makeCustomer, makeProduct, mint } from './samples.ts'

/** Lists that have no items here. */
const notFilled = /^\/v1\/customers\/\{id\}\/sales$|\/refusals/

const meter = { meter: 'calls', unit: 'calls', included: '9', period: 'license', overage: 'block' }

const team = {
  ...{ keyTypeId: 'team', name: 'Team', deviceLimit: 9 },
  namedSeats: { devicesPerPerson: 1, reassignEveryDays: 0 },
}
const People = z.object({ people: z.tuple([z.object({ id: z.string() })]) })

const Page = z.strictObject({ items: z.array(z.unknown()), nextCursor: z.string().nullable() })

let api: TestApi
let tenant: TestTenant
let licenseId: string
let teamLicenseId: string
let customerId: string

beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { ask, ledger } = api
  const { ports, clock } = ledger
  await pointWebhook(ledger, tenant.tenantId, 'https://public.example.com/hook')
  let firstKey: string | undefined
  for (let n = 0; n < 5; n++) {
    // Two of three differ in their ids alone.
    if (n % 3 === 0) clock.advance(1000)
    await makeProduct(ask, tenant.token, `product-${n}`, {
      keyTypes: [{ name: 'Pro', deviceLimit: 9, meters: [meter] }, team],
    })
    const customer = await makeCustomer(
      ask,
      tenant.token,
      n === 0 ? { meters: [{ ...meter, meter: 'shared' }] } : {},
    )
    await tenant.tokenWith('products:read')
    customerId ??= customer
    await makeReseller(ledger, tenant.tenantId)
    await ask('POST', `/v1/customers/${customerId}/notes`, {
      token: tenant.token,
      body: { text: `Note ${n}` },
    })
    await ask('POST', `/v1/customers/${customerId}/organization`, { token: tenant.token })
    const added = await ask('POST', `/v1/customers/${customerId}/people`, {
      token: tenant.token,
      body: { people: [{ email: `person-${n}@example.com` }], invite: false },
    })
    const { id, licenseKey } = await mint(ask, tenant.token, 'product-0', { customerId })
    licenseId ??= id
    firstKey ??= licenseKey
    teamLicenseId ??= (await mint(ask, tenant.token, 'product-0', { customerId, keyTypeId: 'team' })).id
    await ask('POST', `/v1/licenses/${teamLicenseId}/people`, {
      token: tenant.token,
      body: { personId: People.parse(added.body).people[0].id },
    })
    await parkedSale(ledger, tenant.tenantId, `parked-${n}`)
    await receiveNotification(
      ports,
      tenant.tenantId,
      purchase(`of-nobody-${n}`).refunded('re_1'),
      '{}',
      origin,
    )
    const delivered = { tenantId: tenant.tenantId, licenseId: id, licenseRevision: 0 }
    const toWebhook = {
      channel: 'webhook',
      endpointId: 'first',
      event: 'license.created',
      sequence: 1,
    } as const
    await scheduleDelivery(ports, { ...delivered, ...toWebhook }, origin)
    const mailed = { channel: 'mail', endpointId: null, event: 'license.key_mail', sequence: null } as const
    await scheduleDelivery(ports, { ...delivered, ...mailed }, origin)
    const replay = {
      from: beginning,
      to: undefined,
      events: undefined,
      endpointId: 'first',
      only: 'all',
    } as const
    await requestReplay(ports, tenant.tenantId, replay, ports.newId('whr'), origin)
    const ignored = { provider: 'gumroad', kind: 'sale', reason: 'gumroad_test', detail: null } as const
    const notificationId = `n${n}`
    await recordIgnoredTest(ports.db, tenant.tenantId, { ...ignored, notificationId }, ports.now())
    const body = { product_id: 'product-0', license_key: firstKey, device_id: `laptop-${n}` }
    await ask('POST', '/v1/licenses/activate', { token: tenant.token, body })
    for (const used of n === 0 ? ['calls', 'shared'] : [])
      for (const use of ['a', 'b', 'c'])
        await ask('POST', '/v1/licenses/consume', {
          token: tenant.token,
          body: { ...body, meter: used, amount: '1', idempotency_key: use },
        })
    await ask('POST', `/v1/licenses/${licenseId}/revoke`, { token: tenant.token })
  }
})
afterAll(() => api.close())

async function walk(path: string, query: string): Promise<unknown[]> {
  const seen: unknown[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { status, body } = await api.ask(
      'GET',
      `${path}?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`,
      { token: tenant.token },
    )
    expect({ path, status }).toStrictEqual({ path, status: 200 })
    const page: z.infer<typeof Page> = Page.parse(body)
    seen.push(...page.items)
    cursor = page.nextCursor
  }
  return seen
}

const idIn = (path: string): string => {
  if (path.startsWith('/v1/customers/')) return customerId
  return path.endsWith('/people') ? teamLicenseId : licenseId
}

test('every paged list can be read in both orders', async () => {
  const { paths } = z
    .looseObject({
      paths: z.record(
        z.string(),
        z.record(
          z.string(),
          z.looseObject({ parameters: z.array(z.looseObject({ name: z.string() })).default([]) }),
        ),
      ),
    })
    .parse(api.app.swagger())
  const lists = Object.entries(paths)
    .filter(([, { get }]) => get?.parameters.some(({ name }) => name === 'order'))
    .map(([path]) => path)
  expect(lists.length).toBeGreaterThan(8)
  for (const path of lists) {
    const url = path
      .replace('{id}', idIn(path))
      .replace('{meter}', path.startsWith('/v1/customers/') ? 'shared' : 'calls')
    const newest = await walk(url, 'limit=100')
    if (notFilled.test(path)) continue
    expect({ path, enough: newest.length >= 3 }).toStrictEqual({ path, enough: true })
    for (const query of ['limit=100&order=oldest', 'limit=2&order=oldest']) {
      expect({ path, query, items: await walk(url, query) }).toStrictEqual({
        path,
        query,
        items: newest.toReversed(),
      })
    }
    const cursorOf = async (query: string) => {
      const { body } = await api.ask('GET', `${url}?limit=1&${query}`, { token: tenant.token })
      return Page.parse(body).nextCursor ?? ''
    }
    const other = await cursorOf('order=oldest')
    for (const query of [`cursor=${other}`, `order=oldest&cursor=${await cursorOf('order=newest')}`]) {
      const answer = await api.ask('GET', `${url}?${query}`, { token: tenant.token })
      expect(answer).toMatchObject({
        status: 400,
        body: { error: 'this cursor does not belong to this list; start again without it' },
      })
    }
  }
})
