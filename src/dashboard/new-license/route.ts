import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { findCustomer } from '../../../projections/customers.ts'
import { requireCustomer } from '../../commands/customers/customers.ts'
import { mintLicense } from '../../commands/licenses/licenses.ts'
import { isId, newId } from '../../credentials/id.ts'
import { may } from '../../domain/members/roles.ts'
import { Refusal } from '../../domain/refusal.ts'
import { unknownPerson } from '../../vault/subjects.ts'
import { noCustomerWithId } from '../customers/choose.ts'
import { chosenCustomer } from '../forms/customer-field.ts'
import { type FilledForm, newForm, readForm, typedIn } from '../forms/filled-form.ts'
import { runOnce } from '../forms/once.ts'
import { refusedForm, refuseSuspended } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import { one, productChoices } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { expiryOf, MintForm, soldAs } from './form.ts'
import { type Minted, mintedView, newLicenseView, nothingToMintView } from './view.ts'

const Query = z.object({ product: one, customer: one })
const form = pageRoute({ page: 'change_licenses', query: Query })
const change = pageRoute({ page: 'change_licenses' })

/** Where a license is minted by hand. Its key is shown in the response and nowhere else. */
export function newLicensePages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = async (
    reply: FastifyReply,
    form: FilledForm,
    operation = newId('req'),
  ): Promise<FastifyReply> => {
    const { tenantId, role } = principalOf(reply.request)
    const products = await productChoices(ports, tenantId)
    return show(reply, {
      title: 'New license',
      nav: 'licenses',
      content: ({ token }) =>
        products.length === 0
          ? nothingToMintView(may(role, 'manage_products'))
          : newLicenseView({ token, operation, products, form }),
      form,
    })
  }

  /** The product that the page was opened from, and the person of the customer that it is for. */
  const firstValues = async (tenantId: string, product: string | undefined, customer: string | undefined) => {
    const found = product === undefined ? undefined : await ports.findProduct(tenantId, product)
    const [keyType] = found?.keyTypes ?? []
    const entry = isId('cus', customer ?? '')
      ? await findCustomer(ports.db, tenantId, customer ?? '')
      : undefined
    const [person = unknownPerson] = entry ? await ports.subjects.openPeople(tenantId, [entry.customer]) : []
    return {
      sold: found && keyType ? soldAs(found.productId, keyType.keyTypeId) : '',
      customerId: entry?.customer.customerId ?? '',
      email: person.email ?? '',
      name: person.name ?? '',
    }
  }

  app.get('/new-license', form, async (request, reply) => {
    const principal = principalOf(request)
    refuseSuspended(principal)
    const { product, customer } = Query.parse(request.query)
    return page(reply, newForm(await firstValues(principal.tenantId, product, customer)))
  })

  app.post('/licenses', change, async (request, reply) => {
    const { tenantId, ...principal } = principalOf(request)
    refuseSuspended(principal)
    const { filled: sent, data } = readForm(MintForm, request)
    if (!data) return page(reply, sent, typedIn(sent, 'operation'))
    const chosen = await chosenCustomer(ports, tenantId, sent)
    if ('unclear' in chosen) return page(reply, chosen.unclear, typedIn(sent, 'operation'))
    const { customerId, filled } = chosen
    const { sold, quantity, expiry, expiresOn, updatesOn, ...rest } = data
    const input = {
      ...rest,
      customerId,
      keyTypeId: sold.keyTypeId,
      quantity: quantity ?? undefined,
      expiresAt: expiryOf({ expiry, expiresOn }),
      updatesUntil: updatesOn && `${updatesOn}T23:59:59.000Z`,
    }
    try {
      const minted = await runOnce(ports, request, async (own, origin): Promise<Minted> => {
        const product = await own.findProduct(tenantId, sold.productId)
        if (!product) throw new Refusal('key_type_not_found')
        if (input.customerId !== undefined) await requireCustomer(own, tenantId, input.customerId)
        const { license, keyType, licenseKey } = await mintLicense(own, product, input, origin)
        const { licenseId, customerId } = license
        return { licenseId, licenseKey, product: product.name, keyType: keyType.name, customerId }
      })
      return show(reply, {
        title: 'License key',
        nav: 'licenses',
        content: () => mintedView(minted),
      })
    } catch (error) {
      return page(reply, refusedForm(error, filled, problems))
    }
  })
}

const problems = {
  key_type_not_found: ['sold', 'This key type was deleted. Choose another.'],
  customer_not_found: ['customerId', noCustomerWithId],
  quantity_not_allowed: ['quantity', 'This key type is not sold in multiples. Leave the quantity empty.'],
  quantity_too_large: ['quantity', 'The quantity is above the largest quantity of the key type.'],
  mails_off: ['form', 'The mails of this product are off. Turn them on, or do not mail the key.'],
  expiry_in_the_past: ['expiresOn', 'Enter a day in the future.'],
} as const
