import {
  addWebhookEndpoint,
  cancelWebhookReplay,
  changeWebhookEndpoint,
  createWebhookReplay,
  deleteWebhookEndpoint,
  getDelivery,
  getWebhookEndpoint,
  getWebhookReplay,
  listDeliveries,
  listEvents,
  listWebhookEndpoints,
  listWebhookReplays,
  pauseWebhookReplay,
  redeliver,
  resumeWebhookReplay,
  rotateWebhookSecret,
  testWebhookEndpoint,
} from '../client/index.ts'
import { approved, expect, rehearsed } from '../program.ts'

const known = await listWebhookEndpoints()
const first =
  expect('one endpoint is there', known.data, ({ items }) => items.length === 1).items[0]?.id ?? ''
const tested = await testWebhookEndpoint({ path: { id: first }, body: { event: 'license.created' } })
expect('it takes a test event', tested.data, ({ test }) => test.ok)

const url = 'https://public.example.com/hook'
await rehearsed((query) => addWebhookEndpoint({ query, body: { url } }))
const crm = { url, description: 'CRM', ordering: 'none' } as const
const added = await approved((headers) => addWebhookEndpoint({ headers, body: crm }))
const path = { id: expect('an endpoint is added', added, ({ secret }) => secret !== undefined).endpoint.id }
await rehearsed((query) => changeWebhookEndpoint({ path, query, body: { paused: true } }))
const changed = await changeWebhookEndpoint({
  path,
  body: { paused: true, events: ['license.revoked'], ordering: 'license' },
})
expect('it is paused', changed.data, (answer) => 'endpoint' in answer && answer.endpoint.paused)
await rehearsed((query) => rotateWebhookSecret({ path, query }))
const rotated = await approved((headers) => rotateWebhookSecret({ path, headers }))
expect('it has another secret', rotated, ({ secret }) => secret !== added.secret)
const read = await getWebhookEndpoint({ path })
expect('it is read', read.data, ({ endpoint }) => endpoint.description === 'CRM')
expect('it gets events in order', read.data, ({ endpoint }) => endpoint.ordering === 'license')
await rehearsed((query) => deleteWebhookEndpoint({ path, query }))
await approved((headers) => deleteWebhookEndpoint({ path, headers }))

const asked = await createWebhookReplay({
  body: {
    from: '2020-01-01T00:00:00.000Z',
    events: ['license.created'],
    endpoint: first,
    only: 'all',
  },
})
const replay = { id: expect('a replay starts', asked.data, () => true).replay.id }
await rehearsed((query) => pauseWebhookReplay({ path: replay, query }))
await pauseWebhookReplay({ path: replay })
await rehearsed((query) => resumeWebhookReplay({ path: replay, query }))
await resumeWebhookReplay({ path: replay })
await rehearsed((query) => cancelWebhookReplay({ path: replay, query }))
await cancelWebhookReplay({ path: replay })
const ended = await getWebhookReplay({ path: replay })
expect('it is canceled', ended.data, (answer) => answer.replay.status === 'canceled')
const replays = await listWebhookReplays({ query: { order: 'oldest' } })
expect('it is listed', replays.data, ({ items }) => items.length === 1)

const delivered = await listDeliveries({
  query: { endpoint: first, event: 'license.created', status: 'delivered', order: 'oldest' },
})
const { id: delivery = '', licenseId } =
  expect('an event was delivered', delivered.data, ({ items }) => items[0]?.waitsFor === null).items[0] ?? {}
const ofLicense = await listDeliveries({ query: { license: licenseId ?? '' } })
expect('it is found by its license', ofLicense.data, ({ items }) => items.length > 0)
const again = await redeliver({ path: { id: delivery } })
expect('it is delivered again', again.data, () => true)
await getDelivery({ path: { id: delivery } })
const events = await listEvents({ query: { limit: 1, proof: 'true' } })
const ofOther = await listEvents({ query: { after: 'end', license: 'lic_none' } })
expect('no events follow the last one', ofOther.data, ({ items }) => items.length === 0)
const { cursor } = expect('events are read', events.data, ({ items }) => items.length === 1)
await listEvents({ query: cursor === null ? {} : { cursor } })
