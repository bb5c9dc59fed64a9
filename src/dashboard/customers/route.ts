import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { type CustomerEntry, findCustomer, listCustomers } from '../../../projections/customers.ts'
import { countLicensesToLink } from '../../../projections/licenses/to-link.ts'
import { may } from '../../domain/members/roles.ts'
import type { Ports } from '../../ports.ts'
import { findCustomersByPersonPart } from '../../search/people.ts'
import { type Person, unknownPerson } from '../../vault/subjects.ts'
import { formOf } from '../forms/forms.ts'
import { one, PersonId } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, principalOf } from '../session/principal.ts'
import { customerLinkPages } from './links-route.ts'
import { customerMergePages } from './merge-route.ts'
import { customerMeterPages } from './meters-route.ts'
import { notePages } from './notes-route.ts'
import { onePage } from './one-route.ts'
import { overridePages } from './overrides-route.ts'
import { organizationForms, peoplePages } from './people-route.ts'
import { customerForms } from './person-route.ts'
import { customerPortalPage } from './portal-route.ts'
import { customersView } from './view.ts'

const pageSize = 50

const Status = z.enum(['present', 'erased'])
const Query = z.object({ cursor: one, status: one, person: one })

/** Longer than any email address. */
const PersonForm = z.object({ text: z.string().max(400) })

/** The people to whom licenses are linked, and the forms that create and change them. */
export function customerPages(app: FastifyInstance, context: PageContext): void {
  listPage(app, context)
  personForm(app, context)
  onePage(app, context)
  customerForms(app, context)
  customerLinkPages(app, context)
  customerMergePages(app, context)
  overridePages(app, context)
  notePages(app, context)
  peoplePages(app, context)
  organizationForms(app, context)
  customerPortalPage(app, context)
  customerMeterPages(app, context)
}

function listPage(app: FastifyInstance, { ports, cursors, show }: PageContext): void {
  app.get('/customers', auditedPage('customers:read', 'customers', Query), async (request, reply) => {
    const { tenantId, role } = principalOf(request)
    const mayChange = may(role, 'change_licenses')
    const { cursor, status: requested, person } = Query.parse(request.query)
    const subjectId = PersonId.parse(person)
    const status = Status.safeParse(requested).data
    const boundTo = [tenantId, 'dashboard customers', status ?? null, subjectId ?? null]
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const subjectIds = subjectId === undefined ? undefined : [subjectId]
    const filter = { subjectIds, erased: status && status === 'erased' }
    const [{ items, next }, toLink] = await Promise.all([
      listCustomers(ports.db, tenantId, filter, keyset),
      mayChange ? countLicensesToLink(ports.db, tenantId) : 0,
    ])
    const customers = await withPeople(ports, tenantId, items)
    return show(reply, {
      title: 'Customers',
      nav: 'customers',
      content: (view) =>
        customersView(view, {
          customers,
          mayChange,
          filter: { status, person: subjectId },
          searched: undefined,
          toLink,
          cursor,
          next: cursors.write(boundTo, next),
        }),
    })
  })
}

/**
 * Browsers and proxies store URLs, so a URL contains a person's id and never a part of their name or email address. One
 * person gets such a URL; several are listed in the response.
 */
function personForm(app: FastifyInstance, { ports, show }: PageContext): void {
  app.get('/customers/find', auditedPage('customers:read', 'customers'), async (_request, reply) =>
    reply.redirect('/dashboard/customers', 303),
  )
  app.post('/customers/find', auditedPage('customers:read', 'customers'), async (request, reply) => {
    const { tenantId, role } = principalOf(request)
    const text = formOf(PersonForm, request).text.trim()
    if (text === '') return reply.redirect('/dashboard/customers', 303)
    const found = await findCustomersByPersonPart(ports, tenantId, text)
    const subjectIds = new Set(found.customers.map(({ subjectId }) => subjectId))
    const [person] = subjectIds
    if (person !== undefined && subjectIds.size === 1 && !found.more)
      return reply.redirect(`/dashboard/customers?${new URLSearchParams({ person })}`, 303)
    const shown = found.customers.slice(0, pageSize).map(({ customerId }) => customerId)
    const entries = await Promise.all(shown.map((id) => findCustomer(ports.db, tenantId, id)))
    const customers = await withPeople(
      ports,
      tenantId,
      entries.filter((entry) => entry !== undefined),
    )
    return show(reply, {
      title: 'Customers',
      nav: 'customers',
      content: (view) =>
        customersView(view, {
          customers,
          mayChange: may(role, 'change_licenses'),
          filter: { status: undefined, person: undefined },
          toLink: 0,
          searched: { text, more: found.more || found.customers.length > pageSize },
          cursor: undefined,
          next: null,
        }),
    })
  })
}

async function withPeople(
  { subjects }: Ports<'subjects'>,
  tenantId: string,
  entries: readonly CustomerEntry[],
): Promise<(CustomerEntry & { person: Person })[]> {
  const people = await subjects.openPeople(
    tenantId,
    entries.map(({ customer }) => customer),
  )
  return entries.map((entry, index) => ({ ...entry, person: people[index] ?? unknownPerson }))
}
