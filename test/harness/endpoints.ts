import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Answered, Asked } from './stand-in.ts'

/** A webhook endpoint at a stand-in. */
export type StandInEndpoint = {
  id: string
  url: string
  events: string[]
  secret: string
  enabled: boolean
  /** What a person has called it, if it is not keyledger's. */
  name?: string
  /** Lemon Squeezy's store. */
  store?: string
}

/** The webhook endpoints of a stand-in, of all its accounts. */
export type StandInEndpoints = Map<string, StandInEndpoint>

export const endpointsAt = (endpoints: StandInEndpoints, url: string): StandInEndpoint[] =>
  [...endpoints.values()].filter((endpoint) => endpoint.url === url)

function add(endpoints: StandInEndpoints, made: Omit<StandInEndpoint, 'id' | 'enabled'>): StandInEndpoint {
  const endpoint = { id: `we_${randomBytes(8).toString('hex')}`, enabled: true, ...made }
  endpoints.set(endpoint.id, endpoint)
  return endpoint
}

const newSecret = (prefix: string) => `${prefix}${randomBytes(16).toString('hex')}`
const isAccepted = (url: string) => url.startsWith('https://')
const idIn = ({ path }: Asked) => decodeURIComponent(path.split('/').at(-1) ?? '')

/** @see https://docs.stripe.com/api/webhook_endpoints/object */
export function stripeEndpoints(endpoints: StandInEndpoints, asked: Asked): Answered {
  const { method } = asked
  const shown = ({ id, url, events, enabled, name = 'keyledger' }: StandInEndpoint) => ({
    id,
    object: 'webhook_endpoint',
    api_version: null,
    application: null,
    created: 1_772_366_400,
    description: name,
    enabled_events: events,
    livemode: true,
    metadata: {},
    status: enabled ? 'enabled' : 'disabled',
    url,
  })
  if (method === 'GET') {
    const data = [...endpoints.values()].map(shown)
    return { status: 200, body: { object: 'list', data, has_more: false, url: '/v1/webhook_endpoints' } }
  }
  if (method === 'DELETE') {
    const id = idIn(asked)
    if (!endpoints.delete(id))
      return {
        status: 404,
        body: { error: { type: 'invalid_request_error', message: `No such endpoint: ${id}` } },
      }
    return { status: 200, body: { id, object: 'webhook_endpoint', deleted: true } }
  }
  const form = new URLSearchParams(asked.body)
  const url = form.get('url') ?? ''
  if (!isAccepted(url)) {
    const message = 'Invalid URL: must be publicly accessible and begin with https.'
    return { status: 400, body: { error: { type: 'invalid_request_error', code: 'url_invalid', message } } }
  }
  const events = [...form].filter(([name]) => name.startsWith('enabled_events')).map(([, value]) => value)
  const made = add(endpoints, { url, events, secret: newSecret('whsec_') })
  return { status: 200, body: { ...shown(made), secret: made.secret } }
}

const PaddleAsked = z.object({
  description: z.string().min(1),
  type: z.literal('url'),
  destination: z.string(),
  subscribed_events: z.array(z.string()).min(1),
})

/** @see https://developer.paddle.com/api-reference/notification-settings/create-notification-setting */
export function paddleEndpoints(endpoints: StandInEndpoints, asked: Asked): Answered {
  const meta = { request_id: '00000000-0000-0000-0000-000000000000' }
  const error = (status: number, code: string) => ({
    status,
    body: { error: { type: 'request_error', code, detail: code, documentation_url: '' }, meta },
  })
  const shown = ({ id, url, events, enabled, secret, name = 'keyledger' }: StandInEndpoint) => ({
    id,
    description: name,
    type: 'url',
    destination: url,
    active: enabled,
    api_version: 1,
    include_sensitive_fields: false,
    traffic_source: 'platform',
    subscribed_events: events.map((name) => ({ name, description: '', group: '', available_versions: [1] })),
    endpoint_secret_key: secret,
  })
  if (asked.method === 'GET') {
    const pagination = { per_page: 200, next: '', has_more: false, estimated_total: endpoints.size }
    return {
      status: 200,
      body: { data: [...endpoints.values()].map(shown), meta: { ...meta, pagination } },
    }
  }
  if (asked.method === 'DELETE')
    return endpoints.delete(idIn(asked)) ? { status: 204, body: undefined } : error(404, 'not_found')
  const { destination: url, subscribed_events: events } = PaddleAsked.parse(JSON.parse(asked.body))
  if (!isAccepted(url)) return error(400, 'bad_request')
  return {
    status: 201,
    body: { data: shown(add(endpoints, { url, events, secret: newSecret('pdl_ntfset_') })), meta },
  }
}

const PolarAsked = z.strictObject({
  url: z.string(),
  name: z.string(),
  format: z.literal('raw'),
  events: z.array(z.string()),
})

/** @see https://polar.sh/docs/api-reference/webhooks/endpoints/create */
export function polarEndpoints(endpoints: StandInEndpoints, asked: Asked): Answered {
  const shown = ({ enabled, name = 'keyledger', ...endpoint }: StandInEndpoint) => ({
    created_at: '2026-02-01T12:00:00Z',
    modified_at: null,
    ...endpoint,
    name,
    format: 'raw',
    organization_id: '1dbfc517-0bbf-4301-9ba8-555ca42b9737',
    enabled,
  })
  if (asked.method === 'GET') {
    const items = [...endpoints.values()].map(shown)
    return { status: 200, body: { items, pagination: { total_count: items.length, max_page: 1 } } }
  }
  if (asked.method === 'DELETE')
    return endpoints.delete(idIn(asked))
      ? { status: 204, body: undefined }
      : { status: 404, body: { error: 'ResourceNotFound', detail: 'Not found' } }
  const { url, events } = PolarAsked.parse(JSON.parse(asked.body))
  if (!isAccepted(url))
    return { status: 422, body: { detail: [{ loc: ['body', 'url'], msg: 'invalid', type: 'value_error' }] } }
  return { status: 201, body: shown(add(endpoints, { url, events, secret: newSecret('polar_whs_') })) }
}

const LemonSqueezyAsked = z.strictObject({
  data: z.strictObject({
    type: z.literal('webhooks'),
    attributes: z.strictObject({
      url: z.string(),
      events: z.array(z.string()),
      secret: z.string().min(6).max(40),
      test_mode: z.boolean(),
    }),
    relationships: z.strictObject({
      store: z.strictObject({ data: z.strictObject({ type: z.literal('stores'), id: z.string() }) }),
    }),
  }),
})

/** @see https://docs.lemonsqueezy.com/api/webhooks/create-webhook */
export function lemonSqueezyEndpoints(
  endpoints: StandInEndpoints,
  stores: ReadonlyMap<string, string>,
  asked: Asked,
): Answered {
  const jsonapi = { version: '1.0' }
  if (asked.path === '/v1/stores') {
    const data = [...stores].map(([id, name]) => ({ type: 'stores', id, attributes: { name } }))
    return { status: 200, body: { jsonapi, data } }
  }
  const shown = ({ id, url, events, store }: StandInEndpoint) => ({
    type: 'webhooks',
    id,
    attributes: { store_id: Number(store), url, events, last_sent_at: null, test_mode: true },
  })
  if (asked.method === 'GET') {
    const store = asked.query.get('filter[store_id]')
    const data = [...endpoints.values()].filter((one) => one.store === store).map(shown)
    return { status: 200, body: { jsonapi, data } }
  }
  if (asked.method === 'DELETE') {
    endpoints.delete(idIn(asked))
    return { status: 204, body: undefined }
  }
  const { attributes, relationships } = LemonSqueezyAsked.parse(JSON.parse(asked.body)).data
  if (!isAccepted(attributes.url))
    return { status: 422, body: { jsonapi, errors: [{ status: '422', title: 'Unprocessable Entity' }] } }
  const { url, events, secret } = attributes
  const made = add(endpoints, { url, events, secret, store: relationships.store.data.id })
  return { status: 201, body: { jsonapi, data: shown(made) } }
}
