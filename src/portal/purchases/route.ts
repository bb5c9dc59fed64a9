import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { findPurchase, listPurchases, type PurchasesOf } from '../../../projections/sales/purchases.ts'
import { invoicePageOf, providersWithInvoices } from '../../commands/integrations/invoice-page.ts'
import { isId } from '../../credentials/id.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { KnownSale } from '../../domain/sales/sale.ts'
import { paymentsIn } from '../../domain/sales/totals.ts'
import { notFound } from '../../http/problem.ts'
import { ProviderRefused, ProviderUnavailable } from '../../payments/errors.ts'
import { type PortalContext, page } from '../context.ts'
import { type OrganizationRequest, organizationOf } from '../organizations/organization.ts'
import { pathOf } from '../organizations/view.ts'
import { showPage } from '../page.ts'
import { tooMany } from '../sign-in/too-many.ts'
import { type Visit, visitOf } from '../visit.ts'
import { purchasesView } from './view.ts'

const perPage = 25

/** Each makes a call to a provider in the vendor's name. */
const asking = { burst: 20, intervalMs: 30_000 }

const Query = z.object({
  after: z.string().max(100).optional().catch(undefined),
  done: z.literal('invoiceUnavailable').optional().catch(undefined),
  /** A payment after the first, by the provider's id. */
  payment: z.string().max(255).optional().catch(undefined),
})

type InvoiceRequest = { Params: { tenantId: string; sale: string } }

/** Where purchases are shown: whose they are, at which address, below which page. */
type Place = { of: PurchasesOf; path: string; back: { href: string; words: string } }

/** What a person has bought, and what brought the licenses of an organization to its administrators; with the provider's invoices. */
export function purchaseRoutes(app: FastifyInstance, context: PortalContext): void {
  const { ports } = context

  app.get('/:tenantId/purchases', page, async (request, reply) => {
    const visit = visitOf(request)
    const place = placeOfPerson(visit)
    if (!place) return reply.redirect(`${visit.home}/sign-in`, 303)
    return showPurchases(ports, reply, visit, place, Query.parse(request.query))
  })

  app.get<InvoiceRequest>('/:tenantId/purchases/:sale/invoice', page, async (request, reply) => {
    const visit = visitOf(request)
    const place = placeOfPerson(visit)
    if (!place) return reply.redirect(`${visit.home}/sign-in`, 303)
    return showInvoice(context, reply, visit, place, request.params.sale, Query.parse(request.query))
  })

  app.get('/:tenantId/organizations/:id/purchases', page, async (request: OrganizationRequest, reply) => {
    const found = await organizationOf(ports, request, reply)
    if (!found) return reply
    return showPurchases(ports, reply, found.visit, placeOfOrganization(found), Query.parse(request.query))
  })

  app.get<InvoiceRequest & { Params: { id: string } }>(
    '/:tenantId/organizations/:id/purchases/:sale/invoice',
    page,
    async (request, reply) => {
      const found = await organizationOf(ports, request, reply)
      if (!found) return reply
      const place = placeOfOrganization(found)
      return showInvoice(context, reply, found.visit, place, request.params.sale, Query.parse(request.query))
    },
  )
}

function placeOfPerson({ tenantId, customer, home, say }: Visit): Place | undefined {
  if (!customer) return undefined
  const of = { tenantId, subjectId: customer.subjectId }
  return { of, path: `${home}/purchases`, back: { href: home, words: say('back') } }
}

function placeOfOrganization({
  visit,
  organization,
}: NonNullable<Awaited<ReturnType<typeof organizationOf>>>): Place {
  const href = pathOf(visit, organization)
  const of = { tenantId: visit.tenantId, customerId: organization.customerId }
  return { of, path: `${href}/purchases`, back: { href, words: visit.say('organizationTitle') } }
}

async function showPurchases(
  ports: PortalContext['ports'],
  reply: FastifyReply,
  visit: Visit,
  { of, path, back }: Place,
  { after, done }: z.infer<typeof Query>,
): Promise<FastifyReply> {
  const last =
    after === undefined || !isId('sal', after) ? undefined : await findPurchase(ports.db, of, after)
  const start = last && { createdAt: last.receivedAt, id: last.id }
  const { items, next } = await listPurchases(ports.db, of, { after: start, limit: perPage })
  const providers = items.map(({ provider }) => provider)
  const withInvoices = await providersWithInvoices(ports, of.tenantId, providers)
  const purchases = items.map((sale) => ({ sale, hasInvoices: withInvoices.has(sale.provider) }))
  return showPage(reply, visit, {
    title: visit.say('purchasesTitle'),
    content: purchasesView(visit, { path, back }, purchases, next?.id ?? null),
    notice: done && { kind: 'wrong', text: done },
  })
}

/** Leads to the provider's page. @throws Problem 404 for a purchase of others, or a payment that it does not have */
async function showInvoice(
  { ports }: PortalContext,
  reply: FastifyReply,
  visit: Visit,
  { of, path }: Place,
  saleId: string,
  { payment = null }: { payment?: string | null | undefined },
): Promise<FastifyReply> {
  const sale = isId('sal', saleId) ? await findPurchase(ports.db, of, saleId) : undefined
  if (!sale || !hasPayment(sale, payment)) throw notFound('page')
  const bucket = `portal invoice ${'subjectId' in of ? of.subjectId : of.customerId}`
  const taken = await ports.attempts.take([{ bucket, allowance: asking }])
  if (!taken.allowed) return tooMany(reply, visit, taken.retryAfterSeconds)
  const url = await invoicePageOf(ports, sale, payment).catch(noneBecauseOf)
  return reply.redirect(url ?? `${path}?done=invoiceUnavailable`, 303)
}

const hasPayment = (sale: KnownSale, payment: string | null): boolean =>
  payment === null || paymentsIn(sale).some(({ id, isFirst }) => !isFirst && id === payment)

/** What the customer can do is the same, whatever the provider fails in. */
function noneBecauseOf(error: unknown): undefined {
  const isProviders = error instanceof ProviderRefused || error instanceof ProviderUnavailable
  if (!isProviders && !(error instanceof Refusal)) throw error
}
