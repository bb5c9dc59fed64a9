import { z } from 'zod'
import { Moment, Slug } from '../values.ts'

/** The events that an endpoint gets when it names none. */
export const defaultEvents = [
  'license.created',
  'license.activated',
  'license.deactivated',
  'license.expired',
  'license.renewed',
  'license.updated',
  'license.refunded',
  'license.reinstated',
  'license.suspended',
  'license.resumed',
  'license.revoked',
  'license.reminted',
] as const

/**
 * The events that an endpoint gets only when it names them, so that what is added here changes neither the deliveries of an
 * existing endpoint nor their numbers.
 */
export const eventsByName = [
  'license.issued',
  'license.linked',
  'license.unlinked',
  'license.holder_erased',
  'license.revocation_undone',
  'license.updates_extended',
  'license.expiring',
  'license.renewal_failed',
  'license.relay_forked',
  'license.seats_exhausted',
  'license.seat_assigned',
  'license.seat_unassigned',
  'license.shared',
  'license.sharing_allowed',
  'usage.threshold',
  'usage.period_closed',
] as const

/** The events that can be delivered, in the order of the settings page. */
export const WebhookEventName = z.enum([...defaultEvents, ...eventsByName])
export type WebhookEventName = z.infer<typeof WebhookEventName>

const url = z.string().min(1).max(2048)
const events = z.array(WebhookEventName).min(1)
/** The operation that led to the event; also names the secret in the vault if the event brings a new one. */
const operationId = z.string().min(1)
const displaySecret = z.string().min(1)
/** `first` is the endpoint that `/v1/webhook` sets. */
const endpointId = z.string().min(1)
const description = z.string().max(200)

/** `license`: the events of one license arrive in their order. `none`: as fast as possible, in any order. */
export const Ordering = z.enum(['license', 'none'])
export type Ordering = z.infer<typeof Ordering>

/** Of an endpoint whose events do not say. */
export const defaultOrdering: Ordering = 'license'
const ordering = Ordering.optional()

/** Everything a `webhook-<tenant>` stream may hold. A recorded shape is never edited: add a new type. */
export const WebhookEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('WebhookConfigured'),
    data: z.strictObject({ tenantId: Slug, operationId, url, events, displaySecret, at: Moment }),
  }),
  z.object({
    type: z.literal('WebhookChanged'),
    data: z.strictObject({ operationId, url, events, at: Moment }),
  }),
  z.object({
    type: z.literal('WebhookSecretRotated'),
    data: z.strictObject({ operationId, displaySecret, formerValidUntil: Moment, at: Moment }),
  }),
  z.object({
    type: z.literal('WebhookRemoved'),
    data: z.strictObject({ operationId, at: Moment }),
  }),
  // The events above are about the first endpoint, those below about any.
  z.object({
    type: z.literal('WebhookEndpointAdded'),
    data: z.strictObject({
      tenantId: Slug,
      operationId,
      endpointId,
      url,
      events,
      description,
      ordering,
      displaySecret,
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('WebhookEndpointChanged'),
    data: z.strictObject({ operationId, endpointId, url, events, description, ordering, at: Moment }),
  }),
  z.object({
    type: z.literal('WebhookEndpointPaused'),
    data: z.strictObject({ operationId, endpointId, at: Moment }),
  }),
  z.object({
    type: z.literal('WebhookEndpointResumed'),
    data: z.strictObject({ operationId, endpointId, at: Moment }),
  }),
  z.object({
    type: z.literal('WebhookEndpointSecretRotated'),
    data: z.strictObject({ operationId, endpointId, displaySecret, formerValidUntil: Moment, at: Moment }),
  }),
  z.object({
    type: z.literal('WebhookEndpointRemoved'),
    data: z.strictObject({ operationId, endpointId, at: Moment }),
  }),
])
export type WebhookEvent = z.infer<typeof WebhookEvent>
