import type { FastifyRequest } from 'fastify'
import { type CustomerEntry, findCustomer, type PresentCustomer } from '../../../projections/customers.ts'
import { isId } from '../../credentials/id.ts'
import { notFound } from '../../http/problem.ts'
import type { Ports } from '../../ports.ts'
import { findCustomersByPersonPart } from '../../search/people.ts'
import { type Person, unknownPerson } from '../../vault/subjects.ts'
import type { Crumb } from '../frame/navigation.ts'
import { pageRoute } from '../frame/page-route.ts'
import { principalOf } from '../session/principal.ts'

/** A customer that a text may mean. */
export type Candidate = { customerId: string; person: Person }

/** The customers that a text means: one with the id or the address itself, or all whose name or address contains it. */
export type Meant = {
  candidates: Candidate[]
  /** There may be others. */
  more: boolean
}

/** As many as a person looks through. */
const maxCandidates = 20

/** Finds the customers that a typed text means: an id, an email address, or a part of an address or a name. */
export async function customersMeant(
  ports: Ports<'db' | 'subjects'>,
  tenantId: string,
  text: string,
): Promise<Meant> {
  if (text.startsWith('cus_')) {
    const entry = isId('cus', text) ? await findCustomer(ports.db, tenantId, text) : undefined
    return { candidates: await withPeople(ports, tenantId, entry ? [entry.customer] : []), more: false }
  }
  const { customers, more } = await findCustomersByPersonPart(ports, tenantId, text)
  const present = customers.filter(
    ({ erasedAt, mergedInto }) => erasedAt === null && mergedInto === undefined,
  )
  const candidates = await withPeople(ports, tenantId, present)
  const exact = candidates.filter(({ person }) => person.email?.toLowerCase() === text.toLowerCase())
  if (exact.length > 0) return { candidates: exact.slice(0, maxCandidates), more: false }
  return { candidates: candidates.slice(0, maxCandidates), more: more || candidates.length > maxCandidates }
}

async function withPeople(
  { subjects }: Ports<'subjects'>,
  tenantId: string,
  customers: readonly PresentCustomer[],
): Promise<Candidate[]> {
  const people = await subjects.openPeople(tenantId, customers)
  return customers.map(({ customerId }, at) => ({ customerId, person: people[at] ?? unknownPerson }))
}

/** What distinguishes a candidate from the others: two customers may have the same address. */
export const candidateWords = ({ customerId, person: { email, name } }: Candidate): string =>
  [name, email, customerId].filter((text) => text !== null).join(', ')

export const noCustomerWithId = 'There is no customer with this ID.'

/** What to do when a text does not mean exactly one customer. */
export function notOneCustomer(text: string, { candidates, more }: Meant): string {
  if (candidates.length > 0)
    return more
      ? 'Several customers match, and not all are shown. Choose one, or type more of the name or the email address.'
      : 'Several customers match. Choose one.'
  if (more) return 'Too many people match. Type more of the name or the email address.'
  if (text.startsWith('cus_')) return noCustomerWithId
  return 'No customer matches. Enter three or more characters of a name or an email address, or a customer ID.'
}

/** A form about one customer shows the person's data, which is recorded as a view. */
export const customerFormPage = pageRoute({ page: 'change_licenses', auditedView: 'customer' })

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
