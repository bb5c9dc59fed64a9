import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import { Refusal } from '../refusal.ts'
import {
  firstEndpointId,
  formerValidUntil,
  maxEndpoints,
  secretsOf,
  type WebhookEndpoint,
  type WebhookSecret,
  withSecret,
} from './endpoint.ts'
import {
  defaultEvents,
  defaultOrdering,
  type Ordering,
  type WebhookEvent,
  WebhookEventName,
} from './events.ts'

/** The endpoints of a tenant. They share a stream, so that their number has a limit. */
export type Webhook = {
  /** Undefined before the first settings. */
  tenantId: string | undefined
  /** The first endpoint, then the others in the order in which they were added. */
  endpoints: readonly WebhookEndpoint[]
  /** Every operation that changed something, so that none is repeated after a crash. */
  operationIds: readonly string[]
}

/** Sets the first endpoint, as `PUT /v1/webhook` does. */
export type SetWebhook = {
  type: 'SetWebhook'
  operationId: string
  tenantId: string
  url: string
  /** Undefined keeps the present ones, or selects the default ones when there are none. */
  events: readonly WebhookEventName[] | undefined
  rotateSecret: boolean
  /** The display form of the new secret, if {@link takesSecret}. */
  displaySecret: string
  at: string
}

export type WebhookCommand =
  | SetWebhook
  | { type: 'RemoveWebhook'; operationId: string; at: string }
  | {
      type: 'AddEndpoint'
      operationId: string
      tenantId: string
      /** Its id, unless the tenant never had an endpoint: the very first is that of `/v1/webhook`. */
      endpointId: string
      url: string
      events: readonly WebhookEventName[] | undefined
      description: string
      ordering: Ordering
      displaySecret: string
      at: string
    }
  | {
      type: 'ChangeEndpoint'
      operationId: string
      endpointId: string
      /** Undefined keeps what there is. */
      url?: string | undefined
      events?: readonly WebhookEventName[] | undefined
      description?: string | undefined
      ordering?: Ordering | undefined
      paused?: boolean | undefined
      at: string
    }
  | {
      type: 'RotateEndpointSecret'
      operationId: string
      endpointId: string
      displaySecret: string
      at: string
    }
  | { type: 'RemoveEndpoint'; operationId: string; endpointId: string; at: string }

type OfFirst = Extract<WebhookCommand, { type: 'SetWebhook' | 'RemoveWebhook' }>

export const noWebhook: Webhook = { tenantId: undefined, endpoints: [], operationIds: [] }

export const findEndpoint = ({ endpoints }: Webhook, endpointId: string): WebhookEndpoint | undefined =>
  endpoints.find((endpoint) => endpoint.endpointId === endpointId)

/** The endpoint of `/v1/webhook`; null without one. */
export const firstEndpoint = (webhook: Webhook): WebhookEndpoint | null =>
  findEndpoint(webhook, firstEndpointId) ?? null

/** Whether `SetWebhook` would use a new secret; otherwise none needs to be generated. */
export function takesWebhookSecret(
  webhook: Webhook,
  { operationId, rotateSecret }: Pick<SetWebhook, 'operationId' | 'rotateSecret'>,
): boolean {
  return !webhook.operationIds.includes(operationId) && (firstEndpoint(webhook) === null || rotateSecret)
}

/**
 * Settings that are already recorded and a repeated operation change nothing.
 * @throws Refusal `webhook_endpoint_not_found`, `webhook_endpoint_limit`
 */
export function decideWebhook(webhook: Webhook, command: WebhookCommand): WebhookEvent[] {
  const { operationId, at } = command
  if (webhook.operationIds.includes(operationId)) return []
  switch (command.type) {
    case 'SetWebhook':
    case 'RemoveWebhook':
      return decideFirst(webhook, command)
    case 'AddEndpoint':
      return added(webhook, command)
    case 'ChangeEndpoint':
      return changed(requireEndpoint(webhook, command.endpointId), command)
    case 'RotateEndpointSecret': {
      const { endpointId, displaySecret } = command
      requireEndpoint(webhook, endpointId)
      const data = { operationId, endpointId, displaySecret, formerValidUntil: formerValidUntil(at), at }
      return [{ type: 'WebhookEndpointSecretRotated', data }]
    }
    case 'RemoveEndpoint': {
      const { endpointId } = command
      requireEndpoint(webhook, endpointId)
      return [{ type: 'WebhookEndpointRemoved', data: { operationId, endpointId, at } }]
    }
  }
}

function decideFirst(webhook: Webhook, command: OfFirst): WebhookEvent[] {
  const { operationId, at } = command
  const endpoint = firstEndpoint(webhook)
  if (command.type === 'RemoveWebhook') {
    return endpoint === null ? [] : [{ type: 'WebhookRemoved', data: { operationId, at } }]
  }
  const { tenantId, url, displaySecret, rotateSecret } = command
  const events = inOrder(command.events ?? endpoint?.events)
  if (endpoint === null) {
    refuseTooMany(webhook)
    return [{ type: 'WebhookConfigured', data: { tenantId, operationId, url, events, displaySecret, at } }]
  }
  const decided: WebhookEvent[] = []
  if (url !== endpoint.url || !sameJson(events, endpoint.events)) {
    decided.push({ type: 'WebhookChanged', data: { operationId, url, events, at } })
  }
  if (rotateSecret) {
    const data = { operationId, displaySecret, formerValidUntil: formerValidUntil(at), at }
    decided.push({ type: 'WebhookSecretRotated', data })
  }
  return decided
}

function added(webhook: Webhook, command: Extract<WebhookCommand, { type: 'AddEndpoint' }>): WebhookEvent[] {
  const { type: _, ordering, ...requested } = command
  refuseTooMany(webhook)
  const endpointId = webhook.tenantId === undefined ? firstEndpointId : requested.endpointId
  const data = { ...requested, endpointId, events: inOrder(requested.events), ...chosen(ordering) }
  return [{ type: 'WebhookEndpointAdded', data }]
}

function changed(
  endpoint: WebhookEndpoint,
  command: Extract<WebhookCommand, { type: 'ChangeEndpoint' }>,
): WebhookEvent[] {
  const { operationId, endpointId, at, url = endpoint.url, description = endpoint.description } = command
  const { ordering = endpoint.ordering } = command
  const events = inOrder(command.events ?? endpoint.events)
  const { pausedAt } = endpoint
  const isPaused = pausedAt !== null
  const paused = command.paused ?? isPaused
  const decided: WebhookEvent[] = []
  const before = [endpoint.url, endpoint.description, endpoint.events, endpoint.ordering]
  if (!sameJson([url, description, events, ordering], before)) {
    const data = { operationId, endpointId, url, events, description, ...chosen(ordering), at }
    decided.push({ type: 'WebhookEndpointChanged', data })
  }
  if (paused !== isPaused) {
    const type = paused ? 'WebhookEndpointPaused' : 'WebhookEndpointResumed'
    decided.push({ type, data: { operationId, endpointId, at } })
  }
  return decided
}

/** What an event says of the ordering: nothing when it is the default. */
const chosen = (ordering: Ordering): { ordering?: Ordering } =>
  ordering === defaultOrdering ? {} : { ordering }

/** The set of events in one canonical order; the default ones when none are named. */
const inOrder = (requested: readonly WebhookEventName[] = defaultEvents): WebhookEventName[] =>
  WebhookEventName.options.filter((name) => requested.includes(name))

function requireEndpoint(webhook: Webhook, endpointId: string): WebhookEndpoint {
  const endpoint = findEndpoint(webhook, endpointId)
  if (!endpoint) throw new Refusal('webhook_endpoint_not_found')
  return endpoint
}

function refuseTooMany({ endpoints }: Webhook): void {
  if (endpoints.length >= maxEndpoints) throw new Refusal('webhook_endpoint_limit')
}

/** The secrets that sign the deliveries to any endpoint at a moment. */
export const secretsAt = ({ endpoints }: Webhook, now: string): WebhookSecret[] =>
  endpoints.flatMap((endpoint) => secretsOf(endpoint, now))

/** Never refuses: what is recorded has happened. */
export function evolveWebhook(webhook: Webhook, event: WebhookEvent): Webhook {
  const { operationId } = event.data
  const operationIds = [...new Set([...webhook.operationIds, operationId])]
  const now = { ...webhook, operationIds }
  if (event.type === 'WebhookConfigured' || event.type === 'WebhookEndpointAdded') return withNew(now, event)
  const endpointId = 'endpointId' in event.data ? event.data.endpointId : firstEndpointId
  const isOther = (endpoint: WebhookEndpoint) => endpoint.endpointId !== endpointId
  if (event.type === 'WebhookRemoved' || event.type === 'WebhookEndpointRemoved') {
    return { ...now, endpoints: webhook.endpoints.filter(isOther) }
  }
  const endpoints = webhook.endpoints.map((endpoint) =>
    isOther(endpoint) ? endpoint : evolveEndpoint(endpoint, event),
  )
  return { ...now, endpoints }
}

type Beginning = Extract<WebhookEvent, { type: 'WebhookConfigured' | 'WebhookEndpointAdded' }>
type Change = Exclude<
  WebhookEvent,
  Beginning | { type: 'WebhookRemoved' } | { type: 'WebhookEndpointRemoved' }
>

function withNew(webhook: Webhook, { type, data }: Beginning): Webhook {
  const { tenantId, operationId, url, events, displaySecret, at } = data
  const endpoint: WebhookEndpoint = {
    endpointId: type === 'WebhookConfigured' ? firstEndpointId : data.endpointId,
    url,
    events,
    description: type === 'WebhookConfigured' ? '' : data.description,
    ordering: type === 'WebhookConfigured' ? defaultOrdering : (data.ordering ?? defaultOrdering),
    pausedAt: null,
    secret: { operationId, displaySecret },
    former: null,
    createdAt: at,
    updatedAt: at,
  }
  const others = webhook.endpoints.filter(({ endpointId }) => endpointId !== endpoint.endpointId)
  const isFirst = endpoint.endpointId === firstEndpointId
  return { ...webhook, tenantId, endpoints: isFirst ? [endpoint, ...others] : [...others, endpoint] }
}

function evolveEndpoint(endpoint: WebhookEndpoint, event: Change): WebhookEndpoint {
  const { operationId, at } = event.data
  switch (event.type) {
    case 'WebhookChanged': {
      const { url, events } = event.data
      return { ...endpoint, url, events, updatedAt: at }
    }
    case 'WebhookEndpointChanged': {
      const { url, events, description, ordering = defaultOrdering } = event.data
      return { ...endpoint, url, events, description, ordering, updatedAt: at }
    }
    case 'WebhookEndpointPaused':
      return { ...endpoint, pausedAt: at, updatedAt: at }
    case 'WebhookEndpointResumed':
      return { ...endpoint, pausedAt: null, updatedAt: at }
    case 'WebhookSecretRotated':
    case 'WebhookEndpointSecretRotated': {
      const { displaySecret, formerValidUntil: validUntil } = event.data
      return withSecret(endpoint, { operationId, displaySecret }, { validUntil, at })
    }
  }
}

/** The rules of webhook streams, one for each tenant. */
export const webhooks: Decider<Webhook, WebhookCommand, 'webhook'> = {
  category: 'webhook',
  initial: noWebhook,
  decide: decideWebhook,
  evolve: evolveWebhook,
}
