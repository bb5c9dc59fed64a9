import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import type { PresentCustomer } from '../../../projections/customers.ts'
import { findPortal } from '../../../projections/portal.ts'
import {
  addPeople,
  changePersonRole,
  dissolveOrganization,
  formOrganization,
  invitePerson,
  type Place,
  removePerson,
} from '../../commands/organizations/people.ts'
import { peoplePage as readPage } from '../../commands/organizations/read-people.ts'
import { isId } from '../../credentials/id.ts'
import { may } from '../../domain/members/roles.ts'
import { OrganizationRole } from '../../domain/organizations/events.ts'
import { readPeople } from '../../domain/organizations/list.ts'
import { listProblemIn } from '../../domain/organizations/list-words.ts'
import { LanguageTag, languageNames } from '../../domain/portal/languages.ts'
import { sayIn } from '../../domain/portal/texts.ts'
import type { Ports } from '../../ports.ts'
import { type FilledForm, newForm, readForm, withProblem } from '../forms/filled-form.ts'
import { formOf } from '../forms/forms.ts'
import { refusedForm } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import { one } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { aboveIn, type CustomerRequest, customerOf } from './choose.ts'
import { peopleView, type ShownPeople } from './people-view.ts'

const change = pageRoute({ page: 'change_licenses' })
const perPage = 50

const Query = z.object({ after: one })
const AddForm = z.object({
  list: z.string().max(200_000),
  invite: z.literal('on').optional(),
  language: LanguageTag,
})
const OnePerson = z.object({ personId: z.string().refine((id) => isId('per', id)) })
const RoleForm = OnePerson.extend({ role: OrganizationRole })

/** The newest people of a customer; none of one that is no organization. */
export async function shownPeople(
  ports: Ports<'db' | 'subjects'>,
  customer: PresentCustomer,
  { mayChange, after, limit }: { mayChange: boolean; after?: string | undefined; limit: number },
): Promise<ShownPeople> {
  const page =
    customer.people === undefined
      ? { people: [], next: null }
      : await readPage(ports, customer, { after, limit })
  return { customer, ...page, mayChange }
}

const newPeople = newForm({ invite: ['on'], language: ['en'] })

/** Where the people of an organization are added, changed and removed. */
export function peoplePages(app: FastifyInstance, context: PageContext): void {
  const { ports } = context
  const { page, changing } = peoplePage(context)

  app.get(
    '/customers/:id/people',
    auditedPage('customers:read', 'customer', Query),
    (request: CustomerRequest, reply) => page(request, reply, newPeople),
  )

  app.post('/customers/:id/people', change, async (request: CustomerRequest, reply) => {
    const { filled, data } = readForm(AddForm, request)
    if (!data) return page(request, reply, filled)
    const read = readPeople(data.list)
    if ('problem' in read)
      return page(request, reply, withProblem(filled, 'list', listProblemIn(sayIn('en', {}), read.problem)))
    const language = data.invite && data.language
    const run = (place: Place) => addPeople(ports, place, read.people, language, originOfMember(request))
    return changing(request, reply, { said: 'People added.', run, form: filled })
  })

  app.post('/customers/:id/people/role', change, (request: CustomerRequest, reply) => {
    const person = formOf(RoleForm, request)
    const run = (place: Place) => changePersonRole(ports, place, person, originOfMember(request))
    return changing(request, reply, { said: 'Role changed.', run })
  })

  app.post('/customers/:id/people/invite', change, (request: CustomerRequest, reply) => {
    const { personId } = formOf(OnePerson, request)
    const run = (place: Place) => invitePerson(ports, place, { personId }, originOfMember(request))
    return changing(request, reply, { said: 'Invitation sent.', run })
  })

  app.post('/customers/:id/people/remove', change, (request: CustomerRequest, reply) => {
    const { personId } = formOf(OnePerson, request)
    const run = (place: Place) => removePerson(ports, place, personId, originOfMember(request))
    return changing(request, reply, { said: 'Person removed.', run })
  })
}

/** Where a customer becomes an organization, and one person again. */
export function organizationForms(app: FastifyInstance, context: PageContext): void {
  const { ports } = context
  const { changing } = peoplePage(context)

  app.post('/customers/:id/organization', change, (request: CustomerRequest, reply) => {
    const run = (place: Place) => formOrganization(ports, place, originOfMember(request))
    return changing(request, reply, { said: 'This customer is an organization now.', run })
  })

  app.post('/customers/:id/organization/dissolve', change, (request: CustomerRequest, reply) => {
    const run = (place: Place) => dissolveOrganization(ports, place, originOfMember(request))
    return changing(request, reply, { said: 'Organization dissolved.', run, to: '' })
  })
}

type Change = {
  said: string
  run: (place: Place) => Promise<unknown>
  form?: FilledForm
  /** The page of the customer that follows. */
  to?: '/people' | ''
}

/** The page of the people of a customer, and what leads back to it. */
function peoplePage({ ports, show }: PageContext) {
  const page = async (request: CustomerRequest, reply: FastifyReply, form: FilledForm) => {
    const { customer } = await customerOf(ports, request)
    const mayChange = may(principalOf(request).role, 'change_licenses')
    const { after } = Query.parse(request.query)
    const [shown, { addedLanguages }] = await Promise.all([
      shownPeople(ports, customer, { mayChange, after, limit: perPage }),
      findPortal(ports.db, customer.tenantId),
    ])
    return show(reply, {
      title: 'People',
      nav: 'customers',
      trail: aboveIn(customer.customerId),
      content: (view) => peopleView(view, shown, languageNames(addedLanguages), form),
      form,
    })
  }
  /** Changes the people of a customer; what is refused is said above the list. */
  const changing = async (
    request: CustomerRequest,
    reply: FastifyReply,
    { said, run, form = newPeople, to = '/people' }: Change,
  ) => {
    const { tenantId, customerId } = (await customerOf(ports, request)).customer
    try {
      await run({ tenantId, customerId })
    } catch (error) {
      return page(request, reply, refusedForm(error, form))
    }
    return redirectWith(reply, `/dashboard/customers/${customerId}${to}`, said)
  }
  return { page, changing }
}
