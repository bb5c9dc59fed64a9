import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { linkLicense, unlinkLicense } from '../../commands/customers/customers.ts'
import { isId } from '../../credentials/id.ts'
import { type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { refusedForm } from '../forms/refused.ts'
import { wantedLine } from '../forms/typed.ts'
import { pageRoute } from '../frame/page-route.ts'
import { shownLicenses } from '../licenses/route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { aboveIn, type CustomerRequest, customerOf } from './found.ts'
import { linksView } from './links-view.ts'

const change = pageRoute({ page: 'change_licenses' })
const changeOne = pageRoute({ page: 'change_licenses', auditedView: 'customer' })

const noLicense = 'There is no license with this ID. An ID begins with lic_.'

const LicenseForm = z.object({
  licenseId: wantedLine(100, 'Enter the ID of a license.').refine((id) => isId('lic', id), noLicense),
})

/** As many as the page of a customer shows. */
const maxShown = 100

/** Where licenses are linked to a customer and unlinked from them. */
export function customerLinkPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = async (request: CustomerRequest, reply: FastifyReply, form: FilledForm) => {
    const { customer, licenseIds } = await customerOf(ports, request)
    const { tenantId } = principalOf(request)
    const ids = licenseIds.slice(0, maxShown)
    const found = await Promise.all(ids.map((id) => findLicense(ports.db, tenantId, id)))
    const entries = found.filter((entry) => entry !== undefined)
    const licenses = await shownLicenses(ports, tenantId, entries)
    return show(reply, {
      title: 'Linked licenses',
      nav: 'customers',
      trail: aboveIn(customer.customerId),
      content: ({ token }) => linksView({ token, customerId: customer.customerId, licenses, form }),
      form,
    })
  }

  app.get('/customers/:id/links', changeOne, (request: CustomerRequest, reply) =>
    page(request, reply, newForm()),
  )

  for (const [path, command, done] of [
    ['link', linkLicense, 'License linked.'],
    ['unlink', unlinkLicense, 'License unlinked.'],
  ] as const) {
    app.post(`/customers/:id/${path}`, change, async (request: CustomerRequest, reply) => {
      const { customer } = await customerOf(ports, request)
      const { tenantId, customerId } = customer
      const { filled, data } = readForm(LicenseForm, request)
      if (!data) return page(request, reply, filled)
      try {
        await command(ports, tenantId, customerId, data.licenseId, originOfMember(request))
      } catch (error) {
        return page(request, reply, refusedForm(error, filled, problems))
      }
      return redirectWith(reply, `/dashboard/customers/${customerId}`, done)
    })
  }
}

const problems = {
  license_not_found: ['licenseId', noLicense],
  license_of_another_customer: [
    'licenseId',
    'This license belongs to another customer. Unlink it there first.',
  ],
} as const
