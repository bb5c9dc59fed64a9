import { z } from 'zod'
import { BounceKind, MailSender } from '../mails/senders.ts'
import { Moment, Slug } from '../values.ts'
import { WebhookEventName } from '../webhooks/events.ts'

/** How an event is delivered: to a vendor's webhook, or to a customer by mail. */
export const Channel = z.enum(['webhook', 'mail'])
export type Channel = z.infer<typeof Channel>

/** What is delivered: a public event, or only the key of a license, which is a mail. */
export const DeliveryEventName = z.enum([...WebhookEventName.options, 'license.key_mail'])
export type DeliveryEventName = z.infer<typeof DeliveryEventName>

/** Why an attempt failed, as one word that can be counted. */
export const AttemptError = z.enum([
  /** The receiver answered with a status other than 2xx. */
  'status',
  /** The receiver answered with a redirect, which is not followed. */
  'redirect',
  'timeout',
  /** The name has no address. */
  'name_not_found',
  /** The URL, or an address of its name, is not public: no connection was made. */
  'target_refused',
  'connection_refused',
  'connection_lost',
  'tls',
  'protocol',
  /** The mail server rejected the mail. */
  'mail_refused',
  'internal',
])
export type AttemptError = z.infer<typeof AttemptError>

const attempt = z.strictObject({
  /** 1, 2, 3… within the delivery. */
  attempt: z.int().positive(),
  /** When the attempt began. */
  at: Moment,
  durationMs: z.int().nonnegative(),
  /** The status of the receiver's answer; null when it did not answer. */
  status: z.int().nullable(),
  error: AttemptError.nullable(),
  /** The beginning of the answer, with keys and personal data removed. */
  excerpt: z.string().max(1024).nullable(),
  /** null after the last attempt. */
  nextAttemptAt: Moment.nullable(),
})

const interruption = z.strictObject({
  attempt: attempt.shape.attempt,
  /** When the attempt began. */
  at: Moment,
  /** When it turned out that no result will be recorded. */
  foundAt: Moment,
  /** Whether it uses up one of the attempts of the schedule. */
  countsAsFailed: z.boolean(),
  /** null after the last attempt. */
  nextAttemptAt: Moment.nullable(),
})

/** How an attempt of a delivery failed; `unknown`: its process ended before it recorded the result. */
export const DeliveryError = z.enum([...AttemptError.options, 'unknown'])

/** An attempt of a delivery. Of one with the error `unknown`, nothing else is known but when it began. */
export type Attempt = Omit<z.infer<typeof attempt>, 'error' | 'durationMs'> & {
  error: z.infer<typeof DeliveryError> | null
  durationMs: number | null
}

const bounce = z.strictObject({
  kind: BounceKind,
  /** Who told of it. */
  sender: MailSender,
  /** The sender's own id of its notification, so that a repeated one is recorded once. */
  notificationId: z.string().min(1).max(200),
  /** The enhanced status code, such as `5.1.1`; null where the sender gives none. */
  status: z
    .string()
    .regex(/^[245]\.\d{1,3}\.\d{1,3}$/)
    .nullable(),
  /** When keyledger was told. */
  at: Moment,
})
export type Bounce = z.infer<typeof bounce>

/** Everything a `delivery-<id>` stream may hold. A recorded shape is never edited: add a new type. */
export const DeliveryEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('DeliveryScheduled'),
    data: z.strictObject({
      deliveryId: z.string().min(1),
      tenantId: Slug,
      channel: Channel,
      /** The webhook endpoint that it goes to; null for a mail. */
      endpointId: z.string().min(1).nullable(),
      event: DeliveryEventName,
      licenseId: z.string().min(1),
      /** The revision of the event in the license's stream, from which each attempt builds the content. */
      licenseRevision: z.int().nonnegative(),
      /**
       * 1, 2, 3… over the deliveries of one license to one endpoint; null for a mail, and for a replayed event from
       * before the endpoint wanted it.
       */
      sequence: z.int().positive().nullable(),
      at: Moment,
    }),
  }),
  z.object({ type: z.literal('DeliveryAttempted'), data: attempt }),
  /** The attempt began, and its result was not recorded: the receiver may have got it. */
  z.object({ type: z.literal('DeliveryAttemptInterrupted'), data: interruption }),
  z.object({ type: z.literal('DeliverySucceeded'), data: z.strictObject({ at: Moment }) }),
  z.object({
    type: z.literal('DeliveryAbandoned'),
    data: z.strictObject({
      /** `unwanted`: there is no longer a receiver. */
      reason: z.enum(['attempts_spent', 'unwanted']),
      at: Moment,
    }),
  }),
  z.object({ type: z.literal('RedeliveryAsked'), data: z.strictObject({ at: Moment }) }),
  z.object({
    type: z.literal('ReplayAsked'),
    data: z.strictObject({ replayId: z.string().min(1), at: Moment }),
  }),
  /** A mail that its server had accepted did not arrive, or was not wanted. */
  z.object({ type: z.literal('MailBounced'), data: bounce }),
])
export type DeliveryEvent = z.infer<typeof DeliveryEvent>
