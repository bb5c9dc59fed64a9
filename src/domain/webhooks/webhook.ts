import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import { type WebhookEvent, WebhookEventName } from './events.ts'

/** A signing secret: it lies sealed in the vault, named by the operation that made it. */
export type WebhookSecret = { operationId: string; displaySecret: string }

/** Where a tenant's license events are delivered, and with which secrets they are signed. */
export type WebhookEndpoint = {
  url: string
  events: readonly WebhookEventName[]
  secret: WebhookSecret
  /** The secret before, with which deliveries are signed as well until then. */
  former: (WebhookSecret & { validUntil: string }) | null
  updatedAt: string
}

export type Webhook = {
  /** Undefined before the first settings. */
  tenantId: string | undefined
  endpoint: WebhookEndpoint | null
  /** Every operation that has changed something, so that none runs a second time after a crash. */
  operationIds: readonly string[]
}

export type SetWebhook = {
  type: 'SetWebhook'
  operationId: string
  tenantId: string
  url: string
  /** Undefined keeps the present ones; all of them when there are none. */
  events: readonly WebhookEventName[] | undefined
  rotateSecret: boolean
  /** Of the secret that is put in place, if {@link takesWebhookSecret}. */
  displaySecret: string
  at: string
}

export type WebhookCommand = SetWebhook | { type: 'RemoveWebhook'; operationId: string; at: string }

export const noWebhook: Webhook = { tenantId: undefined, endpoint: null, operationIds: [] }

/** How long a secret goes on beside the one that takes its place. */
const overlapMs = 86_400_000

/** Whether the command would put a new secret in place: otherwise it has no use for one. */
export function takesWebhookSecret(
  webhook: Webhook,
  { operationId, rotateSecret }: Pick<SetWebhook, 'operationId' | 'rotateSecret'>,
): boolean {
  return !webhook.operationIds.includes(operationId) && (webhook.endpoint === null || rotateSecret)
}

/** Settings that stand already, and an operation that was recorded already, change nothing. Nothing is refused. */
export function decideWebhook(webhook: Webhook, command: WebhookCommand): WebhookEvent[] {
  const { operationId, at } = command
  const { endpoint } = webhook
  if (webhook.operationIds.includes(operationId)) return []
  if (command.type === 'RemoveWebhook') {
    return endpoint === null ? [] : [{ type: 'WebhookRemoved', data: { operationId, at } }]
  }
  const { tenantId, url, displaySecret, rotateSecret } = command
  const asked = command.events ?? endpoint?.events ?? WebhookEventName.options
  // A set, written down in one form only.
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

/** The secrets that a delivery is signed with at a moment, the newest first; none without an endpoint. */
export function secretsAt({ endpoint }: Webhook, now: string): WebhookSecret[] {
  return endpoint === null ? [] : secretsOf(endpoint, now)
}

/** As {@link secretsAt}, of an endpoint that is there. */
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
