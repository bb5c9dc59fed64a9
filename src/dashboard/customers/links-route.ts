import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { findLicenses } from '../../../projections/licenses/queries.ts'
import { linkLicense, unlinkLicense } from '../../commands/customers/customers.ts'
import { linkByAddress } from '../../commands/customers/link-by-address.ts'
import { isId } from '../../credentials/id.ts'
import { type Html, html } from '../../html.ts'
import { counted } from '../../sentence.ts'
import { type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { formProblem } from '../forms/form-fields.ts'
import { formOf } from '../forms/forms.ts'
import { refusedForm } from '../forms/refused.ts'
import { wantedLine } from '../forms/typed.ts'
import { pageRoute } from '../frame/page-route.ts'
import { heading, section, table, tokenField } from '../frame/parts.ts'
import { chosenLicense, licenseField, maxLicenseText } from '../licenses/license-field.ts'
import { shownLicenses } from '../licenses/route.ts'
import { type ShownLicense, statusBadge } from '../licenses/view.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { aboveIn, type CustomerRequest, customerFormPage, customerOf } from './choose.ts'

const change = pageRoute({ page: 'change_licenses' })

const LinkForm = z.object({
  licenseId: wantedLine(maxLicenseText, 'Enter a license key, a name, an email address or an ID.'),
})
const UnlinkForm = z.object({ licenseId: z.string().refine((id) => isId('lic', id)) })

/** As many as the page of a customer shows. */
const maxShown = 100

/** Where licenses are linked to a customer and unlinked from them. */
export function customerLinkPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = async (request: CustomerRequest, reply: FastifyReply, form: FilledForm) => {
    const { customer, licenseIds } = await customerOf(ports, request)
    const { tenantId } = principalOf(request)
    const entries = await findLicenses(ports.db, tenantId, licenseIds.slice(0, maxShown))
    const licenses = await shownLicenses(ports, tenantId, entries)
    return show(reply, {
      title: 'Linked licenses',
      nav: 'customers',
      trail: aboveIn(customer.customerId),
      content: ({ token }) => linksView({ token, customerId: customer.customerId, licenses, form }),
      form,
    })
  }

  app.post('/customers/link-licenses', change, async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { linked, left } = await linkByAddress(ports, tenantId, originOfMember(request))
    const done = `${counted(linked, 'license', 'licenses')} linked.`
    return redirectWith(reply, '/dashboard/customers', left === 0 ? done : `${done} ${left} are left.`)
  })

  app.get('/customers/:id/links', customerFormPage, (request: CustomerRequest, reply) =>
    page(request, reply, newForm()),
  )

  app.post('/customers/:id/link', change, async (request: CustomerRequest, reply) => {
    const { customer } = await customerOf(ports, request)
    const { tenantId, customerId } = customer
    const { filled, data } = readForm(LinkForm, request)
    if (!data) return page(request, reply, filled)
    const chosen = await chosenLicense(ports, request, filled)
    if ('unclear' in chosen) return page(request, reply, chosen.unclear)
    try {
      await linkLicense(ports, tenantId, customerId, chosen.licenseId, originOfMember(request))
    } catch (error) {
      return page(request, reply, refusedForm(error, chosen.filled, problems))
    }
    return redirectWith(reply, `/dashboard/customers/${customerId}`, 'License linked.')
  })

  app.post('/customers/:id/unlink', change, async (request: CustomerRequest, reply) => {
    const { customer } = await customerOf(ports, request)
    const { tenantId, customerId } = customer
    const { licenseId } = formOf(UnlinkForm, request)
    await unlinkLicense(ports, tenantId, customerId, licenseId, originOfMember(request))
    return redirectWith(reply, `/dashboard/customers/${customerId}`, 'License unlinked.')
  })
}

const problems = {
  license_of_another_customer: [
    'licenseId',
    'This license belongs to another customer. Unlink it there first.',
  ],
} as const

type Links = {
  token: string
  customerId: string
  licenses: readonly ShownLicense[]
  form: FilledForm
}

/** The form that links a license, and the linked ones with a button each that unlinks it. */
function linksView({ token, customerId, licenses, form }: Links): Html {
  const own = `/dashboard/customers/${customerId}`
  const unlink = ({
    id,
    displayKey,
  }: ShownLicense): Html => html`<form method="post" action=${`${own}/unlink`}>
    ${tokenField(token)}
    <input type="hidden" name="licenseId" value=${id} />
    <button class="quiet" aria-label=${`Unlink ${displayKey}`}>Unlink</button>
  </form>`
  return html`<div class="narrow">
    ${heading(
      'Linked licenses',
      "A linked license has the customer's entitlement overrides, and is listed with the customer.",
    )}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action=${`${own}/link`}>
      ${tokenField(token)}
      ${licenseField(form)}
      <div class="decide">
        <button>Link license</button>
        <a class="button second" href=${own}>Back to the customer</a>
      </div>
    </form>
    ${section(
      'Linked now',
      licenses.length === 0
        ? html`<p class="lead">No linked licenses.</p>`
        : html`<div class="sheeted">
            ${table({
              caption: 'Linked licenses',
              columns: [{ label: 'License' }, { label: 'Status', wide: true }, { label: 'Unlink' }],
              rows: licenses.map((license) => [
                html`<span
                  ><a class="mono" href=${`/dashboard/licenses/${license.id}`}>${license.displayKey}</a
                  ><span class="sub">${license.productId}</span></span
                >`,
                statusBadge(license.status),
                unlink(license),
              ]),
            })}
          </div>`,
      "An unlinked license keeps its key and its devices, and loses the customer's overrides at its next check.",
    )}
  </div>`
}
