import { z } from 'zod'
import type { Duration } from '../../domain/products/key-type.ts'
import type { ApiLists } from '../api/lists.ts'
import type { ExportItem } from '../files/items.ts'
import {
  type ForeignDevice,
  type ForeignLicense,
  type ForeignPolicy,
  plainLicense,
  policyNamed,
  type Unusable,
} from '../foreign.ts'
import { isoOf } from './moments.ts'
import { dataOf, isSet, type Piece, Resource, type Shared, type Source, textOf, wholeOf } from './source.ts'

const Page = z.looseObject({
  data: z.array(z.unknown()),
  meta: z.looseObject({ page: z.looseObject({ lastPage: z.int() }) }),
})

/** The lists that can be limited to one store; instances and variants belong to what these have. */
const ofStore = new Set(['products', 'license-keys', 'customers'])

/** @see https://docs.lemonsqueezy.com/api */
const lemonSqueezyApi: ApiLists = {
  baseUrl: 'https://api.lemonsqueezy.com',
  accept: 'application/vnd.api+json',
  needsAccount: false,
  async *lists({ account: store }) {
    // Later lists come last, so that a download that an earlier version began continues at the right one.
    const names = [
      'products',
      'variants',
      'order-items',
      'license-keys',
      'license-key-instances',
      'customers',
    ]
    for (const list of names) {
      const filter = store !== '' && ofStore.has(list) ? `&filter[store_id]=${encodeURIComponent(store)}` : ''
      yield { list, of: null, first: `/v1/${list}?page[size]=100&page[number]=1${filter}` }
    }
  },
  pageInfo({ first }, page, body) {
    const { lastPage } = Page.parse(body).meta.page
    const next = page < lastPage ? first.replace('page[number]=1', `page[number]=${page + 1}`) : null
    return { next, pages: lastPage }
  },
}

/** Lemon Squeezy: variants become key types, instances devices. */
export const lemonSqueezySource: Source = {
  name: 'lemonsqueezy',
  pieceOf,
  licensesIn(pieces, shared) {
    const [license] = dataOf(pieces, 'license-keys', Resource)
    if (!license) return []
    const from = pieces.find(({ kind }) => kind === 'license-keys')?.from ?? ''
    return [licenseOf(from, license, { pieces, shared })]
  },
  policiesIn: (shared) => [
    ...[...shared.all('variants').values()].map((data) => policyOfVariant(Resource.parse(data), shared)),
    ...[...shared.all('products').values()].map((data) => policyOfProduct(Resource.parse(data))),
  ],
  policyNamed,
  api: lemonSqueezyApi,
}

function pieceOf({ from, data }: ExportItem): Piece | string | undefined {
  const read = Resource.safeParse(data)
  if (!read.success) return 'It is not a resource of the API of Lemon Squeezy.'
  const { type, id, attributes } = read.data
  const piece = (group: string | null, kept: unknown = read.data): Piece => ({
    kind: type,
    id,
    group,
    from,
    data: kept,
  })
  switch (type) {
    case 'license-keys':
      return piece(id)
    case 'license-key-instances':
      return piece(textOf(attributes.license_key_id) ?? '')
    case 'products':
    case 'variants':
      return piece(null)
    case 'order-items':
      return piece(null, textOf(attributes.variant_id))
    case 'customers':
      return piece(null, customerOf(read.data))
    default:
      return undefined
  }
}

const units: Record<string, Duration['unit']> = { days: 'day', months: 'month', years: 'year' }

function policyOfVariant({ id, attributes }: Resource, shared: Shared): ForeignPolicy {
  const product = shared.get('products', textOf(attributes.product_id))
  const productName = product === undefined ? null : textOf(Resource.parse(product).attributes.name)
  const variantName = textOf(attributes.name)
  const names = [productName, variantName === 'Default' && productName !== null ? null : variantName]
  const unit = units[textOf(attributes.license_length_unit) ?? '']
  const count = wholeOf(attributes.license_length_value)
  const isTimed = !isSet(attributes.is_license_length_unlimited) && unit !== undefined && count !== null
  return {
    policyId: id,
    name: names.filter((name) => name !== null).join(' ') || `Variant ${id}`,
    seats: isSet(attributes.is_license_limit_unlimited) ? null : wholeOf(attributes.license_activation_limit),
    duration: isTimed && count >= 1 && count <= 1000 ? { count, unit } : null,
    onExpiry: 'expire',
    entitlements: [],
    sellInMultiples: false,
  }
}

/** Used for licenses whose variant the export does not tell. */
const productPolicy = (productId: string) => `product-${productId}`

const policyOfProduct = ({ id, attributes }: Resource): ForeignPolicy => ({
  policyId: productPolicy(id),
  name: textOf(attributes.name) ?? `Product ${id}`,
  seats: 1,
  duration: null,
  onExpiry: 'expire',
  entitlements: [],
  sellInMultiples: false,
})

const Customer = z.object({
  email: z.string().nullable(),
  name: z.string().nullable(),
  /** What is said of where they live. */
  place: z.array(z.string()),
})

const customerOf = ({ attributes }: Resource): z.infer<typeof Customer> => ({
  email: textOf(attributes.email),
  name: textOf(attributes.name),
  place: ['city', 'region', 'country'].filter((field) => textOf(attributes[field]) !== null),
})

/** The buyer of a license. Of a customer the present address and name count, and not those at the time of the sale. */
function buyerOf({ user_email, user_name, customer_id }: Resource['attributes'], shared: Shared) {
  const email = textOf(user_email)
  const name = textOf(user_name)
  const found = shared.get('customers', textOf(customer_id))
  if (found === undefined) return { email, name, leftOut: [] }
  const customer = Customer.parse(found)
  const changed = email !== null && customer.email?.toLowerCase() !== email.toLowerCase()
  return {
    email: customer.email ?? email,
    name: customer.name ?? name,
    leftOut: [
      ...(changed && customer.email !== null
        ? ['Its buyer has another address since it was sold, which is taken.']
        : []),
      ...(customer.place.length === 0
        ? []
        : [`Where its buyer lives is left out: ${customer.place.join(', ')}.`]),
    ],
  }
}

type Context = { pieces: readonly Piece[]; shared: Shared }

function licenseOf(
  from: string,
  { id, attributes }: Resource,
  { pieces, shared }: Context,
): ForeignLicense | Unusable {
  const { key, product_id, order_item_id, order_id, customer_id, activation_limit, test_mode } = attributes
  const licenseKey = textOf(key)
  const unusable = (problem: string) => ({ from, externalId: id, licenseKey, problem })
  if (isSet(test_mode)) return unusable('It was issued in test mode.')
  const expiresAt = isoOf(textOf(attributes.expires_at))
  const createdAt = isoOf(textOf(attributes.created_at))
  if (expiresAt === 'invalid' || createdAt === 'invalid')
    return unusable('Its expiry or its creation is not a time.')
  const productId = textOf(product_id)
  const variantId = textOf(shared.get('order-items', textOf(order_item_id)))
  const hasNoEnd = attributes.status === 'expired' && expiresAt === undefined
  const { email, name, leftOut } = buyerOf(attributes, shared)
  const ids = { orderId: textOf(order_id), customerId: textOf(customer_id) }
  return {
    ...plainLicense,
    from,
    externalId: id,
    licenseKey,
    productId,
    policyId: variantId ?? (productId === null ? null : productPolicy(productId)),
    email,
    name,
    createdAt: createdAt ?? null,
    expiresAt: expiresAt ?? null,
    status: hasNoEnd ? 'suspended' : statusOf(attributes),
    seats: wholeOf(activation_limit),
    devices: dataOf(pieces, 'license-key-instances', Resource).map(deviceOf),
    metadata: Object.fromEntries(
      Object.entries(ids).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
    ),
    leftOut: [
      ...(hasNoEnd ? ['It has expired without a date, so it is imported as suspended.'] : []),
      ...leftOut,
    ],
  }
}

function statusOf({ status, disabled }: Resource['attributes']): ForeignLicense['status'] {
  if (isSet(disabled) || status === 'disabled') return 'suspended'
  return status === 'expired' ? 'expired' : 'active'
}

/** Apps ask by the identifier that they got when they activated. */
const deviceOf = ({ id, attributes }: Resource): ForeignDevice => ({
  deviceId: textOf(attributes.identifier) ?? id,
  name: textOf(attributes.name),
  lastSeen: textOf(attributes.updated_at) ?? textOf(attributes.created_at),
})
