// cspell:ignore fehlgeschlagen Zahlung wird noch einmal versucht
/**
 * Guarantee: a renewal whose payment failed is told once: to webhooks that name the event, and to the holder by mail where the
 * product tells its customers of the end. It changes no license. No crash, no repetition and no further attempt tells it again.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { dayIn } from '../../src/domain/portal/languages.ts'
import { licenseStream } from '../../src/domain/streams.ts'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import { resumeSales } from '../../src/reactions/sales.ts'
import type { TestApi } from '../harness/api.ts'
import { pointWebhook } from '../harness/dispatch.ts'
import { beginning, eventsIn } from '../harness/ledger.ts'
import { openMailingApi, refused, taken } from '../harness/mailing.ts'
import { type StandIn, startStandIn } from '../harness/stand-in.ts'
import { Killed, mortal } from '../sales/mortal.ts'
import { month, purchase } from '../sales/notifications.ts'
import { openShop, type Shop } from '../sales/shop.ts'

const mailing = openMailingApi()
const { sent } = mailing
let api: TestApi
let shop: Shop
let receiver: StandIn
beforeAll(async () => {
  api = mailing.api
  receiver = await startStandIn(() => ({ status: 200, body: {} }))
})
afterAll(() => receiver.close())
beforeEach(async () => {
  mailing.answer = () => taken
  receiver.asked.length = 0
  api.ledger.clock.set(beginning)
  shop = await openShop(api)
  await change('PATCH', '/v1/products/editor', { expiringNotice: { days: [14] } })
  sent.length = 0
})

const change = (method: 'PATCH' | 'PUT', path: string, body: object) =>
  api.ask(method, path, { token: shop.token, body })
const failedMails = () => sent.filter(({ subject }) => /failed|fehlgeschlagen/.test(subject))
async function statuses(): Promise<string[]> {
  const all = { after: undefined, limit: 100 }
  const { items } = await listDeliveries(api.ledger.db, shop.tenantId, { channel: 'mail' }, all)
  return items
    .filter(({ event }) => event !== 'license.created')
    .map(({ event, status }) => `${event} ${status}`)
}
/** The failures that the licenses of all sales have recorded, by payment. */
async function recorded(): Promise<string[]> {
  const licenseIds = (await shop.sales()).flatMap(({ licenseId, others }) => [
    licenseId,
    ...others.map((item) => item.licenseId),
  ])
  const entries = await Promise.all(
    licenseIds.map((id) => eventsIn(api.ledger.ports.ledger, licenseStream(id))),
  )
  return entries
    .flat()
    .flatMap((entry) =>
      entry.readable && entry.event.type === 'LicenseRenewalFailed' ? [entry.event.data.paymentId] : [],
    )
}
const licenseOfOnlySale = async () => {
  const [sale] = await shop.sales()
  if (!sale) throw new Error('there is no sale')
  return { sale, license: await shop.licenseOf(sale) }
}

const { sold, renewed, failed, ended } = purchase('ada')

test('the holder and a webhook are told of the first attempt, and the license goes on as it was', async () => {
  await pointWebhook(api.ledger, shop.tenantId, `${receiver.url}/hook`, {
    events: ['license.renewal_failed'],
  })
  await change('PUT', '/v1/products/editor/mail', { replyTo: 'help@acme.example' })
  await shop.tell(sold())
  const before = (await licenseOfOnlySale()).license
  for (const attempt of [1, 2, 3]) {
    const next = attempt === 3 ? null : `2026-04-0${attempt * 2}T12:00:00.000Z`
    for (let again = 0; again < 2; again++) await shop.tell(failed('in_1', { attempt, nextAttemptAt: next }))
  }
  await expect.poll(statuses).toStrictEqual(['license.renewal_failed delivered'])
  const [mail, ...others] = failedMails()
  expect(others).toStrictEqual([])
  expect(mail).toMatchObject({
    to: { name: 'Ada Lovelace', email: 'ada@example.com' },
    replyTo: 'help@acme.example',
    subject: 'The payment to renew your license for Acme Editor failed',
  })
  const { license } = await licenseOfOnlySale()
  expect(mail?.text).toContain(`Your license works until ${dayIn('en', license.expiresAt ?? '')}.`)
  expect(mail?.text).toContain('payment method')
  const { saleThrough: _, ...after } = license
  expect(after).toMatchObject({ expiresAt: before.expiresAt, revokedAt: null, keyTypeId: before.keyTypeId })
  await expect.poll(() => receiver.asked.length).toBe(1)
  expect(JSON.parse(receiver.asked[0]?.body ?? '')).toMatchObject({
    event: 'license.renewal_failed',
    license_id: license.licenseId,
    customer_email: 'ada@example.com',
    sale_id: 'cs_ada',
    payment_id: 'in_1',
    attempt: 1,
    next_attempt_at: Date.parse('2026-04-02T12:00:00.000Z') / 1000,
    sequence: 1,
  })
})

test('the mail is in the language in which the customer bought, and says when the payment is tried again', async () => {
  const customer = { email: 'ada@example.com', language: 'de' } as const
  await shop.tell(sold({ customer }))
  await shop.tell(failed('in_1', { nextAttemptAt: '2026-04-04T12:00:00.000Z' }))
  await expect.poll(statuses).toStrictEqual(['license.renewal_failed delivered'])
  expect(failedMails().map(({ text }) => text)).toMatchObject([
    expect.stringContaining('Die Zahlung wird am 4. April 2026 noch einmal versucht.') as string,
  ])
})

test('a failed payment of the next period is told again, after the former one has succeeded', async () => {
  await shop.tell(sold())
  await shop.tell(failed('in_1'))
  await shop.tell(renewed('in_1', month.second))
  await shop.tell(failed('in_2', { periodEnd: month.third }))
  expect(await recorded()).toStrictEqual(['in_1', 'in_2'])
  const { license, sale } = await licenseOfOnlySale()
  expect(license.expiresAt).toBe(month.second)
  const { body } = await api.ask('GET', `/v1/sales/${sale.id}`, { token: shop.token })
  expect(body).toMatchObject({ sale: { notices: [{ code: 'renewal_failed' }] } })
  await shop.tell(renewed('in_2', month.third))
  const paid = await api.ask('GET', `/v1/sales/${sale.id}`, { token: shop.token })
  expect(paid.body).toMatchObject({ sale: { notices: [] } })
})

test.each<[string, (() => PaymentNotification)[]]>([
  ['that has succeeded before it was reported', [() => renewed('in_1', month.second), () => failed('in_1')]],
  ['of a subscription that has ended', [() => ended(month.first), () => failed('in_1')]],
])('a payment %s is not told', async (_, later) => {
  await shop.tell(sold())
  for (const notification of later) await shop.tell(notification())
  expect(await recorded()).toStrictEqual([])
  expect(await statuses()).toStrictEqual([])
})

test('a failure that is reported before its sale is told once the sale is there', async () => {
  await shop.tell(failed('in_1'))
  expect(await shop.sales()).toStrictEqual([])
  await shop.tell(sold())
  await expect.poll(statuses).toStrictEqual(['license.renewal_failed delivered'])
  expect(await recorded()).toStrictEqual(['in_1'])
})

test('a mail that was not taken before the payment succeeds is not sent again', async () => {
  await shop.tell(sold())
  mailing.answer = () => refused
  await shop.tell(failed('in_1'))
  await expect.poll(() => failedMails().length).toBe(1)
  await shop.tell(renewed('in_1', month.second))
  mailing.answer = () => taken
  api.ledger.clock.advance(60_000)
  await expect.poll(statuses).toStrictEqual(['license.renewal_failed abandoned'])
  expect(failedMails()).toHaveLength(1)
})

test('without the setting of the product the failure is recorded, and nothing is mailed', async () => {
  await change('PATCH', '/v1/products/editor', { expiringNotice: null })
  await shop.tell(sold())
  await shop.tell(failed('in_1'))
  expect(await recorded()).toStrictEqual(['in_1'])
  expect(await statuses()).toStrictEqual([])
})

test('of a sale of two licenses both record it, and the holder gets one mail', async () => {
  const item = (keyTypeId: string) => ({ productId: 'editor', keyTypeId })
  await shop.tell(sold({ sold: item('monthly'), more: [{ sold: item('forever'), quantity: 2 }] }))
  await shop.tell(failed('in_1'))
  expect(await recorded()).toStrictEqual(['in_1', 'in_1'])
  await expect.poll(statuses).toStrictEqual(['license.renewal_failed delivered'])
  expect(failedMails()).toHaveLength(1)
})

test('a test notification about a sale that is not known is ignored without a product in test mode', async () => {
  const tested = purchase('tested', { test: true })
  expect(await shop.tell(tested.failed('in_1'))).toMatchObject({
    outcome: 'ignored',
    reason: 'no_product_in_test_mode',
  })
})

test('a failure whose process is killed at any write is told once', async () => {
  const onFailure = ({ error }: { error: unknown }) => {
    throw error
  }
  let deaths = 0
  for (let dieAt = 1, died = true; died; dieAt++) {
    const bought = purchase(`k${dieAt}`)
    await shop.tell(bought.sold())
    const told = await shop.tell(bought.failed('in_1'), mortal(api.ledger, dieAt)).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Killed) return false
        throw error
      },
    )
    died = !told
    if (told) continue
    deaths++
    api.ledger.clock.advance(11_000)
    await api.ledger.readModels.catchUp()
    await resumeSales(api.ledger.ports, { onFailure }).poll()
    // Once the sale has recorded it, it is told even if the provider does not send it again.
    expect(await recorded()).toHaveLength(dieAt <= 3 ? dieAt - 1 : dieAt)
    // The provider got no answer, and sends it again.
    await shop.tell(bought.failed('in_1'))
  }
  const count = deaths + 1
  // The notification as received, the fact, the license and the record, each before and after it.
  expect(deaths).toBe(8)
  expect(await recorded()).toStrictEqual(Array.from({ length: count }, () => 'in_1'))
  await expect
    .poll(statuses, { timeout: 20_000 })
    .toStrictEqual(Array.from({ length: count }, () => 'license.renewal_failed delivered'))
  expect(new Set(failedMails().map(({ to }) => to.email)).size).toBe(count)
  expect(failedMails()).toHaveLength(count)
})
