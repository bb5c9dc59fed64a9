import type { Ordering, WebhookEventName } from './events.ts'

/** A signing secret; it is sealed in the vault, under the id of the operation that created it. */
export type WebhookSecret = { operationId: string; displaySecret: string }

/** A URL that a tenant's license events are delivered to, and the secrets that sign them. */
export type WebhookEndpoint = {
  endpointId: string
  url: string
  events: readonly WebhookEventName[]
  /** The vendor's own words; empty without any. */
  description: string
  ordering: Ordering
  /** Since when its deliveries wait; null while they are made. */
  pausedAt: string | null
  secret: WebhookSecret
  /** The previous secret, which also signs deliveries until `validUntil`. */
  former: (WebhookSecret & { validUntil: string }) | null
  createdAt: string
  updatedAt: string
}

/** The endpoint that `/v1/webhook` reads and sets. A tenant has one with this id at most. */
export const firstEndpointId = 'first'

/** How many endpoints a tenant may have. */
export const maxEndpoints = 10

/** How long a secret stays valid beside its successor. */
const overlapMs = 86_400_000

/** Until when the present secret also signs, if another one replaces it now. */
export const formerValidUntil = (at: string): string => new Date(Date.parse(at) + overlapMs).toISOString()

/** The endpoint with another secret. */
export function withSecret(
  endpoint: WebhookEndpoint,
  secret: WebhookSecret,
  { validUntil, at }: { validUntil: string; at: string },
): WebhookEndpoint {
  return { ...endpoint, secret, former: { ...endpoint.secret, validUntil }, updatedAt: at }
}

/** The secrets that sign a delivery to an endpoint at a moment, the newest first. */
export function secretsOf({ secret, former }: WebhookEndpoint, now: string): WebhookSecret[] {
  if (former === null || former.validUntil <= now) return [secret]
  const { validUntil: _, ...overlapping } = former
  return [secret, overlapping]
}
