import type { FastifyInstance, FastifyReply } from 'fastify'
import { changeCustomer, createCustomer } from '../../commands/customers/customers.ts'
import { newId } from '../../credentials/id.ts'
import { type FilledForm, newForm, readForm, typedIn } from '../forms/filled-form.ts'
import { runOnce } from '../forms/once.ts'
import { pairsText } from '../forms/pairs.ts'
import { refusedForm } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { aboveIn, type CustomerRequest, customerFormPage, customerOf } from './choose.ts'
import { CustomerForm, customerFormView } from './person-view.ts'

const change = pageRoute({ page: 'change_licenses' })

/** Where a customer is created, and where their address, name and metadata are changed. */
export function customerForms(app: FastifyInstance, context: PageContext): void {
  newPages(app, context)
  editPages(app, context)
}

function newPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = (reply: FastifyReply, form: FilledForm, operation = newId('req')) =>
    show(reply, {
      title: 'New customer',
      nav: 'customers',
      content: ({ token }) => customerFormView({ token, form, operation, customerId: undefined }),
      form,
    })

  app.get('/new-customer', change, async (_request, reply) => page(reply, newForm()))

  app.post('/new-customer', change, async (request, reply) => {
    const { filled, data } = readForm(CustomerForm, request)
    if (!data) return page(reply, filled, typedIn(filled, 'operation'))
    const { email, name = null, metadata } = data
    try {
      const customerId = await runOnce(ports, request, async (own, origin) => {
        const { tenantId } = principalOf(request)
        const { customer } = await createCustomer(own, tenantId, { email, name, metadata }, origin)
        return customer.customerId
      })
      return redirectWith(reply, `/dashboard/customers/${customerId}`, 'Customer created.')
    } catch (error) {
      return page(reply, refusedForm(error, filled))
    }
  })
}

function editPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = (reply: FastifyReply, customerId: string, form: FilledForm) =>
    show(reply, {
      title: 'Edit customer',
      nav: 'customers',
      trail: aboveIn(customerId),
      content: ({ token }) => customerFormView({ token, form, customerId }),
      form,
    })

  app.get('/customers/:id/edit', customerFormPage, async (request: CustomerRequest, reply) => {
    const { customer, person } = await customerOf(ports, request)
    const metadata = pairsText(customer.metadata)
    const values = { email: person.email ?? '', name: person.name ?? '', metadata }
    return page(reply, customer.customerId, newForm(values))
  })

  app.post('/customers/:id/edit', change, async (request: CustomerRequest, reply) => {
    const { customer } = await customerOf(ports, request)
    const { tenantId, customerId } = customer
    const { filled, data } = readForm(CustomerForm, request)
    if (!data) return page(reply, customerId, filled)
    const { email, name = null, metadata } = data
    // A value whose line breaks the form cannot show is kept while its line is unchanged.
    const unchanged = pairsText(metadata) === pairsText(customer.metadata)
    const input = { email, name, ...(!unchanged && { metadata }) }
    try {
      await changeCustomer(ports, tenantId, customerId, input, originOfMember(request))
    } catch (error) {
      return page(reply, customerId, refusedForm(error, filled))
    }
    return redirectWith(reply, `/dashboard/customers/${customerId}`, 'Customer saved.')
  })
}
