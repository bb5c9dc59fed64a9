import type { preValidationHookHandler } from 'fastify'
import { z } from 'zod'
import type { LicenseFilter } from '../../../../projections/licenses/filter.ts'
import { EmailAddress, isStorable } from '../../../domain/values.ts'
import { licenseSource, licenseStatus } from '../../../http/licenses/license.ts'
import { inUtc, momentIn, productQuery, text } from '../../../http/schemas.ts'
import type { Ports } from '../../../ports.ts'

const pairs = z
  .record(
    z.string().min(1).max(64).refine(isStorable, 'must be well-formed text without NUL'),
    z.string().max(1024).refine(isStorable, 'must be well-formed text without NUL'),
  )
  .refine((given) => Object.keys(given).length <= 10, 'must have at most 10 pairs')

/** The query parameters that narrow a list of licenses. */
export const licenseFilterQuery = {
  product: productQuery,
  status: licenseStatus.optional().meta({ description: 'Only licenses with this status' }),
  email: EmailAddress.optional().meta({ description: 'Only licenses issued to this email address' }),
  customer: text(64).optional().meta({
    description: 'Only licenses of the customer with this id',
    example: 'cus_06f5w3k8hx7vq2m4n9t1r0s5zc',
  }),
  created_after: momentIn.optional().meta({ description: 'Only licenses created at this time or later' }),
  created_before: momentIn.optional().meta({ description: 'Only licenses created before this time' }),
  expires_before: momentIn.optional().meta({
    description:
      'Only licenses that expire before this time, or have expired; without those that never expire',
  }),
  source: licenseSource.optional().meta({ description: 'Only licenses that came to be in this way' }),
  test: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true`: only test licenses, which were not paid for; `false`: only the others' }),
  shared: z.enum(['true', 'false']).optional().meta({
    description: '`true`: only licenses that look shared, with an open notice; `false`: only the others',
  }),
  metadata: pairs.optional().meta({
    description: 'Only licenses with these pairs: `metadata[order]=4711`',
  }),
}

const Query = z.object(licenseFilterQuery)
type Query = z.infer<typeof Query>

/** Gathers `metadata[k]=v` into one object, which the query parser leaves as separate parameters. */
export const gatherMetadata: preValidationHookHandler = (request, _reply, done) => {
  const query = Object.entries(z.record(z.string(), z.unknown()).parse(request.query))
  const named = query.flatMap(([name, value]): [string, unknown][] => {
    const key = /^metadata\[(.*)\]$/su.exec(name)?.[1]
    return key === undefined ? [] : [[key, value]]
  })
  if (named.length > 0) {
    const others = query.filter(([name]) => !name.startsWith('metadata['))
    request.query = { ...Object.fromEntries(others), metadata: Object.fromEntries(named) }
  }
  done()
}

/** The filter that a query asks for. A person who is unknown holds no license. */
export async function licenseFilterFrom(
  { subjects }: Ports<'subjects'>,
  tenantId: string,
  { product, customer, email, test, shared, created_after, created_before, expires_before, ...query }: Query,
): Promise<LicenseFilter> {
  return {
    productId: product,
    status: query.status,
    ...(email !== undefined && { subjectId: (await subjects.findSubject(tenantId, email)) ?? '' }),
    ...(customer !== undefined && { customerId: customer }),
    ...(created_after !== undefined && { createdAfter: inUtc(created_after) }),
    ...(created_before !== undefined && { createdBefore: inUtc(created_before) }),
    ...(expires_before !== undefined && { expiresBefore: inUtc(expires_before) }),
    ...(query.source !== undefined && { source: query.source }),
    ...(test !== undefined && { test: test === 'true' }),
    ...(shared !== undefined && { shared: shared === 'true' }),
    ...(query.metadata !== undefined && { metadata: query.metadata }),
  }
}

/** What a cursor of the list is bound to. */
export function filterBinding({ productId, status, ...others }: LicenseFilter): readonly unknown[] {
  const given = Object.entries(others).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return [productId ?? null, status ?? null, ...(given.length === 0 ? [] : [given])]
}
