import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { LicenseFilter } from '../../../projections/licenses/filter.ts'
import { isId } from '../../credentials/id.ts'
import { licenseStatuses } from '../../domain/licenses/license.ts'
import { isStorable, Slug } from '../../domain/values.ts'
import { PersonId } from '../frame/person-filter.ts'

/** Where licenses come from. */
export const licenseSources = ['api', 'import', 'sale', 'test'] as const

const one = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((value) => [value].flat()[0]?.trim())
  .transform((value) => (value === '' ? undefined : value))

/** A filter in the URL; a value that it does not have is ignored. */
const as = <Rule extends z.ZodType<string>>(rule: Rule) =>
  one.transform((value) => rule.safeParse(value).data)

const day = as(z.iso.date())

/** A name and a value, with the first equals sign between them. */
const pair = as(
  z
    .string()
    .max(1100)
    .regex(/^[^=]{1,64}=/)
    .refine(isStorable),
)

const Query = z.object({
  cursor: one,
  product: as(Slug),
  status: as(z.enum(licenseStatuses)),
  person: one.pipe(PersonId),
  customer: as(z.string().refine((id) => isId('cus', id))),
  source: as(z.enum(licenseSources)),
  test: as(z.enum(['true', 'false'])),
  createdFrom: day,
  createdBefore: day,
  expiresBefore: day,
  metadata: pair,
})

/** The filters in the address of the list. Days are in UTC. */
export type ShownFilter = Omit<z.infer<typeof Query>, 'cursor'>

export function licenseQueryOf(request: FastifyRequest): { cursor: string | undefined; shown: ShownFilter } {
  const { cursor, ...shown } = Query.parse(request.query)
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
  createdAfter: startOf(shown.createdFrom),
  createdBefore: startOf(shown.createdBefore),
  expiresBefore: startOf(shown.expiresBefore),
  ...(metadata !== undefined && { metadata: pairOf(metadata) }),
})

function pairOf(text: string): Record<string, string> {
  const at = text.indexOf('=')
  return { [text.slice(0, at)]: text.slice(at + 1) }
}
