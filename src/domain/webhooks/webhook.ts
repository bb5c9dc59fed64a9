import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import { type WebhookEvent, WebhookEventName } from './events.ts'

/** A signing secret; it is sealed in the vault, under the id of the operation that created it. */
export type WebhookSecret = { operationId: string; displaySecret: string }

/** The URL that a tenant's license events are delivered to, and the secrets that sign them. */
export type WebhookEndpoint = {
  url: string
  events: readonly WebhookEventName[]
  secret: WebhookSecret
  /** The previous secret, which also signs deliveries until `validUntil`. */
  former: (WebhookSecret & { validUntil: string }) | null
  updatedAt: string
}

export type Webhook = {
  /** Undefined before the first settings. */
  tenantId: string | undefined
  endpoint: WebhookEndpoint | null
  /** Every operation that changed something, so that none is repeated after a crash. */
  operationIds: readonly string[]
}

export type SetWebhook = {
  type: 'SetWebhook'
  operationId: string
  tenantId: string
  url: string
  /** Undefined keeps the present ones, or selects all when there are none. */
  events: readonly WebhookEventName[] | undefined
  rotateSecret: boolean
  /** The display form of the new secret, if {@link takesWebhookSecret}. */
  displaySecret: string
  at: string
}

export type WebhookCommand = SetWebhook | { type: 'RemoveWebhook'; operationId: string; at: string }

export const noWebhook: Webhook = { tenantId: undefined, endpoint: null, operationIds: [] }

/** How long a secret stays valid beside its successor. */
const overlapMs = 86_400_000

/** Whether the command would use a new secret; otherwise none needs to be generated. */
export function takesWebhookSecret(
  webhook: Webhook,
  { operationId, rotateSecret }: Pick<SetWebhook, 'operationId' | 'rotateSecret'>,
): boolean {
  return !webhook.operationIds.includes(operationId) && (webhook.endpoint === null || rotateSecret)
}

/** Settings that are already recorded and a repeated operation change nothing. Never refuses. */
export function decideWebhook(webhook: Webhook, command: WebhookCommand): WebhookEvent[] {
  const { operationId, at } = command
  const { endpoint } = webhook
  if (webhook.operationIds.includes(operationId)) return []
  if (command.type === 'RemoveWebhook') {
    return endpoint === null ? [] : [{ type: 'WebhookRemoved', data: { operationId, at } }]
  }
  const { tenantId, url, displaySecret, rotateSecret } = command
  const asked = command.events ?? endpoint?.events ?? WebhookEventName.options
  // The set in one canonical order.
  const events = WebhookEventName.options.filter((name) => asked.includes(name))
  if (endpoint === null) {
    const data = { tenantId, operationId, url, events, displaySecret, at }
    return [{ type: 'WebhookConfigured', data }]
  }
  const decided: WebhookEvent[] = []
  if (url !== endpoint.url || !sameJson(events, endpoint.events)) {
    decided.push({ type: 'WebhookChanged', data: { operationId, url, events, at } })
  }
  if (rotateSecret) {
    const formerValidUntil = new Date(Date.parse(at) + overlapMs).toISOString()
    const data = { operationId, displaySecret, formerValidUntil, at }
    decided.push({ type: 'WebhookSecretRotated', data })
  }
  return decided
}

/** The secrets that sign a delivery at a moment, the newest first; none without an endpoint. */
export function secretsAt({ endpoint }: Webhook, now: string): WebhookSecret[] {
  return endpoint === null ? [] : secretsOf(endpoint, now)
}

/** As {@link secretsAt}, for an endpoint that exists. */
export function secretsOf({ secret, former }: WebhookEndpoint, now: string): WebhookSecret[] {
  if (former === null || former.validUntil <= now) return [secret]
  const { validUntil: _, ...overlapping } = former
  return [secret, overlapping]
}

/** Never refuses: what is recorded has happened. */
export function evolveWebhook(webhook: Webhook, event: WebhookEvent): Webhook {
  const { operationId, at } = event.data
  const operationIds = [...new Set([...webhook.operationIds, operationId])]
  const changed = { ...webhook, operationIds }
  if (event.type === 'WebhookConfigured') {
    const { tenantId, url, events, displaySecret } = event.data
    const secret = { operationId, displaySecret }
    return { ...changed, tenantId, endpoint: { url, events, secret, former: null, updatedAt: at } }
  }
  const { endpoint } = webhook
  if (endpoint === null) return changed
  switch (event.type) {
    case 'WebhookChanged': {
      const { url, events } = event.data
      return { ...changed, endpoint: { ...endpoint, url, events, updatedAt: at } }
    }
    case 'WebhookSecretRotated': {
      const { displaySecret, formerValidUntil } = event.data
      const former = { ...endpoint.secret, validUntil: formerValidUntil }
      const secret = { operationId, displaySecret }
      return { ...changed, endpoint: { ...endpoint, secret, former, updatedAt: at } }
    }
    case 'WebhookRemoved':
      return { ...changed, endpoint: null }
  }
}

/** The rules of webhook streams, one for each tenant. */
export const webhooks: Decider<Webhook, WebhookCommand, 'webhook'> = {
  category: 'webhook',
  initial: noWebhook,
  decide: decideWebhook,
  evolve: evolveWebhook,
}
