import { z } from 'zod'
import { keyHashOf } from '../../credentials/license-key.ts'
import type { ApiLists } from '../api/lists.ts'
import type { ExportItem } from '../files/items.ts'
import {
  type ForeignLicense,
  type ForeignPolicy,
  plainLicense,
  policyNamed,
  type Unusable,
} from '../foreign.ts'
import { isoOf } from './moments.ts'
import { dataOf, type Piece, type Shared, type Source, textOf, wholeOf } from './source.ts'

const Page = z.looseObject({
  data: z.array(z.unknown()),
  meta: z.looseObject({
    pagination: z.looseObject({
      per_page: z.int(),
      next: z.string(),
      has_more: z.boolean(),
      estimated_total: z.int().optional(),
    }),
  }),
})

/** Paddle Billing; the API of Paddle Classic does not list licenses. @see https://developer.paddle.com/api-reference */
const paddleApi: ApiLists = {
  baseUrl: 'https://api.paddle.com',
  accept: 'application/json',
  needsAccount: false,
  async *lists() {
    yield { list: 'prices', of: null, first: '/prices?per_page=200&status=active,archived' }
    yield { list: 'customers', of: null, first: '/customers?per_page=200&status=active,archived' }
    yield { list: 'subscriptions', of: null, first: '/subscriptions?per_page=200' }
    yield { list: 'transactions', of: null, first: '/transactions?per_page=30&status=completed,paid' }
  },
  pageInfo(_list, _page, body) {
    const { per_page, next, has_more, estimated_total } = Page.parse(body).meta.pagination
    const { pathname, search } = new URL(next)
    return {
      next: has_more ? pathname + search : null,
      pages: estimated_total === undefined ? undefined : Math.ceil(estimated_total / per_page),
    }
  },
}

/** What a report of Paddle Classic or an object of Paddle Billing says about the license of a key. */
const Sold = z.object({
  id: z.string(),
  licenseKey: z.string(),
  productId: z.string().nullable(),
  policyId: z.string().nullable(),
  customerId: z.string().nullable(),
  email: z.string().nullable(),
  createdAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  status: z.enum(['active', 'suspended']),
  quantity: z.int(),
  metadata: z.record(z.string(), z.string()),
})
type Sold = z.infer<typeof Sold>

const Fields = z.record(z.string(), z.unknown())
type Fields = z.infer<typeof Fields>

/**
 * Paddle: the report "Sent licenses" of Paddle Classic, and customers, prices, subscriptions and transactions of Paddle
 * Billing, which has no license keys of its own, with the key in their custom data.
 */
export const paddleSource: Source = {
  name: 'paddle',
  pieceOf,
  licensesIn(pieces, shared) {
    // A subscription knows the state that its transactions had.
    const [sold] = [...dataOf(pieces, 'subscription', Sold), ...dataOf(pieces, 'sold', Sold)]
    const from = pieces[0]?.from ?? ''
    if (sold) return [licenseOf(from, sold, shared)]
    return dataOf(pieces, 'keyless', z.string()).map((id) => {
      return {
        from,
        externalId: id,
        licenseKey: null,
        problem: 'The report has no license code for this order.',
      }
    })
  },
  policiesIn: (shared) => [...shared.all('prices').entries()].map(([id, data]) => policyOf(id, data)),
  policyNamed,
  api: paddleApi,
}

const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z]/g, '')

function pieceOf({ from, data }: ExportItem): Piece | string | undefined {
  const fields = Fields.safeParse(data)
  if (!fields.success) return 'It is not an object of Paddle.'
  const columns = new Map(Object.entries(fields.data).map(([name, value]) => [plain(name), textOf(value)]))
  if (columns.has(plain('License Code')))
    return pieceOfReport(from, (name) => columns.get(plain(name)) ?? null)
  const id = textOf(fields.data.id)
  switch (id?.slice(0, 4)) {
    case 'ctm_':
      return { kind: 'customers', id: id ?? '', group: null, from, data: personOf(fields.data) }
    case 'pri_':
      return { kind: 'prices', id: id ?? '', group: null, from, data: fields.data }
    case 'sub_':
    case 'txn_':
      return pieceOfBilling(from, id ?? '', fields.data)
    default:
      return undefined
  }
}

function pieceOfReport(from: string, cell: (name: string) => string | null): Piece {
  const licenseKey = cell('License Code')
  const order = cell('Order ID')
  const id = cell('Paddle License ID') ?? order ?? from
  if (licenseKey === null) return { kind: 'keyless', id, group: `order ${id}`, from, data: id }
  const name = cell('Product Name') ?? cell('Product ID')
  const sold: Sold = {
    id,
    licenseKey,
    productId: cell('Product ID'),
    policyId: name,
    customerId: null,
    email: cell('Customer Email'),
    createdAt: cell('Date Sent'),
    endedAt: null,
    status: 'active',
    quantity: 1,
    metadata: order === null ? {} : { orderId: order },
  }
  return { kind: 'sold', id, group: keyHashOf(licenseKey) ?? licenseKey, from, data: sold }
}

const keyNames = ['license_key', 'licenseKey', 'license', 'license_code', 'licenseCode']

const Items = z
  .array(
    z.looseObject({
      price: z.looseObject({ id: z.string(), product_id: z.string().nullish() }),
      quantity: z.int().optional(),
    }),
  )
  .catch([])

function pieceOfBilling(from: string, id: string, object: Fields): Piece | undefined {
  const custom = Fields.safeParse(object.custom_data)
  const licenseKey = custom.success
    ? keyNames.flatMap((name) => textOf(custom.data[name]) ?? [])[0]
    : undefined
  if (licenseKey === undefined) return undefined
  const isSubscription = id.startsWith('sub_')
  // A transaction that was never paid gave nobody a license.
  if (!isSubscription && object.status !== 'completed' && object.status !== 'paid') return undefined
  const [item] = Items.parse(object.items)
  const sold: Sold = {
    id,
    licenseKey,
    productId: item?.price.product_id ?? null,
    policyId: item?.price.id ?? null,
    customerId: textOf(object.customer_id),
    email: null,
    createdAt: textOf(object.created_at),
    endedAt: object.status === 'canceled' ? textOf(object.canceled_at) : null,
    status: object.status === 'paused' ? 'suspended' : 'active',
    quantity: item?.quantity ?? 1,
    metadata: isSubscription ? { subscriptionId: id } : { transactionId: id },
  }
  return {
    kind: isSubscription ? 'subscription' : 'sold',
    id,
    group: keyHashOf(licenseKey) ?? licenseKey,
    from,
    data: sold,
  }
}

const Person = z.object({ email: z.string().nullable(), name: z.string().nullable() })

const personOf = ({ email, name }: Fields): z.infer<typeof Person> => ({
  email: textOf(email),
  name: textOf(name),
})

const Price = z.looseObject({
  name: z.unknown(),
  description: z.unknown(),
  quantity: z.looseObject({ maximum: z.unknown() }).optional().catch(undefined),
})

/** A price of Paddle has no devices: its key type has one for each unit, until its vendor says otherwise. */
function policyOf(policyId: string, data: unknown): ForeignPolicy {
  const { name, description, quantity } = Price.parse(data)
  return {
    ...policyNamed(policyId),
    name: textOf(name) ?? textOf(description) ?? policyId,
    sellInMultiples: (wholeOf(quantity?.maximum) ?? 1) > 1,
  }
}

function licenseOf(from: string, sold: Sold, shared: Shared): ForeignLicense | Unusable {
  const { id: externalId, licenseKey, customerId, status, quantity, metadata } = sold
  const createdAt = isoOf(sold.createdAt)
  const endedAt = isoOf(sold.endedAt)
  if (createdAt === 'invalid' || endedAt === 'invalid')
    return { from, externalId, licenseKey, problem: 'The time of its sale or its end is not a time.' }
  const customer = shared.get('customers', customerId)
  const person = customer === undefined ? { email: sold.email, name: null } : Person.parse(customer)
  return {
    ...plainLicense,
    from,
    externalId,
    licenseKey,
    productId: sold.productId,
    policyId: sold.policyId,
    ...person,
    createdAt: createdAt ?? null,
    expiresAt: endedAt ?? null,
    status,
    quantity,
    metadata,
  }
}
