import { z } from 'zod'
import { WebhookEventName } from '../../domain/webhooks/events.ts'
import { licenseAloneOut, licenseAloneView } from '../../http/licenses/license.ts'
import { payloadOf } from '../../webhooks/payloads.ts'
import type { FedContent } from '../../webhooks/public-events.ts'

/** An event in the feed: the body of its delivery with the key masked, its number in the feed, and the license after it. */
const fedEventOf = (event: WebhookEventName) =>
  payloadOf(event).extend({
    sequence: z.int().positive().meta({
      description: '1, 2, 3… over all events of the license in the feed, whatever any endpoint gets',
      example: 1,
    }),
    /** Right after the event. */
    license: licenseAloneOut,
    record: z.string().nullable().optional().meta({
      description:
        'The recorded event as canonical JSON (RFC 8785), to the byte; null until a checkpoint covers it, absent without `proof=true`',
    }),
    proof: z.string().nullable().optional().meta({
      description:
        'Its place in the log, and the signed checkpoint: C2SP tlog-proof; null until a checkpoint covers it, absent without `proof=true`',
    }),
  })

const created = 'license.created'

export const FedEvent = z
  .discriminatedUnion('event', [
    fedEventOf(created).extend({
      key: z.string().meta({ description: 'The key, masked', example: 'ACME…HJ6C' }),
    }),
    ...WebhookEventName.exclude([created]).options.map(fedEventOf),
  ])
  .meta({
    id: 'PublicEvent',
    description: 'An event of a license as its delivery has it, and the license after it',
  })
export type FedEvent = z.infer<typeof FedEvent>

export function fedEvent({ payload, license, place }: FedContent): FedEvent {
  return FedEvent.parse({ ...payload, license: licenseAloneView(license, payload.customer_email, place.at) })
}
