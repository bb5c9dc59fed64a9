/** Guarantee: where the product lets customers get files, a person answers the relays of their license in the portal. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { readCertificate } from '../../src/signing/certificate.ts'
import { wordsOf } from '../dashboard/forms.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { testRelay } from '../signing/test-relay.ts'
import { openTestPortal, type TestPortal } from './customer.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
  const { api, tenant } = portal
  const floatingSeats = { seatSeconds: 600, overdraft: null, scope: 'device', relays: { maxDays: 30 } }
  const keyTypes = [{ name: 'Farm', deviceLimit: 5, seatPolicy: 'floating', floatingSeats }]
  await makeProduct(api.ask, tenant.token, 'farm', { keyTypes, customerFiles: true })
  await makeProduct(api.ask, tenant.token, 'closed', { keyTypes })
})
afterAll(() => portal.close())

async function owner(productId: string, email: string) {
  const license = await mint(portal.api.ask, portal.tenant.token, productId, { email })
  const client = await portal.signedIn(email)
  const place = { tenantId: portal.tenant.tenantId, productId }
  return { ...license, client, place, path: `${portal.home}/licenses/${license.id}` }
}

test('a request is answered, the relay shown, and a release frees its seats', async () => {
  const { client, path, licenseKey, place } = await owner('farm', 'farm@example.com')
  expect((await client.get(path)).text).toContain(`${path}/relay`)
  const relay = testRelay(place, licenseKey, { seats: 3, name: 'Render farm' })
  expect(wordsOf(await client.post(`${path}/relay`, { request: 'hello' }))).toContain('no text of a relay')
  const answered = await client.post(`${path}/relay`, { request: relay.request() })
  expect(wordsOf(answered)).toContain('For Render farm, seats: 3, good until')
  const href = /href="data:application\/json,([^"]+)"/.exec(answered.text)?.[1] ?? ''
  const answer = z
    .object({ certificate: z.string(), keys: z.record(z.string(), z.string()) })
    .parse(JSON.parse(decodeURIComponent(href)))
  const certificate = readCertificate(answer.certificate, answer.keys, place)
  expect(certificate).toMatchObject({ seats: 3, pk: relay.publicKey })
  relay.take(certificate?.relay_id ?? '')
  expect(wordsOf(await client.get(path))).toContain('Render farm Seats: 3, until')
  const many = testRelay(place, licenseKey, { seats: 3 })
  expect(wordsOf(await client.post(`${path}/relay`, { request: many.request() }))).toContain(
    'Fewer seats are free',
  )
  expect(await client.post(`${path}/relay`, { request: relay.release() })).toMatchObject({
    status: 303,
    location: `${path}?done=relayReleased`,
  })
  expect(wordsOf(await client.get(`${path}?done=relayReleased`))).toContain(
    'The seats of the relay are free.',
  )
  expect(wordsOf(await client.get(path))).not.toContain('Render farm Seats')
})

test('a long report fits', async () => {
  const { client, path, licenseKey, place } = await owner('farm', 'long@example.com')
  const relay = testRelay(place, licenseKey)
  relay.report(
    ...Array.from(
      { length: 20_000 },
      (_, index) => [29_000_000 + index, 1, 1, 0] as [number, number, number, number],
    ),
  )
  await client.get(`${path}/relay`)
  expect((await client.post(`${path}/relay`, { request: relay.request() })).status).toBe(200)
})

test('nothing is offered for another product, and nothing for another person’s license', async () => {
  const closed = await owner('closed', 'closed@example.com')
  expect((await closed.client.get(closed.path)).text).not.toContain(`${closed.path}/relay`)
  expect((await closed.client.get(`${closed.path}/relay`)).status).toBe(404)
  const mine = await owner('farm', 'mine@example.com')
  expect((await closed.client.get(`${mine.path}/relay`)).status).toBe(404)
})
