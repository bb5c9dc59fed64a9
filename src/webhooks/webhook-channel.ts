import { createContentLookup } from '../../projections/deliveries/content.ts'
import { createTurnLookup } from '../../projections/deliveries/turns.ts'
import { createEndpointLookup } from '../../projections/webhooks.ts'
import { webhookSecretName } from '../commands/webhooks.ts'
import type { KnownDelivery } from '../domain/deliveries/delivery.ts'
import { secretsOf, type WebhookEndpoint } from '../domain/webhooks/endpoint.ts'
import type { Ports } from '../ports.ts'
import type { DeliveryChannel } from './channel.ts'
import { createConnections, type Post, post } from './post.ts'
import { publicEventOf } from './public-events.ts'
import { signatureHeaders } from './signature.ts'
import type { Resolve, TargetRules } from './targets.ts'

type Options = {
  resolve: Resolve
  rules: TargetRules
  /** How long a receiver has to answer. */
  timeLimitMs?: number
}

export type WebhookChannel = DeliveryChannel & { close(): Promise<void> }

/**
 * Delivers to an endpoint as it is now: a pending delivery goes to a changed URL, waits while the endpoint is paused or
 * wants another one before it, and goes nowhere once it is removed.
 */
export function createWebhookChannel(
  ports: Ports<'db' | 'deriveId' | 'now' | 'secrets' | 'subjects'>,
  { resolve, rules, timeLimitMs = 15_000 }: Options,
): WebhookChannel {
  const connections = createConnections(resolve, rules)
  const secrets = createSecretCache(ports)
  const endpointOf = createEndpointLookup(ports.db)
  const contentOf = createContentLookup(ports.db)
  const hasToWait = createTurnLookup(ports.db)

  async function deliver(delivery: KnownDelivery, begin: () => Promise<void>) {
    const { tenantId, endpointId } = delivery
    const [endpoint, content, isHeldBack] = await Promise.all([
      endpointId === null ? null : endpointOf(tenantId, endpointId),
      contentOf(delivery),
      hasToWait(delivery),
    ])
    if (endpoint === null) return { outcome: 'unwanted' } as const
    if (endpoint.pausedAt !== null || isHeldBack) return { outcome: 'held' } as const
    const { payload, confidential } = await publicEventOf(ports, delivery, content)
    const now = ports.now()
    const keys = await secrets.of(tenantId, endpoint, now.toISOString())
    await begin()
    return post(connections, rules, signedPost(endpoint.url, keys, payload, now), {
      timeLimitMs,
      confidential,
    })
  }

  return { deliver, close: () => connections.destroy() }
}

/** The request that carries a payload. */
export function signedPost(
  url: string,
  secrets: readonly string[],
  payload: { id: string },
  now: Date,
): Post {
  const body = JSON.stringify(payload)
  const timestamp = Math.floor(now.getTime() / 1000)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'keyledger',
    ...signatureHeaders(secrets, { id: payload.id, timestamp, body }),
  }
  return { url: new URL(url), headers, body }
}

/** More tenants than deliver concurrently. */
const maxKept = 2000

/**
 * Caches opened secrets, since opening costs more than signing. The settings, read each time, say which are
 * valid.
 */
function createSecretCache(ports: Ports<'secrets'>) {
  const opened = new Map<string, string>()

  async function open(tenantId: string, operationId: string): Promise<string> {
    const name = `${tenantId} ${operationId}`
    const known = opened.get(name)
    if (known !== undefined) return known
    const secret = await ports.secrets.open(tenantId, webhookSecretName(operationId))
    if (secret === undefined) throw new Error(`the signing secret of ${operationId} is gone`)
    if (opened.size >= maxKept) opened.clear()
    opened.set(name, secret)
    return secret
  }

  return {
    of: (tenantId: string, endpoint: WebhookEndpoint, now: string): Promise<string[]> =>
      Promise.all(secretsOf(endpoint, now).map(({ operationId }) => open(tenantId, operationId))),
  }
}
