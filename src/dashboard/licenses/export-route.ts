import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { licenseStatuses } from '../../domain/licenses/status.ts'
import { Slug } from '../../domain/values.ts'
import { exportFormats, exportLicenses } from '../../gate/operations/export-licenses.ts'
import { askApproval } from '../forms/ask-approval.ts'
import { type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { refusedForm } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import { one, productChoices } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { exportView } from './view.ts'

/** As over the API, where only members of these roles can grant the scope `danger`. */
const ask = pageRoute({ page: 'manage_settings' })

const Query = z.object({ product: one, status: one })
const form = pageRoute({ page: 'manage_settings', query: Query })

const noProduct = 'Choose a product.'

const ExportForm = z.object({
  format: z.enum(exportFormats, 'Choose a format.'),
  product: z.union([z.literal(''), Slug], noProduct),
  status: z.enum(['', ...licenseStatuses], 'Choose a status.'),
})

/** Where an export of licenses is requested. The file is downloaded on the page of its approval. */
export function licenseExportPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = async (request: FastifyRequest, reply: FastifyReply, form: FilledForm) => {
    const products = await productChoices(ports, principalOf(request).tenantId)
    return show(reply, {
      title: 'Export licenses',
      nav: 'licenses',
      trail: [{ label: 'Licenses', href: '/dashboard/licenses' }],
      content: ({ token }) => exportView({ token, products, form }),
      form,
    })
  }

  app.get('/export-licenses', form, (request, reply) => {
    const { product = '', status = '' } = Query.parse(request.query)
    return page(request, reply, newForm({ format: 'csv', product, status }))
  })

  app.post('/export-licenses', ask, async (request, reply) => {
    const { filled, data } = readForm(ExportForm, request)
    if (!data) return page(request, reply, filled)
    const { format, product, status } = data
    const query = { format, ...(product && { product }), ...(status && { status }) }
    try {
      const id = await askApproval(ports, request, exportLicenses, { parameters: {}, query, body: null })
      return await reply.redirect(`/dashboard/approvals/${id}`, 303)
    } catch (error) {
      const problems = { product_not_found: ['product', noProduct] } as const
      return page(request, reply, refusedForm(error, filled, problems))
    }
  })
}
