import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { type CustomerEntry, findCustomer, type PresentCustomer } from '../../../projections/customers.ts'
import { listMergedInto } from '../../../projections/merges.ts'
import { mergeCustomer, unmergeCustomer } from '../../commands/customers/merging.ts'
import { type Html, html } from '../../html.ts'
import type { Ports } from '../../ports.ts'
import { counted } from '../../sentence.ts'
import type { Person } from '../../vault/subjects.ts'
import { chosenCustomer, customerField, customerText } from '../forms/customer-field.ts'
import { type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { formProblem } from '../forms/form-fields.ts'
import { refusedForm } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import { heading, tokenField } from '../frame/parts.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { aboveIn, type CustomerRequest, customerFormPage, customerOf, noCustomerWithId } from './choose.ts'
import type { Merges } from './merge-view.ts'

const change = pageRoute({ page: 'change_licenses' })

const MergeForm = z.object({ customerId: customerText })

const problems = {
  customer_not_found: ['customerId', noCustomerWithId],
  customer_merged_with_itself: ['customerId', 'This is the customer itself. Choose another one.'],
  customer_merged: ['customerId', 'This customer was merged into another one. Choose that one.'],
  customer_erased: ['customerId', 'The person behind this customer was erased. Choose another one.'],
  customer_has_meters: [
    'form',
    'The licenses of this customer share meters. Merge the other customer into this one instead, or remove the meters.',
  ],
} as const

/** Where a customer is merged into another one, and that is undone. */
export function customerMergePages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = async (request: CustomerRequest, reply: FastifyReply, form: FilledForm) => {
    const found = await customerOf(ports, request)
    return show(reply, {
      title: 'Merge customer',
      nav: 'customers',
      trail: aboveIn(found.customer.customerId),
      content: ({ token }) => mergeForm(token, found, form),
      form,
    })
  }

  app.get('/customers/:id/merge', customerFormPage, (request: CustomerRequest, reply) =>
    page(request, reply, newForm()),
  )

  app.post('/customers/:id/merge', change, async (request: CustomerRequest, reply) => {
    const { tenantId, customerId: id } = (await customerOf(ports, request)).customer
    const { filled, data } = readForm(MergeForm, request)
    if (!data) return page(request, reply, filled)
    const chosen = await chosenCustomer(ports, tenantId, filled)
    if ('unclear' in chosen) return page(request, reply, chosen.unclear)
    const into = chosen.customerId ?? data.customerId
    try {
      await mergeCustomer(ports, tenantId, { id, into }, originOfMember(request))
    } catch (error) {
      return page(request, reply, refusedForm(error, chosen.filled, problems))
    }
    return redirectWith(reply, `/dashboard/customers/${into}`, 'Customers merged.')
  })

  app.post('/customers/:id/unmerge', change, async (request: CustomerRequest, reply) => {
    const { customerId } = (await customerOf(ports, request)).customer
    const { tenantId } = principalOf(request)
    await unmergeCustomer(ports, tenantId, customerId, originOfMember(request))
    return redirectWith(reply, `/dashboard/customers/${customerId}`, 'Merge undone.')
  })
}

/** As many of the customers that were merged into one as its page names. */
const mostNamed = 10

/** What a customer was merged into, and what was merged into it. */
export async function mergesOf(
  { db, subjects }: Ports<'db' | 'subjects'>,
  { tenantId, customerId, mergedInto }: PresentCustomer,
): Promise<Merges> {
  const merged = await listMergedInto(db, tenantId, customerId)
  const into = mergedInto === undefined ? undefined : await findCustomer(db, tenantId, mergedInto)
  const shown = [...merged.slice(0, mostNamed), ...(into ? [into.customer] : [])]
  const people = await subjects.openPeople(tenantId, shown)
  const named = shown.map((one, at) => ({
    customerId: one.customerId,
    email: people[at]?.email ?? null,
  }))
  return { into: into && named.pop(), merged: named, more: merged.length - named.length }
}

function mergeForm(
  token: string,
  { customer, licenseIds, person }: CustomerEntry & { person: Person },
  form: FilledForm,
): Html {
  const own = `/dashboard/customers/${customer.customerId}`
  const { length: overrides } = customer.overrides
  return html`<div class="narrow">
    ${heading(
      'Merge customer',
      'For two customers that are one person or company. The other one stays, and has the licenses of both.',
    )}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action=${`${own}/merge`}>
      ${tokenField(token)}
      <p>
        ${person.email ?? customer.customerId} has ${counted(licenseIds.length, 'license', 'licenses')}, which move to the other
        customer. So do those that it gets later, as by its email address.${' '}
        ${
          overrides > 0 &&
          html`${counted(overrides, 'entitlement override', 'entitlement overrides')} of this customer no longer apply: <a href=${`${own}/entitlements`}>copy</a> what should stay. `
        }
        The merge can be undone.
      </p>
      ${customerField(form, { label: 'Merge into', hint: 'Name, email address or customer ID.' })}
      <div class="decide">
        <button>Merge</button>
        <a class="button second" href=${own}>Cancel</a>
      </div>
    </form>
  </div>`
}
