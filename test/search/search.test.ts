/**
 * Guarantee: every identifier that a customer may name leads to the license, within one workspace. A pasted key is
 * hashed before any query, so that it cannot appear in a database log.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { maskedOrder } from '../../src/portal/page.ts'
import { type Found, maxFound, search } from '../../src/search/search.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { commandLicense } from '../harness/ledger.ts'
import { makeCustomer, mint } from '../http/samples.ts'
import { purchase } from '../sales/notifications.ts'
import { openShop, type Shop } from '../sales/shop.ts'

const Minted = z.object({ license: z.looseObject({ id: z.string() }) })

let api: TestApi
let shop: Shop
let stranger: Shop
beforeAll(async () => {
  api = await openTestApi()
  shop = await openShop(api)
  stranger = await openShop(api)
})
afterAll(() => api.close())

const find = (text: string, { tenantId } = shop) => search(api.ledger.ports, tenantId, text)

/** The results as short texts, such as `license <id> by key`. */
function inWords({ licenses, devices, sales, customers, more }: Found): string[] {
  return [
    ...licenses.map(({ license, by }) => `license ${license.licenseId} by ${by}`),
    ...devices.map(({ license, seat, by }) => `device ${seat.deviceId} of ${license.licenseId} by ${by}`),
    ...sales.map(({ sale, by }) => `sale ${sale.id} by ${by}`),
    ...customers.map(({ customer, by }) => `customer ${customer.customerId} by ${by}`),
    ...(more ? ['and more'] : []),
  ]
}
const found = async (text: string, owner = shop) => inWords(await find(text, owner))

const activate = (licenseId: string, deviceId: string, name: string) =>
  commandLicense(api.ledger, licenseId, {
    type: 'ActivateDevice',
    deviceId,
    instanceId: api.ledger.ports.newId('ins'),
    installId: null,
    name,
    platform: null,
    at: api.ledger.clock.now().toISOString(),
  })

test('a pasted key is found, also a former one, and only in its own workspace', async () => {
  const { id, licenseKey } = await mint(api.ask, shop.token, 'editor')
  const remint = await api.ask('POST', `/v1/licenses/${id}/remint`, { token: shop.token, body: {} })
  expect(remint.status).toBe(200)
  expect(await found(`  ${licenseKey.toLowerCase()} `)).toStrictEqual([`license ${id} by former key`])
  expect(await found(licenseKey.replaceAll('-', ' '))).toStrictEqual([`license ${id} by former key`])
  expect(await found(licenseKey, stranger)).toStrictEqual([])
})

test('no text that looks like a license key reaches the database in clear', async () => {
  const { licenseKey } = await mint(api.ask, stranger.token, 'editor')
  const query = vi.spyOn(api.ledger.db, 'query')
  const last = licenseKey.at(-1) === 'A' ? 'B' : 'A'
  for (const text of [licenseKey, licenseKey.toLowerCase(), `${licenseKey.slice(0, -1)}${last}`]) {
    expect(await found(text)).toStrictEqual([])
  }
  const queries = query.mock.calls
  query.mockRestore()
  expect(queries).not.toStrictEqual([])
  expect(JSON.stringify(queries).toUpperCase()).not.toContain(licenseKey.slice(0, 10))
})

test('the end of a key is found as it is displayed or read out', async () => {
  const { id, licenseKey } = await mint(api.ask, shop.token, 'editor')
  const ending = licenseKey.slice(-7).replaceAll('-', '').slice(0, -1).slice(-4)
  for (const text of [
    ending,
    ending.toLowerCase(),
    ending.replaceAll('0', 'O'),
    `…${ending}`,
    `EDITOR…${ending}`,
  ]) {
    expect(await found(text)).toContain(`license ${id} by key ending`)
  }
  expect(await found(ending, stranger)).toStrictEqual([])
})

test('the end of a key is found as it is read from the whole key', async () => {
  const { id, licenseKey } = await mint(api.ask, shop.token, 'editor')
  for (const text of [
    licenseKey.slice(-6),
    licenseKey.slice(-7).toLowerCase(),
    `…${licenseKey.slice(-13)}`,
  ]) {
    expect(await found(text)).toStrictEqual([`license ${id} by key ending`])
    expect(await found(text, stranger)).toStrictEqual([])
  }
})

test('an email address leads to the licenses, sales and customers of its person', async () => {
  const email = 'by-mail@example.com'
  const customer = await makeCustomer(api.ask, shop.token, { email })
  const { sold } = purchase('by-mail')
  await shop.tell(sold())
  const [sale] = await shop.sales()
  if (!sale) throw new Error('nothing was sold')
  const linked = await mint(api.ask, shop.token, 'editor', { customerId: customer })
  expect((await found(' By-Mail@Example.com')).toSorted()).toStrictEqual(
    [
      `license ${sale.licenseId} by e-mail`,
      `license ${linked.id} by e-mail`,
      `sale ${sale.id} by e-mail`,
      `customer ${customer} by e-mail`,
    ].toSorted(),
  )
  expect(await found(email, stranger)).toStrictEqual([])
  expect(await found('nobody@example.com')).toStrictEqual([])
  expect(await found(customer)).toStrictEqual([`customer ${customer} by customer id`])
  expect(await found(customer, stranger)).toStrictEqual([])
})

test("a sale is found by the provider's id and by keyledger's id, with its license", async () => {
  const { sold } = purchase('by-sale')
  const { saleId } = sold()
  await shop.tell(sold())
  const sale = (await shop.sales()).find((one) => one.saleId === saleId)
  if (!sale) throw new Error('nothing was sold')
  const beginnings = [saleId.slice(0, -1), saleId.slice(0, -1).toUpperCase()]
  for (const text of beginnings) expect(await found(text)).toContain(`sale ${sale.id} by sale id`)
  for (const text of beginnings) expect(await found(text, stranger)).toStrictEqual([])
  expect(await found(saleId.slice(0, 2))).toStrictEqual([])
  for (const text of [saleId, sale.id]) {
    expect(await found(text)).toStrictEqual([
      `license ${sale.licenseId} by sale id`,
      `sale ${sale.id} by sale id`,
    ])
    expect(await found(text, stranger)).toStrictEqual([])
  }
})

test('an order number is found by any four characters of it, as pages and mails show it', async () => {
  const saleId = 'cs_live_a1Qn7vRbT4zXw9kLmP'
  await shop.tell(
    purchase('by-order').sold({
      saleId,
      orderNumber: '524459935',
      links: ['payment:pi_3PqZ8dKs', 'gift:editor.4900.1.ab12'],
    }),
  )
  const sale = (await shop.sales()).find((one) => one.saleId === saleId)
  if (!sale) throw new Error('nothing was sold')
  const both = (by: string) => [`license ${sale.licenseId} by ${by}`, `sale ${sale.id} by ${by}`]
  const mailed = `…${saleId.slice(-8)}`
  for (const text of [maskedOrder(saleId), mailed, 'RBT4', 'live_a1qn', 'pi_3PqZ8dKs', 'qz8d']) {
    expect(await found(text)).toStrictEqual(both('sale id'))
    expect(await found(text, stranger)).toStrictEqual([])
  }
  for (const text of ['524459935', '#524459935', '4599', '••••9935']) {
    expect(await found(text)).toStrictEqual(both('order number'))
    expect(await found(text, stranger)).toStrictEqual([])
  }
  for (const text of ['459', '4490', 'editor.4900', '9k']) expect(await found(text)).toStrictEqual([])
})

test('a short order number is found whole', async () => {
  await shop.tell(
    purchase('by-number').sold({ orderNumber: '7', provider: 'lemonsqueezy', sold: { productId: 'editor' } }),
  )
  expect((await find('7')).sales.map(({ sale }) => sale.orderNumber)).toStrictEqual(['7'])
  expect((await find('#7')).sales).toHaveLength(1)
})

test('an imported license is found by its order number and its id elsewhere, until its metadata change', async () => {
  const imported = await api.ask('POST', '/v1/licenses/import', {
    token: shop.token,
    body: {
      productId: 'editor',
      licenses: [
        {
          licenseKey: 'an-imported-key-4711',
          metadata: { orderNumber: 'R-90817263', externalId: 'EXT-55aa66bb' },
        },
      ],
    },
  })
  const { results } = z.object({ results: z.array(z.object({ id: z.string() })) }).parse(imported.body)
  const id = results[0]?.id ?? ''
  for (const text of ['R-90817263', '0817', '55AA66'])
    expect(await found(text)).toStrictEqual([`license ${id} by order number`])
  expect(await found('0817', stranger)).toStrictEqual([])
  const edited = await api.ask('PATCH', `/v1/licenses/${id}`, {
    token: shop.token,
    body: { metadata: { orderNumber: 'R-1111' } },
  })
  expect(edited.status).toBe(200)
  expect(await found('0817')).toStrictEqual([])
  expect(await found('1111')).toStrictEqual([`license ${id} by order number`])
})

test('every license of a purchase of several items is found by its order number', async () => {
  const { sold } = purchase('by-items')
  await shop.tell(sold({ orderNumber: '88112233', more: [{ sold: { productId: 'editor' }, quantity: 1 }] }))
  const { licenses } = await find('88112233')
  expect(licenses).toHaveLength(2)
})

test('a device is found by its id, its instance id and the beginning of its name', async () => {
  const { id } = await mint(api.ask, shop.token, 'editor')
  await activate(id, 'machine-7', "Ada's MacBook % Pro")
  const device = (by: string) => [`device machine-7 of ${id} by ${by}`]
  const [{ seat } = { seat: undefined }] = (await find('machine-7')).devices
  for (const text of ['machine-7', 'mac', 'mach'])
    expect(await found(text)).toStrictEqual(device('device id'))
  expect(await found(seat?.instanceId ?? '')).toStrictEqual(device('device id'))
  expect(await found("ada's mac")).toStrictEqual(device('device name'))
  expect(await found("Ada's MacBook % Pro")).toStrictEqual(device('device name'))
  for (const text of ['%', 'macbook', "ada's macbook _ pro"]) expect(await found(text)).toStrictEqual([])
  for (const text of ['machine-7', seat?.instanceId ?? '', "ada's"]) {
    expect(await found(text, stranger)).toStrictEqual([])
  }
})

test('a license is found by its id, and by the id of a request that wrote to it', async () => {
  const minted = await api.ask('POST', '/v1/licenses', {
    token: shop.token,
    body: { productId: 'editor' },
  })
  const { license } = Minted.parse(minted.body)
  expect(await found(license.id)).toStrictEqual([`license ${license.id} by license id`])
  const requestId = String(minted.headers['request-id'])
  expect(await found(requestId)).toStrictEqual([`license ${license.id} by request id`])
  for (const text of [license.id, requestId]) expect(await found(text, stranger)).toStrictEqual([])
})

test('of many results the first are shown, with a note that there are more', async () => {
  const { id } = await mint(api.ask, shop.token, 'editor', { deviceLimit: 100 })
  for (let device = 0; device <= maxFound; device++) await activate(id, `twin-${device}`, 'Twin')
  const { devices, more } = await find('twin')
  expect(devices).toHaveLength(maxFound)
  expect(more).toBe(true)
})

test('any text is answered', async () => {
  for (const text of [
    '',
    ' ',
    '\0',
    '\ud800',
    'x'.repeat(10_000),
    "'; drop table licenses",
    '…',
    '@',
    '%%',
    '\u{10ffff}',
  ]) {
    expect(await found(text)).toStrictEqual([])
  }
})
