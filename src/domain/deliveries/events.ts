import { z } from 'zod'
import { Moment, Slug } from '../values.ts'
import { WebhookEventName } from '../webhooks/events.ts'

/** How something leaves: to a vendor's webhook, or to a customer by mail. */
export const Channel = z.enum(['webhook', 'mail'])
export type Channel = z.infer<typeof Channel>

/** What kept a try from succeeding, in one word that can be counted. */
export const AttemptError = z.enum([
  /** The receiver answered, but with something else than 2xx. */
  'status',
  /** It answered with a redirect, which is not followed. */
  'redirect',
  'timeout',
  /** The name has no address. */
  'name_not_found',
  /** The URL or what its name means now is no public address: no connection was made. */
  'target_refused',
  'connection_refused',
  'connection_lost',
  'tls',
  'protocol',
  /** A mail server said no. */
  'mail_refused',
  'internal',
])
export type AttemptError = z.infer<typeof AttemptError>

const attempt = z.strictObject({
  /** 1, 2, 3… within the delivery. */
  attempt: z.int().positive(),
  /** When it began. */
  at: Moment,
  durationMs: z.int().nonnegative(),
  /** What the receiver answered with; null when it did not answer. */
  status: z.int().nullable(),
  error: AttemptError.nullable(),
  /** The beginning of the answer, with whatever it repeats of a key or a person taken out. */
  excerpt: z.string().max(1024).nullable(),
  /** null after the last one. */
  nextAttemptAt: Moment.nullable(),
})
export type Attempt = z.infer<typeof attempt>

/** Everything a `delivery-<id>` stream may hold. A recorded shape is never edited: add a new type. */
export const DeliveryEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('DeliveryScheduled'),
    data: z.strictObject({
      deliveryId: z.string().min(1),
      tenantId: Slug,
      channel: Channel,
      event: WebhookEventName,
      licenseId: z.string().min(1),
      /** The place of the event in the license's stream, from which the content is made for each try. */
      licenseRevision: z.int().nonnegative(),
      /** 1, 2, 3… over what is owed to the webhook of one license; null for a mail. */
      sequence: z.int().positive().nullable(),
      at: Moment,
    }),
  }),
  z.object({ type: z.literal('DeliveryAttempted'), data: attempt }),
  z.object({ type: z.literal('DeliverySucceeded'), data: z.strictObject({ at: Moment }) }),
  z.object({
    type: z.literal('DeliveryAbandoned'),
    data: z.strictObject({
      /** `unwanted`: there is nowhere to deliver to any more. */
      reason: z.enum(['attempts_spent', 'unwanted']),
      at: Moment,
    }),
  }),
  z.object({ type: z.literal('RedeliveryAsked'), data: z.strictObject({ at: Moment }) }),
])
export type DeliveryEvent = z.infer<typeof DeliveryEvent>
