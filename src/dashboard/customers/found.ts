import type { FastifyRequest } from 'fastify'
import { type CustomerEntry, findCustomer } from '../../../projections/customers.ts'
import { isId } from '../../credentials/id.ts'
import { notFound } from '../../http/problem.ts'
import type { Ports } from '../../ports.ts'
import { type Person, unknownPerson } from '../../vault/subjects.ts'
import type { Crumb } from '../frame/navigation.ts'
import { principalOf } from '../session/principal.ts'

export type CustomerRequest = FastifyRequest<{ Params: { id: string } }>

/** The customer that a page is about. @throws Problem 404, also for a malformed id and another tenant's customer */
export async function customerOf(
  ports: Ports<'db' | 'subjects'>,
  request: CustomerRequest,
): Promise<CustomerEntry & { person: Person }> {
  const { tenantId } = principalOf(request)
  const { id } = request.params
  const entry = isId('cus', id) ? await findCustomer(ports.db, tenantId, id) : undefined
  if (!entry) throw notFound('customer')
  const [person = unknownPerson] = await ports.subjects.openPeople(tenantId, [entry.customer])
  return { ...entry, person }
}

/** The pages above one that changes a part of a customer. */
export const aboveIn = (customerId: string): Crumb[] => [
  { label: 'Customers', href: '/dashboard/customers' },
  { label: customerId, href: `/dashboard/customers/${customerId}` },
]
