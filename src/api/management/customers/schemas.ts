import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { CustomerEntry } from '../../../../projections/customers.ts'
import { isId } from '../../../credentials/id.ts'
import {
  EntitlementOverride,
  type ExplainedOverride,
  maxOverrides,
} from '../../../domain/customers/overrides.ts'
import { wholeSeconds } from '../../../domain/licenses/expiry.ts'
import { MetersOfCustomer } from '../../../domain/meters/terms.ts'
import type { People } from '../../../domain/organizations/people.ts'
import { EmailAddress } from '../../../domain/values.ts'
import { callerIn } from '../../../http/authenticate.ts'
import { notFound } from '../../../http/problem.ts'
import { metadataIn, momentIn, momentOut, text } from '../../../http/schemas.ts'
import { isSearchable } from '../../../vault/people-parts.ts'
import type { Person } from '../../../vault/subjects.ts'

const value = EntitlementOverride.shape.value.meta({
  description:
    'The value of the entitlement, in place of the one of the key type; only with `grant`. Absent leaves that as it is',
  example: 50,
})

const metersText =
  'What the licenses of the customer share of what is metered. Under such a meter they use what the customer has, not what their ' +
  'key types have; what was used stays counted'

const overrideOut = EntitlementOverride.omit({ sealedReason: true })
  .extend({
    value,
    productId: EntitlementOverride.shape.productId.meta({
      description: 'Applies to this product only; absent if it applies to every product',
      example: 'editor',
    }),
    expiresAt: momentOut.optional().meta({
      description: 'The override has no effect from this time on; absent if it lasts',
      example: '2027-11-21T00:00:00.000Z',
    }),
  })
  .meta({
    id: 'EntitlementOverride',
    description: "What a customer's licenses have or lack besides the entitlements of their key types",
  })

export const customerOut = z
  .object({
    id: z.string().meta({ description: 'The id of the customer', example: 'cus_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
    email: z.string().nullable().meta({
      description: 'Their email address; null once the person has been erased',
      example: 'grace@example.com',
    }),
    name: z.string().nullable().meta({
      description: 'Their name; null if none is known, or once the person has been erased',
      example: 'Grace Hopper',
    }),
    metadata: z.record(z.string(), z.string()),
    licenseIds: z.array(z.string()).meta({
      description: 'The ids of their licenses, newest first',
      example: ['lic_06f5w3k8hx7vq2m4n9t1r0s5zc'],
    }),
    entitlementOverrides: z
      .array(overrideOut)
      .meta({ description: 'What their licenses have or lack besides what their key types grant' }),
    meters: MetersOfCustomer.optional().meta({ description: `${metersText}. Absent without any` }),
    organization: z
      .object({
        administrators: z
          .int()
          .meta({ description: 'How many of its people are administrators', example: 1 }),
        members: z.int().meta({ description: 'How many are members', example: 29 }),
      })
      .optional()
      .meta({ description: 'How many people the organization has. Absent for a customer who is one person' }),
    mergedInto: z.string().optional().meta({
      description: 'The id of the customer that this one was merged into. Absent unless it was merged',
    }),
    createdAt: momentOut,
    erasedAt: momentOut.nullable().meta({
      description: 'When the person was erased; null if they were not',
      example: null,
    }),
  })
  .meta({ id: 'Customer', description: 'A person or an organization who holds licenses' })

/** The query parameters that narrow a list of customers. */
export const customerFilterQuery = {
  email: EmailAddress.optional().meta({
    description: 'The whole email address of the customer',
    example: 'grace@example.com',
  }),
  name: text(200)
    .refine(isSearchable, 'must have at least three characters')
    .optional()
    .meta({ description: 'Three or more characters of the name of the customer', example: 'hopper' }),
}

export const customerIn = z
  .strictObject({
    email: EmailAddress.meta({ description: 'Their email address', example: 'grace@example.com' }),
    name: text(200).optional().meta({ description: 'Their name', example: 'Grace Hopper' }),
    metadata: metadataIn.optional(),
    meters: MetersOfCustomer.optional().meta({ description: metersText }),
  })
  .meta({ example: { email: 'grace@example.com', name: 'Grace Hopper' } })

export const customerChange = z
  .strictObject({
    email: EmailAddress.optional().meta({ description: 'Their new email address' }),
    name: text(200).nullable().optional().meta({ description: 'Their new name; null removes it' }),
    metadata: metadataIn.optional().meta({ description: 'Replaces all pairs' }),
    meters: MetersOfCustomer.optional().meta({ description: `${metersText}. Replaces all meters` }),
  })
  .meta({ example: { name: 'Grace Murray Hopper' } })

const overrideIn = z
  .strictObject({
    entitlement: EntitlementOverride.shape.entitlement,
    effect: EntitlementOverride.shape.effect,
    value,
    productId: EntitlementOverride.shape.productId.meta({
      description: 'Applies to every product when absent',
    }),
    expiresAt: momentIn.optional().meta({
      description:
        'The override has no effect from this time on; may be in the past; truncated to the second',
    }),
    reason: text(500)
      .optional()
      .meta({ description: 'A note for people, which is erased with the customer' }),
  })
  .refine(({ effect, value }) => effect === 'grant' || value === undefined, {
    path: ['value'],
    message: 'only what is granted has a value; leave it out',
  })

export const overridesIn = z
  .strictObject({
    overrides: z
      .array(overrideIn)
      .max(maxOverrides)
      .meta({ description: 'All overrides of the customer, in any order; none removes them' }),
  })
  .meta({
    example: {
      overrides: [{ entitlement: 'export', effect: 'grant', expiresAt: '2027-11-21T00:00:00.000Z' }],
    },
  })

/** The overrides in the format of the log: times in UTC, absent fields left out. */
export function overridesFrom({ overrides }: z.infer<typeof overridesIn>): ExplainedOverride[] {
  return overrides.map(({ expiresAt, ...override }) => ({
    ...override,
    ...(expiresAt !== undefined && { expiresAt: wholeSeconds(expiresAt) }),
  }))
}

/** The public form of a customer. */
export function customerView(
  { customer, licenseIds }: CustomerEntry,
  person: Person,
  overrides: ExplainedOverride[],
): z.infer<typeof customerOut> {
  return {
    id: customer.customerId,
    email: person.email,
    name: person.name,
    metadata: customer.metadata,
    licenseIds,
    entitlementOverrides: overrides,
    ...(customer.meters.length > 0 && { meters: [...customer.meters] }),
    ...(customer.people && { organization: peopleIn(customer.people) }),
    ...(customer.mergedInto !== undefined && { mergedInto: customer.mergedInto }),
    createdAt: customer.createdAt,
    erasedAt: customer.erasedAt,
  }
}

function peopleIn(people: People) {
  const all = Object.values(people)
  const administrators = all.filter(({ role }) => role === 'administrator').length
  return { administrators, members: all.length - administrators }
}

/** A malformed id gets the same 404 as an unknown one. */
export function requireCustomerId(id: string): string {
  if (!isId('cus', id)) throw notFound('customer')
  return id
}

/** The customer that a request is about, in the workspace of its caller. @throws Problem 404 for a malformed id */
export const placeIn = (request: FastifyRequest & { params: { id: string } }) => ({
  tenantId: callerIn(request).tenantId,
  customerId: requireCustomerId(request.params.id),
})
