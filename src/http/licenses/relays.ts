import { z } from 'zod'
import type { RelayAnswer } from '../../commands/devices/relays.ts'
import { type Relay, relayStates, seatsOfRelay, stateOfRelay } from '../../domain/licenses/relay-seats.ts'
import { isPlain, notPlain } from '../../domain/values.ts'
import { maxRelayStatementLength } from '../../signing/relay-bounds.ts'
import { momentOut } from '../schemas.ts'

/** A text that was carried here from a relay, in lines. */
const statement = z
  .string()
  .min(1)
  .max(maxRelayStatementLength)
  .refine((value) => isPlain(value.replaceAll(/[\t\r\n]/g, '')), notPlain)

export const relayRequest = statement.meta({
  description: 'The request that the relay made, to be enrolled or renewed',
  example: '-----BEGIN KEYLEDGER RELAY REQUEST-----\nv4.public.…\n-----END KEYLEDGER RELAY REQUEST-----',
})

export const relayRelease = statement.meta({
  description: 'The release that the relay made when it stopped',
  example: '-----BEGIN KEYLEDGER RELAY RELEASE-----\nv4.public.…\n-----END KEYLEDGER RELAY RELEASE-----',
})

export const relayReleased = z.object({
  released: z.literal(true).meta({ description: 'Always true: the relay has no seats' }),
})

export const relayOut = z
  .object({
    relayId: z
      .string()
      .meta({ description: 'The id of the relay', example: 'rel_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
    name: z.string().meta({ description: 'The name that it gave itself', example: 'Render farm' }),
    state: z.enum(relayStates).meta({
      description:
        '`living`: it gives out seats. `ended`: its certificate is over; it may be renewed. `released`: it gave its seats back. ' +
        '`copied`: it was copied, and is not renewed any more',
      example: 'living',
    }),
    seats: z.int().meta({ description: 'How many seats it may give out', example: 5 }),
    seatsTaken: z.int().meta({
      description:
        'How many seats of the license it takes now: also those of an earlier certificate with more, until that ends',
      example: 5,
    }),
    endsAt: momentOut.meta({
      description: 'Until when it may go on without renewal',
      example: '2026-12-24T14:05:12.000Z',
    }),
    enrolledAt: momentOut.meta({ example: '2026-11-24T14:05:12.000Z' }),
    certifiedAt: momentOut.meta({
      description: 'When it was last renewed, or enrolled',
      example: '2026-11-24T14:05:12.000Z',
    }),
    releasedAt: momentOut
      .optional()
      .meta({ description: 'When it gave its seats back; absent unless it did', example: undefined }),
    copiedAt: momentOut.optional().meta({
      description: 'When it was found that it had been copied; absent unless it was',
      example: undefined,
    }),
  })
  .meta({ id: 'Relay', description: "A relay in a customer's network, which gives out seats of a license" })

/** A relay as it is at a moment. */
export const relayView = (relay: Relay, now: string): z.infer<typeof relayOut> => ({
  relayId: relay.relayId,
  name: relay.name,
  state: stateOfRelay(relay, now),
  seats: relay.seats,
  seatsTaken: seatsOfRelay(relay, now),
  endsAt: relay.endsAt,
  enrolledAt: relay.enrolledAt,
  certifiedAt: relay.certifiedAt,
  ...(relay.releasedAt !== null && { releasedAt: relay.releasedAt }),
  ...(relay.forkedAt !== null && { copiedAt: relay.forkedAt }),
})

export const relayAnswer = z
  .object({
    certificate: z.string().meta({
      description:
        'A `v4.public` token of PASETO with the implicit assertion `keyledger:relay1:<tenantId>:<productId>`, signed by the tenant for the key of the relay',
      example: 'v4.public.eyJpYXQiOiIyMDI2LTExLTI3VDEwOjAwOjAwWiJ9…',
    }),
    keys: z.record(z.string(), z.string()).meta({
      description: 'The public keys of the tenant by `kid`: raw Ed25519, base64',
      example: { '21fe31dfa154a261': '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=' },
    }),
    settings: z
      .object({
        trial_duration_days: z
          .int()
          .meta({ description: 'Days that a new install may run without a license', example: 14 }),
        free_tier_enabled: z.boolean(),
        kid: z.string(),
        issued_at: z.int(),
        expires_at: z.int(),
        signature: z.string().meta({
          description: 'Base64 Ed25519, as in the answer of that call',
          example: 'Kx3bT9Kx3bT9Kx3bT9Kx3bT9Kg==',
        }),
      })
      .nullable()
      .meta({
        description:
          'The settings of the product as `GET /{tenantId}/{productId}/config` has them; null where they are not signed',
        example: null,
      }),
    product: z
      .object({
        tenantId: z.string(),
        productId: z.string(),
        name: z.string().meta({ description: 'What the product is called', example: 'Editor' }),
      })
      .meta({ description: 'The product of the license' }),
  })
  .meta({
    id: 'RelayAnswer',
    description: 'What a relay needs to give out seats by itself, to be carried to it as JSON',
  }) satisfies z.ZodType<RelayAnswer>
