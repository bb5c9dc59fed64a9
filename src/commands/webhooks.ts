import { displayOfWebhookSecret, newWebhookSecret } from '../credentials/webhook-secret.ts'
import type { WebhookEndpoint } from '../domain/webhooks/endpoint.ts'
import type { WebhookEventName } from '../domain/webhooks/events.ts'
import {
  firstEndpoint,
  secretsAt,
  takesWebhookSecret,
  type Webhook,
  webhooks,
} from '../domain/webhooks/webhook.ts'
import { loadFromLog } from '../ledger/execute.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

export type WebhookInput = {
  url: string
  events: readonly WebhookEventName[] | undefined
  rotateSecret: boolean
}

/** The present settings, and the secret if this operation created it. */
export type WebhookSet = { webhook: WebhookEndpoint | null; secret?: string }

/**
 * Sets where a tenant's license events are delivered. The first settings and each rotation create a signing
 * secret; the former one stays valid for 24 hours.
 * @param operationId names this operation, so that a repetition after a crash changes nothing
 */
export async function setWebhook(
  ports: Ports<'execute' | 'now' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  input: WebhookInput,
  operationId: string,
  origin: Origin,
): Promise<WebhookSet> {
  const at = momentOf(ports)
  const { state: webhook } = await ports.execute(
    webhooks,
    tenantId,
    async (before) => {
      const fresh = newWebhookSecret(ports.randomBytes)
      // The secret is kept before the event that refers to it is appended, and only if the command will use
      // it.
      const secret = takesWebhookSecret(before, { operationId, rotateSecret: input.rotateSecret })
        ? await ports.secrets.keep(tenantId, webhookSecretName(operationId), fresh)
        : fresh
      const displaySecret = displayOfWebhookSecret(secret)
      return { type: 'SetWebhook', ...input, tenantId, operationId, displaySecret, at }
    },
    causeOf(origin, at),
  )
  await destroyUnused(ports, tenantId, webhook, at)
  const endpoint = firstEndpoint(webhook)
  return { webhook: endpoint, ...(await newSecretOf(ports, tenantId, endpoint, operationId)) }
}

/** Removes the webhook and destroys its secrets; nothing is delivered from now on. */
export async function removeWebhook(
  ports: Ports<'execute' | 'now' | 'secrets'>,
  tenantId: string,
  operationId: string,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const command = { type: 'RemoveWebhook', operationId, at } as const
  const { state } = await ports.execute(webhooks, tenantId, command, causeOf(origin, at))
  await destroyUnused(ports, tenantId, state, at)
}

/** The present secret, for an operator on the host; undefined without a webhook. */
export async function revealWebhookSecret(
  ports: Ports<'ledger' | 'secrets'>,
  tenantId: string,
): Promise<string | undefined> {
  const { state } = await loadFromLog(ports.ledger, tenantId, webhooks)
  const endpoint = firstEndpoint(state)
  return endpoint === null
    ? undefined
    : ports.secrets.open(tenantId, webhookSecretName(endpoint.secret.operationId))
}

/** The name of a signing secret in the vault. */
export const webhookSecretName = (operationId: string): string => `webhook-secret.${operationId}`

/** The secret of an endpoint, if the operation created it. */
export async function newSecretOf(
  ports: Ports<'secrets'>,
  tenantId: string,
  endpoint: WebhookEndpoint | null,
  operationId: string,
): Promise<{ secret?: string }> {
  if (endpoint?.secret.operationId !== operationId) return {}
  const secret = await ports.secrets.open(tenantId, webhookSecretName(operationId))
  return secret === undefined ? {} : { secret }
}

/** Destroys every unused secret, since a killed run may have left some. */
export async function destroyUnused(
  ports: Ports<'secrets'>,
  tenantId: string,
  webhook: Webhook,
  now: string,
): Promise<void> {
  const used = new Set(secretsAt(webhook, now).map(({ operationId }) => operationId))
  const unused = webhook.operationIds.filter((id) => !used.has(id))
  await Promise.all(unused.map((id) => ports.secrets.destroy(tenantId, webhookSecretName(id))))
}
