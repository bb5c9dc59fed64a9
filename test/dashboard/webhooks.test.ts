/**
 * Guarantee: members who manage connections add, change, pause, test and delete webhook endpoints on pages, by the same
 * rules as over the API, and replay their deliveries. A form that is wrong is shown again with what was typed; one that
 * is sent twice acts once.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { scheduleDeliveries } from '../../src/reactions/deliveries.ts'
import { runReplays } from '../../src/reactions/replays.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { addTestEndpoint, pointWebhook, sellLicense, startDispatch } from '../harness/dispatch.ts'
import { beginning, commandLicense } from '../harness/ledger.ts'
import { type StandIn, startStandIn } from '../harness/stand-in.ts'
import { type Client, clientOf } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let owner: Client
let receiver: StandIn
beforeAll(async () => {
  api = await openTestApi()
  receiver = await startStandIn(() => ({ status: 202, body: { taken: 'yes' } }))
  tenant = await makeTenant(api.ledger)
  owner = clientOf(api.app)
  await owner.signIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
})
afterAll(async () => {
  await receiver.close()
  await api.close()
})

const path = '/dashboard/webhooks'
const url = 'https://hooks.example.com/keyledger'
const endpoints = async () => {
  const { body } = await api.ask('GET', '/v1/webhook-endpoints', { token: tenant.token })
  return z.object({ items: z.array(z.looseObject({ id: z.string() })) }).parse(body).items
}
const operationIn = async (page: string) => fieldsOf(await owner.get(page)).operation ?? ''

test('an endpoint is added, once for a form that is sent twice, and its secret is shown', async () => {
  expect(wordsOf(await owner.get(path))).toContain('No webhook endpoints yet')
  const operation = await operationIn(`${path}/new`)
  const fields = {
    operation,
    url,
    description: 'Fulfillment',
    events: ['license.created', 'license.revoked'],
  }
  const made = await owner.post(path, fields)
  expect(made.text).toMatch(/value="whsec_[^"]+"/)
  expect((await owner.post(path, fields)).status).toBe(200)
  expect(await endpoints()).toMatchObject([
    { id: 'first', url, description: 'Fulfillment', events: ['license.created', 'license.revoked'] },
  ])
  const shown = wordsOf(await owner.get(path))
  expect(shown).toMatch(/Fulfillment no deliveries yet .*whsec_…/)
  expect(await owner.get('/dashboard/settings/webhook')).toMatchObject({ status: 303, location: path })
})

test.each([
  ['http://hooks.example.com', 'Enter a URL that starts with https://.'],
  ['https://127.0.0.1/x', 'Enter a URL whose host has public addresses only.'],
  ['https://user:pass@example.com/x', 'Leave the user name and the password out of the URL'],
  ['ftp://example.com', 'Enter a valid URL that starts with https://.'],
  ['nothing', 'Enter a valid URL that starts with https://.'],
])('the URL %s is refused beside its field, and what was typed is kept', async (bad, problem) => {
  const fields = { url: bad, description: 'Typed before', events: ['license.created'] }
  const answer = await owner.post(path, { operation: await operationIn(`${path}/new`), ...fields })
  expect(answer.status).toBe(422)
  expect(answer.text).toContain('Typed before')
  expect(/id="url-error">([^<]*)/.exec(answer.text)?.[1]).toContain(problem)
})

test('an endpoint without events is refused beside them', async () => {
  const answer = await owner.post(path, { operation: await operationIn(`${path}/new`), url })
  expect(answer.status).toBe(422)
  expect(/id="events-error">([^<]*)/.exec(answer.text)?.[1]).toBe('Choose at least one event.')
})

test('an endpoint is changed, paused, resumed, given another secret and deleted', async () => {
  const { endpointId } = await addTestEndpoint(api.ledger, tenant.tenantId, url)
  const at = `${path}/${endpointId}`
  const present = async () => (await endpoints()).find(({ id }) => id === endpointId)
  const change = { url: `${url}/2`, description: 'CRM', events: 'license.revoked' }
  expect((await owner.post(at, { operation: await operationIn(at), ...change })).status).toBe(303)
  expect(await present()).toMatchObject({ ...change, events: ['license.revoked'], ordering: 'license' })
  expect(fieldsOf(await owner.get(at)).ordering).toBe('license')
  const fast = { ...change, ordering: 'none', operation: await operationIn(at) }
  expect((await owner.post(at, fast)).status).toBe(303)
  expect(await present()).toMatchObject({ ordering: 'none' })
  expect(wordsOf(await owner.get(path))).toMatch(/In order for each license .*As fast as possible/)
  await owner.post(`${at}/pause`, { paused: 'yes' })
  expect(await present()).toMatchObject({ paused: true })
  expect(wordsOf(await owner.get(path))).toContain('CRM paused')
  await owner.post(`${at}/pause`, { paused: 'no' })
  expect(await present()).toMatchObject({ paused: false })
  const rotated = await owner.post(`${at}/rotate-secret`, { operation: await operationIn(at) })
  expect(rotated.text).toMatch(/value="whsec_[^"]+"/)
  await owner.post(`${at}/delete`, { operation: await operationIn(at) })
  expect(await present()).toBe(undefined)
  expect((await owner.get(at)).status).toBe(404)
})

test('a test event is sent, and the page shows what the endpoint answered', async () => {
  const { endpointId } = await addTestEndpoint(api.ledger, tenant.tenantId, receiver.url)
  await owner.get(path)
  const answer = wordsOf(await owner.post(`${path}/${endpointId}/test`, { event: 'license.revoked' }))
  expect(answer).toMatch(/received .*202 .*license\.revoked .*whd_test_.*\{"taken":"yes"\}/)
  expect(receiver.asked[0]?.body).toContain('"test":true')
})

test('events are replayed from a form, with progress, and the replay is paused and canceled', async () => {
  await pointWebhook(api.ledger, tenant.tenantId, receiver.url)
  const mail = { deliver: async () => ({ outcome: 'unwanted' }) as const }
  const dispatch = await startDispatch(api.ledger, { channels: { mail }, lostAfterMs: 500 })
  receiver.asked.length = 0
  await sellLicense(api.ledger, tenant.tenantId)
  await expect.poll(() => receiver.asked.length).toBeGreaterThanOrEqual(2)
  api.ledger.clock.advance(1000)
  const fields = { ...fieldsOf(await owner.get(`${path}/replays/new`)), events: 'license.created' }
  const asked = { ...fields, endpoint: 'first', from: '2026-02-01 09:30', to: '', only: 'all' }
  const wrong = await owner.post(`${path}/replays`, { ...asked, from: 'yesterday' })
  expect(wrong).toMatchObject({ status: 422 })
  expect(wrong.text).toContain('Enter a date and a time, such as 2026-11-21 09:30.')
  expect((await owner.post(`${path}/replays`, asked)).status).toBe(303)
  expect((await owner.post(`${path}/replays`, asked)).status).toBe(303)
  const shown = await owner.get(path)
  const id = /replays\/(whr_[0-9a-z]{26})\/pause/.exec(shown.text)?.[1]
  expect(shown.text.match(/replays\/whr_[0-9a-z]{26}\/pause/g)).toHaveLength(1)
  await owner.post(`${path}/replays/${id}/pause`)
  expect(wordsOf(await owner.get(path))).toContain('paused')
  await owner.post(`${path}/replays/${id}/resume`)
  const process = runReplays(api.ledger.ports, ({ error }) => {
    throw error
  })
  await expect
    .poll(async () => {
      await process.poll()
      return wordsOf(await owner.get(path))
    })
    .toMatch(/finished 1 of 1 started; 1 delivered/)
  expect((await owner.post(`${path}/replays/${id}/cancel`)).status).toBe(409)
  await dispatch.stop()
})

test('a delivery that waits for the one before it says so, in the list and on its page', async () => {
  const own = await makeTenant(api.ledger)
  const member = clientOf(api.app, '192.0.2.10')
  await member.signIn(await makeMember(api.ledger, own.tenantId, 'owner'))
  await pointWebhook(api.ledger, own.tenantId, receiver.url)
  const { licenseId } = await sellLicense(api.ledger, own.tenantId)
  await commandLicense(api.ledger, licenseId, { type: 'RevokeLicense', reason: null, at: beginning })
  await scheduleDeliveries(api.ledger.ports, ({ error }) => {
    throw error
  }).poll()
  const filter = { channel: 'webhook' } as const
  const { items } = await listDeliveries(api.ledger.db, own.tenantId, filter, { after: undefined, limit: 2 })
  const [first, second] = items.toSorted((one, other) => Number(one.sequence) - Number(other.sequence))
  const at = '/dashboard/deliveries'
  expect(wordsOf(await member.get(at))).toContain('after the one before it')
  const page = await member.get(`${at}/${second?.deliveryId}`)
  expect(wordsOf(page)).toContain(`Waits for the delivery before it, ${first?.deliveryId}`)
  expect(page.text).toContain(`href="${at}/${first?.deliveryId}"`)
  expect(wordsOf(await member.get(`${at}/${first?.deliveryId}`))).not.toContain('Waits for')
})

test('members who only read see the endpoints without buttons', async () => {
  const auditor = clientOf(api.app, '192.0.2.9')
  await auditor.signIn(await makeMember(api.ledger, tenant.tenantId, 'auditor'))
  const { status, text } = await auditor.get(path)
  expect(status).toBe(200)
  expect(text).toContain('Fulfillment')
  expect(text).not.toMatch(/Send test|Pause<|Add endpoint/)
})
