/**
 * Guarantee: customers see what they paid for, and administrators of an organization what brought its licenses; nobody else does, no
 * member and nobody who was given a gift. A link leads to the provider's own invoice, as long as the provider has one.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import { receiveNotification } from '../../src/sales/receive.ts'
import { goodKey, type ProviderStandIns, startProviders } from '../harness/providers.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { month, purchase } from '../sales/notifications.ts'
import { openTestPortal, type TestPortal } from './customer.ts'

let standIns: ProviderStandIns
let portal: TestPortal
beforeAll(async () => {
  standIns = await startProviders()
  portal = await openTestPortal({ providers: standIns.settings })
  await makeProduct(portal.api.ask, portal.tenant.token, 'editor', { keyTypes: [{ name: 'Pro' }] })
  await send('POST', '/v1/integrations/polar/connect', { webhookSecret: 'polar_whs_1', apiKey: goodKey })
})
afterAll(async () => {
  await portal.close()
  await standIns.close()
})
beforeEach(() => {
  standIns.polar.health = 'well'
  portal.api.ledger.clock.advance(2 * 3_600_000)
})

async function send(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
  const { token } = portal.tenant
  const answer = await portal.api.ask(method, path, { token, ...(body && { body }) })
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer.body
}

const tell = (notification: PaymentNotification) =>
  receiveNotification(portal.api.ledger.ports, portal.tenant.tenantId, notification, '{}', {
    requestId: 'req_notification',
    actor: `provider:${notification.provider}`,
  })

const Sales = z.object({ items: z.array(z.object({ id: z.string(), saleId: z.string() })) })
const saleOf = async (saleId: string) =>
  Sales.parse(await send('GET', '/v1/sales?limit=100')).items.find((sale) => sale.saleId === saleId)?.id ?? ''

const at = (path: string) => `${portal.home}${path}`

test('a customer sees their payments, and is led to the invoice of each', async () => {
  const of = purchase('ada', { provider: 'polar', orderNumber: 'ACME-0001', productName: 'Editor Pro' })
  await tell(of.sold())
  await tell(of.renewed('order_2', month.second))
  const id = await saleOf('cs_ada')
  const ada = await portal.signedIn('ada@example.com')
  expect((await ada.get(portal.home)).text).toContain(`${portal.home}/purchases`)
  const { text } = await ada.get(at('/purchases'))
  for (const words of ['Editor Pro', 'ACME-0001', '$49.00 on 1 March 2026', '1 May 2026'])
    expect(text.replaceAll('US$', '$')).toContain(words)
  const invoice = at(`/purchases/${id}/invoice`)
  expect(text).toContain(`href="${invoice}"`)
  expect(text).toContain(`href="${invoice}?payment=order_2"`)
  expect((await ada.get(invoice)).location).toBe('https://polar-invoices.example/cs_ada.pdf')
  expect((await ada.get(`${invoice}?payment=order_2`)).location).toBe(
    'https://polar-invoices.example/order_2.pdf',
  )
  expect((await ada.get(`${invoice}?payment=order_3`)).status).toBe(404)
})

test('without an invoice, or an answer of the provider, the page says what to do', async () => {
  await tell(purchase('bob', { provider: 'polar', saleId: 'order_none' }).sold())
  const bob = await portal.signedIn('bob@example.com')
  const invoice = at(`/purchases/${await saleOf('order_none')}/invoice`)
  for (const health of ['well', 503, 'cut'] as const) {
    standIns.polar.health = health
    const { status, location } = await bob.get(invoice)
    expect([status, location]).toStrictEqual([303, at('/purchases?done=invoiceUnavailable')])
  }
  expect((await bob.get(at('/purchases?done=invoiceUnavailable'))).text).toContain(
    'There is no invoice to show',
  )
})

test('a provider that is not connected has no link', async () => {
  await tell(purchase('carl', { provider: 'paddle' }).sold())
  const carl = await portal.signedIn('carl@example.com')
  const { text } = await carl.get(at('/purchases'))
  expect(text).toContain('cs_carl')
  expect(text).not.toContain('/invoice"')
})

test('what a gift cost is shown to its giver alone', async () => {
  const giver = { email: 'giver@example.com', name: 'Grace' }
  const gift = purchase('dora', { provider: 'polar', customer: { email: 'dora@example.com' }, giver })
  await tell(gift.sold())
  // Whoever has no license has no place in the portal.
  await mint(portal.api.ask, portal.tenant.token, 'editor', giver)
  const [given, gave] = [await portal.signedIn('dora@example.com'), await portal.signedIn(giver.email)]
  const invoice = at(`/purchases/${await saleOf('cs_dora')}/invoice`)
  expect((await given.get(at('/purchases'))).text).not.toContain('cs_dora')
  expect((await given.get(invoice)).status).toBe(404)
  expect((await gave.get(at('/purchases'))).text).toContain('cs_dora')
  expect((await gave.get(invoice)).location).toBe('https://polar-invoices.example/cs_dora.pdf')
})

const License = z.object({ license: z.object({ customerId: z.string() }) })

test('administrators of an organization see what brought its licenses; members and others see nothing', async () => {
  await tell(purchase('team', { provider: 'polar' }).sold())
  const own = purchase('own', { provider: 'polar', customer: { email: 'team@example.com', name: 'Team' } })
  const { items } = Sales.parse(await send('GET', '/v1/sales?limit=100'))
  const sold = z
    .object({ sale: z.object({ licenseId: z.string() }) })
    .parse(await send('GET', `/v1/sales/${items[0]?.id}`)).sale
  const { customerId } = License.parse(await send('GET', `/v1/licenses/${sold.licenseId}`)).license
  await send('POST', `/v1/customers/${customerId}/organization`)
  const people = [
    { email: 'second@example.com', role: 'administrator' },
    { email: 'member@example.com', role: 'member' },
  ]
  await send('POST', `/v1/customers/${customerId}/people`, { people, invite: false })
  // Bought at the same address, and not for the organization.
  await tell(own.sold())
  const ownSale = Sales.parse(await send('GET', '/v1/sales?limit=100')).items.find(
    ({ saleId }) => saleId === 'cs_own',
  )
  const other = z
    .object({ sale: z.object({ licenseId: z.string() }) })
    .parse(await send('GET', `/v1/sales/${ownSale?.id}`)).sale
  const elsewhere = z
    .object({ customer: z.object({ id: z.string() }) })
    .parse(await send('POST', '/v1/customers', { email: 'elsewhere@example.com' })).customer.id
  await send('POST', `/v1/customers/${elsewhere}/link-license`, { licenseId: other.licenseId })

  const path = at(`/organizations/${customerId}/purchases`)
  const invoice = `${path}/${await saleOf('cs_team')}/invoice`
  const second = await portal.signedIn('second@example.com')
  const { text } = await second.get(path)
  expect(text).toContain('cs_team')
  expect(text).not.toContain('cs_own')
  expect((await second.get(invoice)).location).toBe('https://polar-invoices.example/cs_team.pdf')
  expect((await second.get(`${path}/${ownSale?.id}/invoice`)).status).toBe(404)
  expect((await second.get(at(`/purchases/${await saleOf('cs_team')}/invoice`))).status).toBe(404)
  await mint(portal.api.ask, portal.tenant.token, 'editor', { email: 'stranger@example.com' })
  for (const email of ['member@example.com', 'stranger@example.com']) {
    const client = await portal.signedIn(email)
    expect([(await client.get(path)).status, (await client.get(invoice)).status]).toStrictEqual([404, 404])
  }
  expect((await portal.visitor().get(path)).location).toBe(at('/sign-in'))
})
