import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { listCustomers } from '../../../projections/customers.ts'
import { listMembersOfReseller } from '../../../projections/members.ts'
import { listResellers } from '../../../projections/resellers.ts'
import { listTokensOfReseller } from '../../../projections/tokens/list.ts'
import { momentOf } from '../../commands/origin.ts'
import { changeReseller, createReseller, requireReseller } from '../../commands/resellers/resellers.ts'
import { newId } from '../../credentials/id.ts'
import { Quota, Quotas } from '../../domain/resellers/events.ts'
import { unknownPerson } from '../../vault/subjects.ts'
import { type FilledForm, newForm, readForm, typedIn } from '../forms/filled-form.ts'
import { runOnce } from '../forms/once.ts'
import { refusedForm } from '../forms/refused.ts'
import { given, wantedLine } from '../forms/typed.ts'
import { pageRoute } from '../frame/page-route.ts'
import { one } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { quotasOf } from '../reseller/route.ts'
import { auditedPage, originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { accessPages } from './access-route.ts'
import { resellerFormView, resellersView, resellerView } from './view.ts'

const path = '/dashboard/resellers'
const Query = z.object({ cursor: one })
const manage = pageRoute({ page: 'manage_settings' })
/** How many of a reseller's customers their page shows. */
const shownCustomers = 20

type ResellerRequest = FastifyRequest<{ Params: { id: string } }>

/** The vendor's pages about resellers. */
export function resellerPages(app: FastifyInstance, context: PageContext): void {
  listPage(app, context)
  onePage(app, context)
  formPages(app, context)
  accessPages(app, context)
}

function listPage(app: FastifyInstance, { ports, cursors, show }: PageContext): void {
  app.get('/resellers', pageRoute({ page: 'customers:read', query: Query }), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { cursor } = Query.parse(request.query)
    const boundTo = [tenantId, 'dashboard resellers']
    const keyset = { after: cursors.read(boundTo, cursor), limit: 50 }
    const { items, next } = await listResellers(ports.db, tenantId, keyset)
    return show(reply, {
      title: 'Resellers',
      nav: 'resellers',
      content: (view) => resellersView(view, { entries: items, cursor, next: cursors.write(boundTo, next) }),
    })
  })
}

function onePage(app: FastifyInstance, { ports, show }: PageContext): void {
  app.get(
    '/resellers/:id',
    auditedPage('customers:read', 'customers'),
    async (request: ResellerRequest, reply) => {
      const { tenantId } = principalOf(request)
      const entry = await requireReseller(ports, tenantId, request.params.id)
      const { resellerId, name } = entry.reseller
      const [{ quotas }, { items }, members, tokens] = await Promise.all([
        quotasOf(ports, { tenantId, resellerId }),
        listCustomers(ports.db, tenantId, { resellerId }, { after: undefined, limit: shownCustomers }),
        listMembersOfReseller(ports.db, tenantId, resellerId),
        listTokensOfReseller(ports.db, tenantId, resellerId, momentOf(ports)),
      ])
      const people = await ports.subjects.openPeople(tenantId, [
        ...items.map(({ customer }) => customer),
        ...members.map(({ subjectId, email }) => ({ subjectId, email, name: null })),
      ])
      const personAt = (at: number) => people[at] ?? unknownPerson
      const customers = items.map((item, at) => ({ ...item, person: personAt(at) }))
      const known = members.map((member, at) => ({ member, person: personAt(items.length + at) }))
      return show(reply, {
        title: name,
        nav: 'resellers',
        content: (view) => resellerView(view, { entry, quotas, customers, members: known, tokens }),
      })
    },
  )
}

const quotaLines = given.transform((text, context) => {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  const quotas = lines.map((line) => {
    const [, productId, keyTypeId, licenses] = /^\s*([^/\s]+)\/([^:\s]+)\s*:\s*(\d{1,7})\s*$/.exec(line) ?? []
    return Quota.safeParse({ productId, keyTypeId, licenses: Number(licenses) }).data
  })
  const read = Quotas.safeParse(quotas)
  if (read.success) return read.data
  const message = 'Write each line as product/key-type: licenses, each key type once.'
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

const ResellerForm = z.object({ name: wantedLine(200, 'Enter a name.'), quotas: quotaLines })

const problems = {
  product_not_found: ['quotas', 'There is no such product. Check the product IDs.'],
  key_type_not_found: ['quotas', 'There is no such key type. Check the key type IDs.'],
  reseller_quota_below_used: ['quotas', 'A quota would be below what is used of it.'],
} as const

function formPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = (reply: FastifyReply, form: FilledForm, resellerId?: string) => {
    const operation = typedIn(form, 'operation') || newId('req')
    const at = resellerId !== undefined && { resellerId }
    return show(reply, {
      title: at ? 'Edit reseller' : 'New reseller',
      nav: 'resellers',
      content: ({ token }) => resellerFormView({ token, form, operation, ...at }),
      form,
    })
  }

  app.get('/new-reseller', manage, async (_request, reply) => page(reply, newForm()))

  app.post('/new-reseller', manage, async (request, reply) => {
    const { filled, data } = readForm(ResellerForm, request)
    if (!data) return page(reply, filled)
    const { tenantId } = principalOf(request)
    try {
      const resellerId = await runOnce(ports, request, async (own, origin) => {
        const { reseller } = await createReseller(own, tenantId, data, origin)
        return reseller.resellerId
      })
      return redirectWith(reply, `${path}/${resellerId}`, 'Reseller created.')
    } catch (error) {
      return page(reply, refusedForm(error, filled, problems))
    }
  })

  app.get('/resellers/:id/edit', manage, async (request: ResellerRequest, reply) => {
    const { tenantId } = principalOf(request)
    const { reseller } = await requireReseller(ports, tenantId, request.params.id)
    const lines = reseller.quotas.map(
      ({ productId, keyTypeId, licenses }) => `${productId}/${keyTypeId}: ${licenses}`,
    )
    return page(reply, newForm({ name: reseller.name, quotas: lines.join('\n') }), reseller.resellerId)
  })

  app.post('/resellers/:id/edit', manage, async (request: ResellerRequest, reply) => {
    const { tenantId } = principalOf(request)
    const { reseller } = await requireReseller(ports, tenantId, request.params.id)
    const { resellerId } = reseller
    const { filled, data } = readForm(ResellerForm, request)
    if (!data) return page(reply, filled, resellerId)
    try {
      await changeReseller(ports, tenantId, resellerId, data, originOfMember(request))
    } catch (error) {
      return page(reply, refusedForm(error, filled, problems), resellerId)
    }
    return redirectWith(reply, `${path}/${resellerId}`, 'Reseller saved.')
  })
}
