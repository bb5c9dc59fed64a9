import { idOfMade } from '../credentials/id.ts'
import { displayOfWebhookSecret, newWebhookSecret } from '../credentials/webhook-secret.ts'
import { Refusal } from '../domain/refusal.ts'
import type { WebhookEndpoint } from '../domain/webhooks/endpoint.ts'
import type { Ordering, WebhookEventName } from '../domain/webhooks/events.ts'
import { findEndpoint, type Webhook, type WebhookCommand, webhooks } from '../domain/webhooks/webhook.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'
import { destroyUnused, newSecretOf, webhookSecretName } from './webhooks.ts'

type SecretPorts = Ports<'execute' | 'now' | 'randomBytes' | 'secrets'>

/** An endpoint after a change, and its secret if this operation created it. */
export type EndpointSet = { endpoint: WebhookEndpoint; secret?: string }

export type EndpointInput = {
  url: string
  /** Undefined selects the default ones. */
  events: readonly WebhookEventName[] | undefined
  description: string
  ordering: Ordering
}

/**
 * Adds an endpoint, with a signing secret of its own.
 * @param operationId names this operation, so that a repetition after a crash adds nothing
 * @throws Refusal `webhook_endpoint_limit`
 */
export async function addEndpoint(
  ports: SecretPorts,
  tenantId: string,
  input: EndpointInput,
  operationId: string,
  origin: Origin,
): Promise<EndpointSet> {
  const endpointId = idOfMade('whe', operationId)
  const webhook = await withNewSecret(ports, tenantId, operationId, origin, (secret) => ({
    type: 'AddEndpoint',
    ...input,
    ...secret,
    tenantId,
    endpointId,
  }))
  const made = webhook.endpoints.find(({ secret }) => secret.operationId === operationId)
  return shown(ports, tenantId, made ?? findEndpoint(webhook, endpointId), operationId)
}

/**
 * Gives an endpoint another signing secret; the former one stays valid for 24 hours.
 * @throws Refusal `webhook_endpoint_not_found`
 */
export async function rotateEndpointSecret(
  ports: SecretPorts,
  tenantId: string,
  endpointId: string,
  operationId: string,
  origin: Origin,
): Promise<EndpointSet> {
  const webhook = await withNewSecret(ports, tenantId, operationId, origin, (secret) => ({
    type: 'RotateEndpointSecret',
    ...secret,
    endpointId,
  }))
  return shown(ports, tenantId, findEndpoint(webhook, endpointId), operationId)
}

export type EndpointChange = {
  url?: string | undefined
  events?: readonly WebhookEventName[] | undefined
  description?: string | undefined
  ordering?: Ordering | undefined
  paused?: boolean | undefined
}

/**
 * Changes an endpoint; what is undefined stays. While it is paused, its deliveries wait.
 * @throws Refusal `webhook_endpoint_not_found`
 */
export async function changeEndpoint(
  ports: Ports<'execute' | 'now'>,
  tenantId: string,
  endpointId: string,
  change: EndpointChange,
  operationId: string,
  origin: Origin,
): Promise<EndpointSet> {
  const at = momentOf(ports)
  const command = { type: 'ChangeEndpoint', ...change, operationId, endpointId, at } as const
  const { state } = await ports.execute(webhooks, tenantId, command, causeOf(origin, at))
  return { endpoint: required(findEndpoint(state, endpointId)) }
}

/**
 * Removes an endpoint and destroys its secrets. Its pending deliveries are given up.
 * @throws Refusal `webhook_endpoint_not_found`
 */
export async function removeEndpoint(
  ports: Ports<'execute' | 'now' | 'secrets'>,
  tenantId: string,
  endpointId: string,
  operationId: string,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const command = { type: 'RemoveEndpoint', operationId, endpointId, at } as const
  const { state } = await ports.execute(webhooks, tenantId, command, causeOf(origin, at))
  await destroyUnused(ports, tenantId, state, at)
}

type NewSecret = { operationId: string; displaySecret: string; at: string }

/** Seals a new secret before the event that refers to it is appended, unless the operation was run before. */
async function withNewSecret(
  ports: SecretPorts,
  tenantId: string,
  operationId: string,
  origin: Origin,
  command: (secret: NewSecret) => WebhookCommand,
): Promise<Webhook> {
  const at = momentOf(ports)
  const { state } = await ports.execute(
    webhooks,
    tenantId,
    async (before) => {
      const input = command({ operationId, displaySecret: 'none', at })
      // Refuses before a secret is kept.
      if (webhooks.decide(before, input).length === 0) return undefined
      const name = webhookSecretName(operationId)
      const secret = await ports.secrets.keep(tenantId, name, newWebhookSecret(ports.randomBytes))
      return command({ operationId, displaySecret: displayOfWebhookSecret(secret), at })
    },
    causeOf(origin, at),
  )
  await destroyUnused(ports, tenantId, state, at)
  return state
}

async function shown(
  ports: Ports<'secrets'>,
  tenantId: string,
  endpoint: WebhookEndpoint | undefined,
  operationId: string,
): Promise<EndpointSet> {
  const present = required(endpoint)
  return { endpoint: present, ...(await newSecretOf(ports, tenantId, present, operationId)) }
}

/** @throws Refusal when it was removed meanwhile */
function required(endpoint: WebhookEndpoint | undefined): WebhookEndpoint {
  if (!endpoint) throw new Refusal('webhook_endpoint_not_found')
  return endpoint
}
