import { z } from 'zod'
import { Moment, Slug } from '../values.ts'
import { WebhookEventName } from '../webhooks/events.ts'

/** Which deliveries a replay repeats: those that were given up, or every event of the range. */
export const ReplayOnly = z.enum(['failed', 'all'])
export type ReplayOnly = z.infer<typeof ReplayOnly>

/** An event of a license, named so that it is the same in every copy of the log. */
const place = z.strictObject({
  licenseId: z.string().min(1),
  revision: z.int().nonnegative(),
  at: Moment,
})
export type ReplayPlace = z.infer<typeof place>

/** Everything a `replay-<id>` stream may hold. A recorded shape is never edited: add a new type. */
export const ReplayEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('ReplayRequested'),
    data: z.strictObject({
      replayId: z.string().min(1),
      tenantId: Slug,
      endpointId: z.string().min(1),
      /** Of the events of licenses, by their time. */
      from: Moment,
      to: Moment,
      events: z.array(WebhookEventName).min(1),
      only: ReplayOnly,
      /** How many deliveries were in the range at that moment. */
      total: z.int().nonnegative(),
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('ReplayAdvanced'),
    data: z.strictObject({
      /** The last event whose delivery was made due again. */
      through: place,
      /** How many were since the last such record. */
      count: z.int().positive(),
      at: Moment,
    }),
  }),
  z.object({ type: z.literal('ReplayPaused'), data: z.strictObject({ at: Moment }) }),
  z.object({ type: z.literal('ReplayResumed'), data: z.strictObject({ at: Moment }) }),
  z.object({ type: z.literal('ReplayFinished'), data: z.strictObject({ at: Moment }) }),
  z.object({
    type: z.literal('ReplayCanceled'),
    data: z.strictObject({ reason: z.enum(['requested', 'endpoint_removed']), at: Moment }),
  }),
])
export type ReplayEvent = z.infer<typeof ReplayEvent>
