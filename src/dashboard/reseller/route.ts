import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type CustomerEntry, listCustomers } from '../../../projections/customers.ts'
import { findLicenses, type LicenseEntry, listLicenses } from '../../../projections/licenses/queries.ts'
import { momentOf } from '../../commands/origin.ts'
import {
  asSeenByReseller,
  mintForReseller,
  type ResellerRef,
  requireOwnCustomer,
  requireSeenLicense,
} from '../../commands/resellers/licenses.ts'
import { requireReseller } from '../../commands/resellers/resellers.ts'
import { newId } from '../../credentials/id.ts'
import { findKeyType } from '../../domain/products/product.ts'
import type { UsedQuota } from '../../domain/resellers/reseller.ts'
import { EmailAddress } from '../../domain/values.ts'
import { notFound, Problem } from '../../http/problem.ts'
import type { Ports } from '../../ports.ts'
import { unknownPerson } from '../../vault/subjects.ts'
import { type FilledForm, newForm, readForm, typedIn } from '../forms/filled-form.ts'
import { runOnce } from '../forms/once.ts'
import { refusedForm, refuseSuspended } from '../forms/refused.ts'
import { checked, optionalLine } from '../forms/typed.ts'
import { pageRoute } from '../frame/page-route.ts'
import { one } from '../lists/lists.ts'
import { sold } from '../new-license/form.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import {
  customersView,
  customerView,
  licensesView,
  licenseView,
  mintedView,
  type NamedQuota,
  newLicenseView,
  overviewView,
  type SeenCustomer,
  type SeenLicense,
} from './view.ts'

const Query = z.object({ cursor: one })
const own = pageRoute({ page: 'reseller' })
/** Views of personal data are recorded in the audit log of the vendor. */
const ownList = (auditedView: 'licenses' | 'customers') =>
  pageRoute({ page: 'reseller', auditedView, query: Query })
const ownOne = (auditedView: 'license' | 'customer') => pageRoute({ page: 'reseller', auditedView })
const pageSize = 50

type WithId = FastifyRequest<{ Params: { id: string } }>

/** The reseller whose person has signed in. */
function resellerIn(request: FastifyRequest): ResellerRef {
  const { tenantId, resellerId } = principalOf(request)
  if (resellerId === undefined) throw new Problem(403, 'forbidden', 'This page is for resellers.')
  return { tenantId, resellerId }
}

/** The pages of a reseller's people: what is theirs, and nothing else. */
export function resellerOwnPages(app: FastifyInstance, context: PageContext): void {
  const { ports, show } = context
  app.get('/reseller', own, async (request, reply) => {
    const { reseller, quotas } = await quotasOf(ports, resellerIn(request))
    return show(reply, {
      title: 'Overview',
      nav: 'reseller',
      content: () => overviewView(reseller.name, quotas),
    })
  })
  licensePages(app, context)
  customerPages(app, context)
  mintPages(app, context)
}

/** A reseller, and their quotas with the names of what they are for. */
export async function quotasOf(ports: Ports<'db' | 'findProduct'>, { tenantId, resellerId }: ResellerRef) {
  const { reseller } = await requireReseller(ports, tenantId, resellerId)
  const quotas = await Promise.all(reseller.quotas.map((quota) => named(ports, tenantId, quota)))
  return { reseller, quotas }
}

async function named(
  { findProduct }: Ports<'findProduct'>,
  tenantId: string,
  quota: UsedQuota,
): Promise<NamedQuota> {
  const product = await findProduct(tenantId, quota.productId)
  const keyType = product && findKeyType(product, quota.keyTypeId)
  return { ...quota, product: product?.name ?? quota.productId, keyType: keyType?.name ?? quota.keyTypeId }
}

function licensePages(app: FastifyInstance, { ports, cursors, show }: PageContext): void {
  app.get('/reseller/licenses', ownList('licenses'), async (request, reply) => {
    const { tenantId, resellerId } = resellerIn(request)
    const { cursor } = Query.parse(request.query)
    const boundTo = [tenantId, 'reseller licenses', resellerId]
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const { items, next } = await listLicenses(ports.db, tenantId, { resellerId }, momentOf(ports), keyset)
    const licenses = await withHolders(ports, tenantId, items)
    const pages = { cursor, next: cursors.write(boundTo, next) }
    return show(reply, {
      title: 'Licenses',
      nav: 'own_licenses',
      content: (view) => licensesView(view, licenses, pages),
    })
  })

  app.get('/reseller/licenses/:id', ownOne('license'), async (request: WithId, reply) => {
    const whose = resellerIn(request)
    const { id } = request.params
    await requireSeenLicense(ports, whose, id)
    const [seen] = await withHolders(
      ports,
      whose.tenantId,
      await findLicenses(ports.db, whose.tenantId, [id]),
    )
    if (!seen) throw notFound('license')
    const { productId, keyTypeId, displayKey } = seen.entry.license
    const names = await named(ports, whose.tenantId, { productId, keyTypeId, licenses: 0, used: 0 })
    return show(reply, {
      title: displayKey,
      nav: 'own_licenses',
      content: (view) => licenseView(view, { ...seen, ...names }),
    })
  })
}

function customerPages(app: FastifyInstance, { ports, cursors, show }: PageContext): void {
  app.get('/reseller/customers', ownList('customers'), async (request, reply) => {
    const { tenantId, resellerId } = resellerIn(request)
    const { cursor } = Query.parse(request.query)
    const boundTo = [tenantId, 'reseller customers', resellerId]
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const { items, next } = await listCustomers(ports.db, tenantId, { resellerId }, keyset)
    const customers = await withPeople(ports, tenantId, await asSeenByReseller(ports, resellerId, items))
    const pages = { cursor, next: cursors.write(boundTo, next) }
    return show(reply, {
      title: 'Customers',
      nav: 'own_customers',
      content: (view) => customersView(view, customers, pages),
    })
  })

  app.get('/reseller/customers/:id', ownOne('customer'), async (request: WithId, reply) => {
    const whose = resellerIn(request)
    const { tenantId, resellerId } = whose
    const entry = await requireOwnCustomer(ports, whose, request.params.id)
    const [seen] = await withPeople(ports, tenantId, await asSeenByReseller(ports, resellerId, [entry]))
    if (!seen) throw notFound('customer')
    const found = await findLicenses(ports.db, tenantId, seen.licenseIds.slice(0, pageSize))
    const licenses = await withHolders(ports, tenantId, found)
    return show(reply, {
      title: seen.person.email ?? seen.customer.customerId,
      nav: 'own_customers',
      content: (view) => customerView(view, seen, licenses),
    })
  })
}

const MintForm = z.object({
  sold,
  email: EmailAddress,
  name: optionalLine(200),
  sendKey: checked,
})

function mintPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = async (reply: FastifyReply, form: FilledForm, operation = newId('req')) => {
    const { quotas } = await quotasOf(ports, resellerIn(reply.request))
    return show(reply, {
      title: 'New license',
      nav: 'own_licenses',
      content: ({ token }) => newLicenseView({ token, operation, quotas, form }),
      form,
    })
  }

  app.get('/reseller/new-license', own, async (request, reply) => {
    refuseSuspended(principalOf(request))
    return page(reply, newForm())
  })

  app.post('/reseller/new-license', own, async (request, reply) => {
    refuseSuspended(principalOf(request))
    const whose = resellerIn(request)
    const { filled, data } = readForm(MintForm, request)
    if (!data) return page(reply, filled, typedIn(filled, 'operation'))
    const { sold, ...input } = data
    try {
      const minted = await runOnce(ports, request, async (own, origin) => {
        const { license, licenseKey } = await mintForReseller(own, whose, { ...input, ...sold }, origin)
        return { licenseId: license.licenseId, licenseKey }
      })
      return show(reply, {
        title: 'License key',
        nav: 'own_licenses',
        content: () => mintedView(minted.licenseId, minted.licenseKey),
      })
    } catch (error) {
      return page(reply, refusedForm(error, filled, problems))
    }
  })
}

const problems = {
  reseller_quota_used: ['sold', 'The quota of this key type is used up. Ask the vendor for more.'],
  product_not_found: ['sold', 'This product is gone. Choose another.'],
  key_type_not_found: ['sold', 'This key type is gone. Choose another.'],
  mails_off: ['form', 'The mails of this product are off. Do not mail the key.'],
} as const

async function withHolders(
  { subjects }: Ports<'subjects'>,
  tenantId: string,
  entries: readonly LicenseEntry[],
): Promise<SeenLicense[]> {
  const people = await subjects.openPeople(
    tenantId,
    entries.map(({ license }) => license.holder),
  )
  return entries.map((entry, at) => ({ entry, person: people[at] ?? unknownPerson }))
}

async function withPeople(
  { subjects }: Ports<'subjects'>,
  tenantId: string,
  entries: readonly CustomerEntry[],
): Promise<SeenCustomer[]> {
  const people = await subjects.openPeople(
    tenantId,
    entries.map(({ customer }) => customer),
  )
  return entries.map((entry, at) => ({ ...entry, person: people[at] ?? unknownPerson }))
}
