import { z } from 'zod'
import { SharingRule } from '../domain/licenses/sharing-events.ts'
import { WebhookEventName } from '../domain/webhooks/events.ts'

/** The version of the payloads' shape, which receivers see in `version`. */
export const payloadVersion = '2026-11-01'

/** When each event is sent, in words. */
export const whenSent: Record<WebhookEventName, string> = {
  'license.created': 'A license was issued for a sale; the event contains its key',
  'license.activated': 'A device was activated',
  'license.deactivated': 'A device was deactivated',
  'license.expired': 'A license expired or fell back',
  'license.renewed': 'A license was renewed',
  'license.updated':
    'The terms or the holder of a license changed, other than by a renewal: it was edited, its term started with ' +
    'its first activation, its subscription was changed or ended, or the payment of a period was refunded',
  'license.refunded':
    'A payment was refunded in full or lost in a dispute. If no payment is left, the license is revoked too',
  'license.suspended': 'A license was suspended: it is not valid until it is resumed',
  'license.resumed': 'A suspended license was resumed',
  'license.reinstated': 'A payment is valid again, for example after a dispute was won',
  'license.revoked': 'A license was revoked, or its import taken back',
  'license.reminted': 'A license was reminted: it has a new key',
  'license.issued': 'A license was issued by its vendor: minted, or imported from another system',
  'license.linked': 'A license was linked to a customer',
  'license.unlinked': 'A license was unlinked from its customer',
  'license.holder_erased': 'The personal data of the holder of a license was erased',
  'license.revocation_undone': 'The revocation of a license was undone',
  'license.updates_extended': 'A later payment extended the period in which a license covers new builds',
  'license.expiring':
    'A license expires in so many days: by the setting `expiringNotice` of its product, or 14 and 3 days before',
  'license.renewal_failed':
    'The payment for the renewal of a license failed: once for each payment, whatever its number of attempts',
  'license.relay_forked':
    'A relay of a license turned out to have been copied, and is not renewed any more: once for each relay',
  'license.seats_exhausted':
    'A device found all floating seats of a license taken: at most once an hour for each license',
  'license.seat_assigned': 'A person was given a seat of a license whose seats are of people',
  'license.seat_unassigned':
    'A person lost their seat of a license, and their devices were freed: it was taken, or they left the organization',
  'license.shared':
    'A license looks shared, by a rule of its product or because its key was found published: at most once a day for each rule',
  'license.sharing_allowed': 'A person decided that a license may be used as it is, or may not any more',
  'usage.threshold':
    'So many percent of what a license has of a meter are used: once for each threshold of the key type and period, and again only after ' +
    'a credit or a correction',
  'usage.period_closed':
    'Nothing more counts in a period of a meter in which something was used: its totals, for billing. Once for each period, a week after ' +
    'its end; of one by purchase when the next one begins',
}

const personId = z.string().meta({
  description: 'The id that the person has in the organization',
  example: 'per_06f5w3k8hx7vq2m4n9t1r0s5zc',
})

const unixSeconds = z.int().meta({ description: 'Unix seconds', example: 1_826_789_400 })

const common = {
  id: z.string().meta({
    description:
      'The id of the event, the same in all attempts, at all endpoints and in `GET /v1/events`: ignore an id that you have already handled',
    example: 'whd_06f5w3k8hx7vq2m4n9t1r0s5zc',
  }),
  created: z.int().meta({ description: 'When the event happened, in Unix seconds', example: 1_795_253_400 }),
  version: z.literal(payloadVersion),
  tenant_id: z.string(),
  license_id: z.string(),
  product_id: z.string(),
  key_type_id: z.string(),
  customer_email: z.string().nullable().meta({
    description:
      'The email address of the person who holds the license; null if none is known, or once the person is erased',
    example: 'grace@example.com',
  }),
  test: z.boolean(),
  sequence: z.int().positive().nullable().meta({
    description:
      '1, 2, 3… within a license, so that an endpoint can detect a gap; null for a replayed event from before the endpoint wanted it',
    example: 1,
  }),
}

const device = { device_id: z.string(), instance_id: z.string(), device_name: z.string() }

const terms = {
  quantity: z.int().positive(),
  device_limit: z.int().positive().nullable().meta({
    description: 'The device limit; null is unlimited. Seats in use stay in use',
    example: 5,
  }),
  expires_at: unixSeconds.nullable().meta({ description: 'The expiry in Unix seconds; null is perpetual' }),
  updates_until: unixSeconds.nullable().optional().meta({
    description:
      'The last moment of a build that the license covers, in Unix seconds; null when it covers every build. Absent when the event does not set it',
  }),
}

const customer = {
  customer_id: z.string().meta({
    description: 'The customer that the license was linked to, or unlinked from',
    example: 'cus_06f5w3k8hx7vq2m4n9t1r0s5zc',
  }),
}

const meter = {
  meter: z.string().meta({ description: 'The id of the meter', example: 'api-calls' }),
  unit: z.string().meta({ description: 'What is counted', example: 'calls' }),
  customer_id: z.string().nullable().meta({
    description:
      'The customer whose licenses share the meter, of which `license_id` used it last; null for a meter of the license alone',
  }),
  period_starts_at: unixSeconds.meta({ description: 'When the period began, in Unix seconds' }),
}

const amount = (description: string, example: string) =>
  z.string().meta({ description: `${description}, as a decimal number`, example })

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
        example: 'ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7',
      }),
    session_id: z.string().nullable().meta({
      description: "The provider's id of the checkout or the order; null if it is not known",
      example: 'cs_live_a1b2c3',
    }),
  },
  'license.activated': device,
  'license.deactivated': device,
  'license.expired': {},
  'license.renewed': { expires_at: unixSeconds.meta({ description: 'The new expiry in Unix seconds' }) },
  'license.updated': terms,
  'license.refunded': {
    sale_id: z.string(),
    amount: z.int().meta({ description: 'The amount of this refund, in minor units', example: 4900 }),
    total_refunded: z
      .int()
      .meta({ description: 'The total refunded of the sale so far, in minor units', example: 4900 }),
    currency: z.string().meta({ description: 'ISO 4217, lower case', example: 'usd' }),
  },
  'license.reinstated': { sale_id: z.string() },
  'license.suspended': {},
  'license.resumed': {},
  'license.revoked': {},
  'license.reminted': {},
  'license.issued': {
    source: z
      .enum(['api', 'import'])
      .meta({ description: 'Whether it was minted or imported', example: 'api' }),
    ...terms,
  },
  'license.linked': customer,
  'license.unlinked': customer,
  'license.holder_erased': {},
  'license.revocation_undone': {},
  'license.updates_extended': {
    updates_until: unixSeconds.meta({
      description: 'The last moment of a build that the license covers, in Unix seconds',
    }),
  },
  'license.expiring': {
    expires_at: unixSeconds.meta({ description: 'The expiry in Unix seconds' }),
    days_before: z.int().meta({
      description: 'How many days before the expiry the notice was due; fewer are left if it was late',
      example: 14,
    }),
  },
  'license.renewal_failed': {
    sale_id: z.string(),
    payment_id: z.string().meta({
      description:
        "The provider's id of the payment, such as of the invoice; of Polar, which sends none, the subscription and the end of the period",
      example: 'in_1MtHbELkdIwHu7iy',
    }),
    attempt: z.int().positive().nullable().meta({
      description: 'How many attempts had failed; null where the provider does not say',
      example: 1,
    }),
    next_attempt_at: unixSeconds.nullable().meta({
      description:
        'When the provider tries again, in Unix seconds; null where it does not say, or does not try again',
    }),
  },
  'license.relay_forked': {
    relay_id: z
      .string()
      .meta({ description: 'The id of the relay', example: 'rel_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
    relay_name: z.string().meta({ description: 'The name that it gave itself', example: 'Render farm' }),
  },
  'license.seats_exhausted': {
    seats: z.int().positive().meta({
      description: 'How many floating seats were taken, with those above the limit',
      example: 12,
    }),
    waiting: z.int().positive().meta({ description: 'How many takers waited for one', example: 3 }),
  },
  'license.seat_assigned': { person_id: personId },
  'license.seat_unassigned': {
    person_id: personId,
    waits_until: unixSeconds.nullable().meta({
      description:
        'Until when the customer cannot give the seat to another person, in Unix seconds; null where they can',
    }),
  },
  'license.shared': {
    rule: SharingRule.meta({ description: 'By what it looks shared', example: 'networks' }),
    count: z.int().positive().meta({ description: 'What was counted', example: 5 }),
    limit: z.int().positive().nullable().meta({
      description: 'What the rule allows; null for a published key',
      example: 3,
    }),
    day: z.iso.date().meta({ description: 'The day that it was counted for, in UTC', example: '2026-11-24' }),
    suspended: z.boolean().meta({ description: 'Whether this suspended the license', example: false }),
  },
  'license.sharing_allowed': {
    allowed: z.boolean().meta({ description: 'Whether it may be used as it is', example: true }),
  },
  'usage.threshold': {
    ...meter,
    resets_at: unixSeconds.nullable().meta({
      description: 'When the period ends, in Unix seconds; null while nothing is known to end it',
    }),
    percent: z.int().positive().meta({ description: 'The threshold', example: 80 }),
    used: amount('How much was used in the period, in all', '8000'),
    remaining: amount('What is left of all that there is, without what would be beyond it', '2000'),
    overage: amount('How much of what was used is beyond it', '0'),
  },
  'usage.period_closed': {
    ...meter,
    period_ended_at: unixSeconds.meta({ description: 'When the period ended, in Unix seconds' }),
    used: amount('How much was used in the period, in all', '10500'),
    from_rolled_over: amount('How much of it came from what the period before left over', '0'),
    from_included: amount('How much of it came from what the period included', '10000'),
    from_credits: amount('How much of it came from prepaid credits', '300'),
    overage: amount('How much of it was beyond all that', '200'),
  },
}

/** The payload of an event as it is delivered. */
export const payloadOf = (event: WebhookEventName) =>
  z.object({ event: z.literal(event), ...common, ...more[event] })

/** A payload as it is sent: the common fields and those of its event. */
export type Payload = z.infer<z.ZodObject<typeof common>> & {
  event: WebhookEventName
  [particular: string]: string | number | boolean | null
}

/** Every payload, in the order of the events. */
export const payloads = WebhookEventName.options.map((event) => ({ event, payload: payloadOf(event) }))
