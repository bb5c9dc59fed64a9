import type { AttemptError } from '../domain/deliveries/events.ts'
import type { WebhookEndpoint } from '../domain/webhooks/endpoint.ts'
import type { WebhookEventName } from '../domain/webhooks/events.ts'

/** What a receiver answered to a test event. */
export type TestAnswer = {
  /** The id in the payload, as the receiver saw it. */
  id: string
  event: WebhookEventName
  /** Whether the receiver answered with 2xx in time, as a delivery needs. */
  ok: boolean
  /** null when the receiver did not answer. */
  status: number | null
  /** null when it succeeded. */
  error: AttemptError | null
  durationMs: number
  /** The beginning of the answer. */
  excerpt: string | null
}

/** Sends a test event to an endpoint once, signed as a delivery is. Nothing is recorded. */
export type SendTestEvent = (
  tenantId: string,
  endpoint: WebhookEndpoint,
  event: WebhookEventName,
) => Promise<TestAnswer>
