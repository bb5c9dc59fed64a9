/**
 * Guarantee: in the portal a customer sees what was used of their license, what is left, when it starts again and until when it lasts, in their
 * language; nobody else sees it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { wordsOf } from '../dashboard/forms.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { openTestPortal, type TestPortal } from './customer.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
  await makeProduct(portal.api.ask, portal.tenant.token, 'api', {
    keyTypes: [
      {
        name: 'Pro',
        meters: [
          { meter: 'calls', unit: 'calls', included: '10000', period: 'month', overage: 'allow' },
          { meter: 'minutes', unit: 'minutes', included: '0', period: 'license', overage: 'block' },
        ],
      },
      { name: 'None' },
    ],
  })
})
afterAll(() => portal.close())

const post = async (path: string, body: object) => {
  const answer = await portal.api.ask('POST', path, { token: portal.tenant.token, body })
  expect(answer.status).toBeLessThan(300)
}

test('the page of a license shows its use in English and German, without technical words', async () => {
  const { api, tenant } = portal
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'api', { email: 'ada@example.com' })
  const use = (meter: string, amount: string, idempotency_key: string, more: object = {}) =>
    post(`/v1/licenses/${'seconds' in more ? 'hold' : 'consume'}`, {
      ...{ product_id: 'api', license_key: licenseKey, meter, amount, idempotency_key, ...more },
    })
  const credit = { meter: 'minutes', amount: '500', expiresAt: '2027-11-30T23:59:59Z', idempotencyKey: 'one' }
  await post(`/v1/licenses/${id}/credits`, credit)
  await use('calls', '4200.5', 'a')
  api.ledger.clock.advance(2 * 86_400_000)
  await use('minutes', '100.25', 'b')
  await use('minutes', '12', 'c', { seconds: 600 })
  await api.ledger.readModels.catchUp()

  const client = await portal.signedIn('ada@example.com')
  const path = `${portal.home}/licenses/${id}`
  const english = await client.get(path)
  const words = wordsOf(english)
  expect(words).toContain('4,200.5 of 10,000 calls used Left 5,799.5 calls Starts again on 1 April 2026')
  expect(words).toContain('At this rate Used up on 6 March 2026')
  expect(words).toContain('100.25 of 500 minutes used Left 387.75 minutes')
  expect(words).toContain('Reserved for work under way 12 minutes')
  expect(words).toContain('Of it prepaid 399.75 minutes, to be used by 30 November 2027')
  expect(english.text.match(/<figure>/g)).toHaveLength(2)
  expect(english.text).toContain('<title>1 March 2026: 4,200.5</title>')
  for (const technical of ['meter', 'overage', 'credit', 'hold', 'UTC'])
    expect(words.toLowerCase()).not.toMatch(new RegExp(`\\b${technical}s?\\b`))

  // cspell:disable -- German
  const german = wordsOf(await client.get(`${path}?language=de`))
  expect(german).toContain(
    '4.200,5 von 10.000 calls verbraucht Übrig 5.799,5 calls Beginnt neu am 1. April 2026',
  )
  expect(german).toContain('Bei gleichem Verbrauch Aufgebraucht am 6. März 2026')
  // cspell:enable

  const stranger = await mint(api.ask, tenant.token, 'api', { email: 'bob@example.com', keyTypeId: 'none' })
  const bob = await portal.signedIn('bob@example.com')
  expect((await bob.get(path)).status).toBe(404)
  expect(wordsOf(await bob.get(`${portal.home}/licenses/${stranger.id}`))).not.toContain('Usage')
})
