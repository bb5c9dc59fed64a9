import { z } from 'zod'
import type { CustomerEntry } from '../../../../projections/customers/queries.ts'
import { EntitlementOverride, maxOverrides } from '../../../domain/customers/overrides.ts'
import { wholeSeconds } from '../../../domain/licenses/expiry.ts'
import { EmailAddress } from '../../../domain/values.ts'
import { metadataIn, momentIn, momentOut, text } from '../../../http/schemas.ts'
import { isSearchable } from '../../../vault/people-parts.ts'
import type { Person } from '../../../vault/subjects.ts'

const overrideOut = EntitlementOverride.extend({
  productId: EntitlementOverride.shape.productId.meta({ description: 'Applies to this product only' }),
  expiresAt: momentOut.optional().meta({ description: 'The override has no effect from this time on' }),
}).meta({ id: 'EntitlementOverride' })

export const customerOut = z
  .object({
    id: z.string().meta({ example: 'cus_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
    email: z.string().nullable().meta({ description: 'null once the person has been erased' }),
    name: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    licenseIds: z.array(z.string()).meta({ description: 'Newest first' }),
    entitlementOverrides: z.array(overrideOut),
    createdAt: momentOut,
    erasedAt: momentOut.nullable().meta({ description: 'When the person was erased; null if they were not' }),
  })
  .meta({ id: 'Customer' })

/** The query parameters that narrow a list of customers. */
export const customerFilterQuery = {
  email: EmailAddress.optional().meta({ description: 'The whole email address of the customer' }),
  name: text(200)
    .refine(isSearchable, 'must have at least three characters')
    .optional()
    .meta({ description: 'Three or more characters of the name of the customer', example: 'lovelace' }),
}

export const customerIn = z
  .strictObject({
    email: EmailAddress,
    name: text(200).optional(),
    metadata: metadataIn.optional(),
  })
  .meta({ example: { email: 'ada@example.com', name: 'Ada Lovelace' } })

export const customerChange = z
  .strictObject({
    email: EmailAddress.optional(),
    name: text(200).nullable().optional().meta({ description: 'null removes it' }),
    metadata: metadataIn.optional().meta({ description: 'Replaces all pairs' }),
  })
  .meta({ example: { name: 'Ada King' } })

const overrideIn = z.strictObject({
  entitlement: EntitlementOverride.shape.entitlement,
  effect: EntitlementOverride.shape.effect,
  productId: EntitlementOverride.shape.productId.meta({
    description: 'Applies to every product when absent',
  }),
  expiresAt: momentIn.optional().meta({
    description: 'The override has no effect from this time on; may be in the past; truncated to the second',
  }),
  reason: text(500).optional().meta({ description: 'A note for people; do not put personal data here' }),
})

export const overridesIn = z.strictObject({ overrides: z.array(overrideIn).max(maxOverrides) }).meta({
  example: { overrides: [{ entitlement: 'export', effect: 'grant', expiresAt: '2027-11-21T00:00:00.000Z' }] },
})

/** The overrides in the format of the log: times in UTC, absent fields left out. */
export function overridesFrom({ overrides }: z.infer<typeof overridesIn>): EntitlementOverride[] {
  return overrides.map(({ expiresAt, ...override }) => ({
    ...override,
    ...(expiresAt !== undefined && { expiresAt: wholeSeconds(expiresAt) }),
  }))
}

/** The public form of a customer. */
export function customerView(
  { customer, licenseIds }: CustomerEntry,
  person: Person,
): z.infer<typeof customerOut> {
  return {
    id: customer.customerId,
    email: person.email,
    name: person.name,
    metadata: customer.metadata,
    licenseIds,
    entitlementOverrides: [...customer.overrides],
    createdAt: customer.createdAt,
    erasedAt: customer.erasedAt,
  }
}
