import { z } from 'zod'

const networks = [z.ipv4(), z.cidrv4(), z.ipv6(), z.cidrv6()]

const Network = z
  .string()
  .max(43)
  .refine(
    (text) => networks.some((form) => form.safeParse(text).success),
    'must be an address or a network, such as 203.0.113.0/24 or 2001:db8::/48',
  )

/** When a license of a product looks shared, and what follows. An absent rule notices nothing. */
export const KeySharing = z.strictObject({
  networksPerDay: z.int().min(1).max(1000).optional().meta({
    description: 'From more networks than this, one seat is noticed on a day (UTC): /24 of IPv4, /48 of IPv6',
    example: 3,
  }),
  countriesPerDay: z.int().min(1).max(250).optional().meta({
    description:
      'From more countries than this, one seat is noticed on a day (UTC); needs a database of countries',
    example: 2,
  }),
  hopsPerWeek: z.int().min(1).max(1000).optional().meta({
    description:
      'With more moves of seats from one device to another than this within 7 days, a license is noticed; not where seats float',
    example: 5,
  }),
  action: z.enum(['show', 'suspend']).meta({
    description: 'Whether a license that is noticed is only shown, or suspended as well',
    example: 'show',
  }),
  allow: z
    .array(Network)
    .max(100)
    .optional()
    .meta({
      description: 'Addresses and networks that are never counted, such as those of a VPN',
      example: ['203.0.113.0/24'],
    }),
})
export type KeySharing = z.infer<typeof KeySharing>
