import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { LicenseFilter } from '../../../projections/licenses/filter.ts'
import { licenseStatuses } from '../../domain/licenses/status.ts'
import { isStorable, Slug } from '../../domain/values.ts'
import { one, oneAs, oneCustomer, oneDay, PersonId } from '../lists/lists.ts'

/** Where licenses come from. */
export const licenseSources = ['api', 'import', 'sale', 'test'] as const

/** A name and a value, with the first equals sign between them. */
const pair = oneAs(
  z
    .string()
    .max(1100)
    .regex(/^[^=]{1,64}=/)
    .refine(isStorable),
)

export const LicenseQuery = z.object({
  cursor: one,
  product: oneAs(Slug),
  status: oneAs(z.enum(licenseStatuses)),
  person: one.pipe(PersonId),
  customer: oneCustomer,
  source: oneAs(z.enum(licenseSources)),
  test: oneAs(z.enum(['true', 'false'])),
  shared: oneAs(z.enum(['true', 'false'])),
  createdFrom: oneDay,
  createdBefore: oneDay,
  expiresBefore: oneDay,
  metadata: pair,
})

/** The filters in the address of the list. Days are in UTC. */
export type ShownFilter = Omit<z.infer<typeof LicenseQuery>, 'cursor'>

export function licenseQueryOf(request: FastifyRequest): { cursor: string | undefined; shown: ShownFilter } {
  const { cursor, ...shown } = LicenseQuery.parse(request.query)
  return { cursor, shown }
}

const startOf = (day: string | undefined) => day && new Date(day).toISOString()

/** The filter of the read model, as of `GET /v1/licenses`. */
export const filterOf = ({ metadata, ...shown }: ShownFilter): LicenseFilter => ({
  productId: shown.product,
  status: shown.status,
  subjectId: shown.person,
  customerId: shown.customer,
  source: shown.source,
  test: shown.test && shown.test === 'true',
  shared: shown.shared && shown.shared === 'true',
  createdAfter: startOf(shown.createdFrom),
  createdBefore: startOf(shown.createdBefore),
  expiresBefore: startOf(shown.expiresBefore),
  ...(metadata !== undefined && { metadata: pairOf(metadata) }),
})

function pairOf(text: string): Record<string, string> {
  const at = text.indexOf('=')
  return { [text.slice(0, at)]: text.slice(at + 1) }
}
