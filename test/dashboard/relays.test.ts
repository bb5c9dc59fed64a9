/**
 * Guarantee: a member answers relays on the page of their license, which shows what seats they take, until when, and which of them
 * was copied.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { readCertificate } from '../../src/signing/certificate.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { testRelay } from '../signing/test-relay.ts'
import { type Client, clientOf } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let support: Client
let place: { tenantId: string; productId: string }
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  place = { tenantId: tenant.tenantId, productId: 'farm' }
  const seats = { seatSeconds: 600, overdraft: null, scope: 'device' }
  const shared = { deviceLimit: 5, seatPolicy: 'floating' }
  await makeProduct(api.ask, tenant.token, 'farm', {
    keyTypes: [
      { name: 'Farm', ...shared, floatingSeats: { ...seats, relays: { maxDays: 30 } } },
      { name: 'Plain', ...shared, floatingSeats: seats },
    ],
  })
  support = clientOf(api.app)
  await support.signIn(await makeMember(api.ledger, tenant.tenantId, 'support'))
})
afterAll(() => api.close())

const page = async (id: string) => wordsOf(await support.get(`/dashboard/licenses/${id}`))
async function change(id: string, name: string, filled: Record<string, string>) {
  const at = `/dashboard/licenses/${id}/change/${name}`
  const form = await support.get(at)
  expect(form.status).toBe(200)
  return support.post(at, { ...fieldsOf(form), ...filled })
}
const Shown = z.object({ relays: z.array(z.object({ relayId: z.string() })) })

test('a relay is enrolled from its request, shown, found to be copied or released', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'farm', { keyTypeId: 'farm' })
  expect(await page(id)).not.toContain('Relays')
  const relay = testRelay(place, licenseKey, { seats: 3, name: 'Render farm' })
  const wrong = await change(id, 'relay', { request: 'hello' })
  expect(wrong.status).toBe(422)
  expect(wordsOf(wrong)).toContain('This is no request of a relay for this product.')
  expect(wordsOf(await change(id, 'relay', { request: relay.request(), days: '31' }))).toContain(
    'The key type does not allow so many days.',
  )
  const answered = await change(id, 'relay', { request: relay.request(), reason: 'the new studio' })
  expect(wordsOf(answered)).toContain('For Render farm with 3 seats, good until')
  const href = /href="data:application\/json,([^"]+)"/.exec(answered.text)?.[1] ?? ''
  const answer = z
    .object({ certificate: z.string(), keys: z.record(z.string(), z.string()) })
    .parse(JSON.parse(decodeURIComponent(href)))
  expect(readCertificate(answer.certificate, answer.keys, place)).toMatchObject({ seats: 3 })
  const shown = await page(id)
  expect(shown).toMatch(/0 of 5 in use ?, 2 free, 3 at relays/)
  expect(shown).toMatch(/Render farm rel_\w+ in use 3/)
  expect(shown).toMatch(/Reason: the new studio .* Relay “Render farm” enrolled with 3 seats, until/)
  const many = testRelay(place, licenseKey, { seats: 4 })
  expect(wordsOf(await change(id, 'relay', { request: many.request() }))).toContain(
    'Fewer seats are free than the relay asks for.',
  )
  const { body } = await api.ask('GET', `/v1/licenses/${id}/relays`, { token: tenant.token })
  relay.take(Shown.parse(body).relays[0]?.relayId ?? '')
  const copy = relay.copy()
  relay.work('a')
  expect((await change(id, 'relay', { request: relay.request() })).status).toBe(200)
  copy.work('b')
  expect(wordsOf(await change(id, 'relay', { request: copy.request() }))).toContain('The relay was copied')
  expect(await page(id)).toMatch(/Render farm rel_\w+ copied found on/)
  expect(wordsOf(await change(id, 'release-relay', { release: copy.release() }))).toContain(
    'a copy may still give out its seats',
  )
})

test('a relay gives its seats back', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'farm', { keyTypeId: 'farm' })
  const relay = testRelay(place, licenseKey)
  await change(id, 'relay', { request: relay.request() })
  const { body } = await api.ask('GET', `/v1/licenses/${id}/relays`, { token: tenant.token })
  relay.take(Shown.parse(body).relays[0]?.relayId ?? '')
  expect((await change(id, 'release-relay', { release: relay.release() })).status).toBe(303)
  expect(await page(id)).toMatch(/Farm rel_\w+ released 2, none taken/)
})

test('relays are offered only where the key type allows them', async () => {
  const { id } = await mint(api.ask, tenant.token, 'farm', { keyTypeId: 'plain' })
  expect((await support.get(`/dashboard/licenses/${id}`)).text).not.toContain('/change/relay')
})
