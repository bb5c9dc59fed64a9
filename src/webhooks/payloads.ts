import { z } from 'zod'
import { WebhookEventName } from '../domain/webhooks/events.ts'

/** The version of the payloads' shape, which receivers see in `version`. */
export const payloadVersion = '2026-11-01'

const unixSeconds = z.int().meta({ description: 'Unix seconds', example: 1_795_000_000 })

const common = {
  id: z.string().meta({
    description:
      'The id of the event, the same in all attempts, at all endpoints and in `GET /v1/events`: ignore an id that you have already handled',
    example: 'whd_06f5w3k8hx7vq2m4n9t1r0s5zc',
  }),
  created: unixSeconds,
  version: z.literal(payloadVersion),
  tenant_id: z.string().meta({ example: 'acme' }),
  license_id: z.string().meta({ example: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
  product_id: z.string().meta({ example: 'editor' }),
  key_type_id: z.string().meta({ example: 'pro' }),
  customer_email: z.string().nullable().meta({ example: 'ada@example.com' }),
  test: z.boolean().meta({ description: 'Whether this is a test license, which was not paid for' }),
  sequence: z.int().positive().nullable().meta({
    description:
      '1, 2, 3… within a license, so that an endpoint can detect a gap; null for a replayed event from before the endpoint wanted it',
    example: 1,
  }),
}

const device = {
  device_id: z.string().meta({ example: 'machine-7f3a' }),
  instance_id: z.string().meta({ example: 'ins_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
  device_name: z.string().meta({ example: 'MacBook' }),
}

/** The fields of each event besides the common ones. Only `license.created` may contain a key. */
const more: Record<WebhookEventName, z.ZodRawShape> = {
  'license.created': {
    key: z
      .string()
      .nullable()
      .meta({
        description:
          'The raw key. It is kept until the delivery succeeds, at most 30 days after the delivery was abandoned; null when ' +
          'the delivery is retried after that',
        example: 'ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-Y',
      }),
    session_id: z.string().nullable().meta({ description: 'The payment session', example: 'cs_test_a1b2c3' }),
  },
  'license.activated': device,
  'license.deactivated': device,
  'license.expired': {},
  'license.renewed': { expires_at: unixSeconds },
  'license.updated': {
    quantity: z.int().positive(),
    device_limit: z.int().positive().nullable().meta({
      description: 'The new device limit; null is unlimited. Seats in use stay in use',
      example: 5,
    }),
    expires_at: unixSeconds.nullable().meta({ description: 'The new expiry; null is perpetual' }),
  },
  'license.refunded': {
    sale_id: z.string().meta({ example: 'pi_3OaBcD' }),
    amount: z.int().meta({ description: 'The amount of this refund, in minor units', example: 4900 }),
    total_refunded: z
      .int()
      .meta({ description: 'The total refunded of the sale so far, in minor units', example: 4900 }),
    currency: z.string().meta({ description: 'ISO 4217, lower case', example: 'usd' }),
  },
  'license.reinstated': { sale_id: z.string().meta({ example: 'pi_3OaBcD' }) },
  'license.suspended': {},
  'license.resumed': {},
  'license.revoked': {},
  'license.reminted': {},
}

/** The payload of an event as it is delivered. */
const payloadOf = (event: WebhookEventName) =>
  z.object({ event: z.literal(event), ...common, ...more[event] })

/** A payload as it is sent: the common fields and those of its event. */
export type Payload = z.infer<z.ZodObject<typeof common>> & {
  event: WebhookEventName
  [particular: string]: string | number | boolean | null
}

/** Every payload, in the order of the events. */
export const payloads = WebhookEventName.options.map((event) => ({ event, payload: payloadOf(event) }))

/**
 * An event in the feed: the body of its delivery with the key masked. The sequence is there only if a webhook
 * delivery exists.
 */
const fedEventOf = (event: WebhookEventName) =>
  payloadOf(event).extend({
    sequence: common.sequence.meta({
      description:
        '1, 2, 3… within a license, counting the events that the first endpoint gets; null for the others',
    }),
    ...(event === 'license.created' && {
      key: z.string().meta({ description: 'The key, masked', example: 'ACME…HJ6C' }),
    }),
    record: z.string().nullable().optional().meta({
      description:
        'With `proof=true`: the recorded event as canonical JSON (RFC 8785), to the byte; null until a checkpoint covers it',
    }),
    proof: z.string().nullable().optional().meta({
      description:
        'With `proof=true`: its place in the log, and the signed checkpoint: C2SP tlog-proof; null until a checkpoint covers it',
    }),
  })

export const FedEvent = z
  .discriminatedUnion('event', [
    fedEventOf('license.created'),
    fedEventOf('license.activated'),
    fedEventOf('license.deactivated'),
    fedEventOf('license.expired'),
    fedEventOf('license.renewed'),
    fedEventOf('license.updated'),
    fedEventOf('license.refunded'),
    fedEventOf('license.reinstated'),
    fedEventOf('license.suspended'),
    fedEventOf('license.resumed'),
    fedEventOf('license.revoked'),
    fedEventOf('license.reminted'),
  ])
  .meta({ id: 'PublicEvent' })
export type FedEvent = z.infer<typeof FedEvent>
