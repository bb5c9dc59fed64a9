/**
 * Guarantee: an administrator of an organization sees what is used of each of its licenses, page by page in their language, and downloads all
 * of it; its members and everybody else get the answer for what does not exist.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { wordsOf } from '../dashboard/forms.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { openTestPortal, type TestPortal } from './customer.ts'

const buyer = 'buyer@example.com'
const plain = 25

let portal: TestPortal
let metered: string
let path: string
/** Of a customer that is no organization. */
let other: string
beforeAll(async () => {
  portal = await openTestPortal()
  const { api, tenant } = portal
  const { ask } = api
  const { token } = tenant
  const meters = [
    { meter: 'calls', unit: 'calls', included: '10000', period: 'month', overage: 'allow' },
    { meter: 'minutes', unit: 'minutes', included: '60', period: 'month', overage: 'block' },
  ]
  const keyTypes = [{ name: 'Pro', deviceLimit: 3, meters }, { name: 'Plain' }]
  await makeProduct(ask, token, 'api', { name: 'Server', keyTypes })
  const customerId = await makeCustomer(ask, token, { email: buyer, name: 'Northwind' })
  path = `${portal.home}/organizations/${customerId}/usage`
  await ask('POST', `/v1/customers/${customerId}/organization`, { token })
  const people = [{ email: 'member@example.com' }]
  await ask('POST', `/v1/customers/${customerId}/people`, { token, body: { people, invite: false } })
  const minted = await mint(ask, token, 'api', { customerId, email: buyer })
  metered = minted.id
  const key = { product_id: 'api', license_key: minted.licenseKey }
  const use = { ...key, meter: 'calls', amount: '4200.5', idempotency_key: 'a' }
  expect(await ask('POST', '/v1/licenses/consume', { token, body: use })).toMatchObject({ status: 200 })
  const device = { tenant_id: tenant.tenantId, ...key, device_id: 'macbook' }
  expect(await ask('POST', '/v1/licenses/activate', { token, body: device })).toMatchObject({ status: 200 })
  api.ledger.clock.advance(1000)
  for (let n = 0; n < plain; n++) await mint(ask, token, 'api', { customerId, keyTypeId: 'plain' })
  other = (await mint(ask, token, 'api', { email: 'else@example.com' })).id
  await api.ledger.readModels.catchUp()
  await api.ledger.db.query(
    `insert into usage.device_telemetry (instance_id, license_id, seen_at)
     select instance_id, license_id, '2026-02-03T04:05:06Z' from devices where license_id = $1`,
    [metered],
  )
}, 60_000)
afterAll(() => portal.close())

const licensesIn = (text: string) => [...text.matchAll(/<h2><a href="[^"]*\/(lic_\w+)"/g)].map(([, id]) => id)

test('the pages have each license once, with its seats, when it was last seen and its meters', async () => {
  const client = await portal.signedIn(buyer)
  expect((await client.get(path.replace('/usage', ''))).text).toContain(`href="${path}"`)
  const first = await client.get(path)
  expect(licensesIn(first.text)).toHaveLength(plain)
  const next = /href="([^"]*\/usage\?after=lic_\w+)"/.exec(first.text)?.[1] ?? ''
  const second = await client.get(next)
  expect(licensesIn(second.text)).toStrictEqual([metered])
  const words = wordsOf(second)
  expect(words).toContain('1 of 3 devices Last seen 3 February 2026')
  expect(words).toContain('4,200.5 of 10,000 calls used')
  expect(words).toContain('0 of 60 minutes used')
  const german = wordsOf(await client.get(`${next}&language=de`))
  expect(german).toContain('Zuletzt gesehen 3. Februar 2026') // cspell:disable-line -- German
  expect(german).toContain('4.200,5 von 10.000 calls verbraucht') // cspell:disable-line -- German
})

test('after a license of others it begins at the start', async () => {
  const client = await portal.signedIn(buyer)
  const wanted = licensesIn((await client.get(path)).text)
  for (const after of [other, `lic_${'0'.repeat(26)}`, 'x'])
    expect(licensesIn((await client.get(`${path}?after=${after}`)).text)).toStrictEqual(wanted)
})

test('the download has a line for each meter, and for each license without one', async () => {
  const client = await portal.signedIn(buyer)
  const { text, headers } = await client.get(`${path}.csv`)
  expect(headers['content-type']).toContain('text/csv')
  const [head, ...lines] = text.trimEnd().split('\r\n')
  expect(head).toBe(
    'licenseId,product,plan,key,status,expiresAt,seatsUsed,seats,lastSeenAt,meter,shared,unit,used,remaining,overage,resetsAt',
  )
  expect(lines).toHaveLength(plain + 2)
  expect(new Set(lines.map((line) => line.split(',').length))).toStrictEqual(new Set([16]))
  const ofMetered = lines.filter((line) => line.startsWith(metered)).map((line) => line.split(','))
  expect(ofMetered.map((cells) => [...cells.slice(6, 10), ...cells.slice(11, 15)])).toStrictEqual([
    ['1', '3', '2026-02-03T04:05:06.000Z', 'calls', 'calls', '4200.5', '5799.5', '0'],
    ['1', '3', '2026-02-03T04:05:06.000Z', 'minutes', 'minutes', '0', '60', '0'],
  ])
})

test('its members and strangers get the answer for what does not exist', async () => {
  const shape = async (email: string, url: string) => {
    const { status, text } = await (await portal.signedIn(email)).get(url)
    return { status, text: text.replaceAll(/(?:cus|lic)_\w{26}/g, 'ID').replaceAll(/value="[^"]*"/g, '') }
  }
  for (const email of ['member@example.com', 'else@example.com']) {
    for (const file of ['', '.csv']) {
      const answer = await shape(email, `${path}${file}`)
      expect(answer.status).toBe(404)
      const absent = path.replace(/cus_\w+/, `cus_${'0'.repeat(26)}`)
      expect(answer).toStrictEqual(await shape(email, `${absent}${file}`))
    }
  }
})
