import { z } from 'zod'
import { keyHashOf } from '../../credentials/license-key.ts'
import type { ApiLists } from '../api/lists.ts'
import type { ExportItem } from '../files/items.ts'
import { type ForeignLicense, plainLicense, policyNamed, type Unusable } from '../foreign.ts'
import { isoOf } from './moments.ts'
import { isSet, type Piece, type Source, textOf, wholeOf } from './source.ts'

const Page = z.looseObject({ sales: z.array(z.unknown()), next_page_key: z.string().nullish() })

/** Its pages have ten sales each: the CSV export is much faster. @see https://gumroad.com/api#sales */
const gumroadApi: ApiLists = {
  baseUrl: 'https://api.gumroad.com',
  accept: 'application/json',
  needsAccount: false,
  async *lists() {
    yield { list: 'sales', of: null, first: '/v2/sales' }
  },
  pageInfo({ first }, _page, body) {
    const { next_page_key: key } = Page.parse(body)
    return { next: key == null ? null : `${first}?page_key=${encodeURIComponent(key)}` }
  },
}

/** A sale, from its API or from its CSV export. */
const Sale = z.object({
  id: z.string(),
  licenseKey: z.string().nullable(),
  productId: z.string().nullable(),
  productName: z.string().nullable(),
  variants: z.string().nullable(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  createdAt: z.string().nullable(),
  quantity: z.int(),
  isMultiseat: z.boolean(),
  isRecurring: z.boolean(),
  isReturned: z.boolean(),
  isDisabled: z.boolean(),
  hasEnded: z.boolean(),
  endedAt: z.string().nullable(),
  subscriptionId: z.string().nullable(),
  orderNumber: z.string().nullable(),
})
type Sale = z.infer<typeof Sale>

const Fields = z.record(z.string(), z.unknown())

/** Gumroad: each product with its variants becomes a key type without a limit, since Gumroad knows no devices. */
export const gumroadSource: Source = {
  name: 'gumroad',
  pieceOf,
  licensesIn(pieces) {
    const sales = pieces.map((piece) => ({ from: piece.from, sale: Sale.parse(piece.data) }))
    // Each charge of a subscription is a sale with the key of the first one.
    const [first] = sales.toSorted(
      (one, other) =>
        Number(one.sale.isRecurring) - Number(other.sale.isRecurring) ||
        (one.sale.createdAt ?? '').localeCompare(other.sale.createdAt ?? ''),
    )
    return first ? [licenseOf(first.from, first.sale)] : []
  },
  policiesIn: () => [],
  policyNamed: (policyId) => ({ ...policyNamed(policyId), seats: null }),
  api: gumroadApi,
}

function pieceOf({ from, data }: ExportItem): Piece | string | undefined {
  const fields = Fields.safeParse(data)
  if (!fields.success) return 'It is not a sale of Gumroad.'
  const isCsv = Object.hasOwn(fields.data, 'Purchase ID')
  if (isCsv && fields.data['Purchase ID'] === 'Totals') return undefined
  const sale = isCsv ? saleOfCsv(fields.data) : saleOfApi(fields.data)
  if (sale === undefined) return 'It is not a sale of Gumroad.'
  const { id, licenseKey, isRecurring } = sale
  if (licenseKey === null && isRecurring) return undefined
  const group = licenseKey === null ? `sale ${id}` : (keyHashOf(licenseKey) ?? licenseKey)
  return { kind: 'sales', id, group, from, data: sale }
}

const lastPart = (permalink: string | null) => permalink?.split('/').at(-1) ?? null

function saleOfApi(sale: z.infer<typeof Fields>): Sale | undefined {
  const id = textOf(sale.id)
  if (id === null) return undefined
  const isLost = isSet(sale.chargedback) || isSet(sale.chargebacked) || isSet(sale.disputed)
  return {
    id,
    licenseKey: textOf(sale.license_key),
    productId: lastPart(textOf(sale.product_permalink)) ?? textOf(sale.product_id),
    productName: textOf(sale.product_name),
    variants: variantsOf(sale.variants),
    email: textOf(sale.purchase_email) ?? textOf(sale.email),
    name: textOf(sale.full_name),
    createdAt: textOf(sale.created_at),
    quantity: wholeOf(sale.quantity) ?? 1,
    isMultiseat: isSet(sale.is_multiseat_license),
    isRecurring: isSet(sale.recurring_charge),
    isReturned: isSet(sale.refunded) || (isLost && !isSet(sale.dispute_won)),
    isDisabled: isSet(sale.license_disabled) || isSet(sale.access_revoked),
    hasEnded: isSet(sale.ended),
    endedAt: textOf(sale.subscription_ended_at),
    subscriptionId: textOf(sale.subscription_id),
    orderNumber: textOf(sale.order_id),
  }
}

function saleOfCsv(cells: z.infer<typeof Fields>): Sale | undefined {
  const cell = (name: string) => textOf(cells[name])
  const id = cell('Purchase ID')
  if (id === null) return undefined
  const endedAt = cell('Subscription End Date')
  return {
    id,
    licenseKey: cell('License Key'),
    productId: cell('Product ID'),
    productName: cell('Item Name'),
    variants: variantsOf(cell('Variants')),
    email: cell('Giftee Email') ?? cell('Purchase Email') ?? cell('Buyer Email'),
    name: cell('Buyer Name'),
    createdAt: cell('Purchase Time (UTC timezone)') ?? cell('Purchase Date'),
    quantity: Number(cell('Quantity') ?? 1) || 1,
    isMultiseat: Number(cell('Quantity') ?? 1) > 1,
    isRecurring: isSet(cell('Recurring Charge?')),
    isReturned: isSet(cell('Fully Refunded?')) || (isSet(cell('Disputed?')) && !isSet(cell('Dispute Won?'))),
    isDisabled: cell('License Key Enabled?') === '0' || isSet(cell('Access Revoked?')),
    hasEnded: endedAt !== null,
    endedAt,
    subscriptionId: null,
    orderNumber: cell('Order Number'),
  }
}

/** `{"Tier": "Pro"}` and `(Pro)` are the same variant. */
function variantsOf(variants: unknown): string | null {
  const fields = Fields.safeParse(variants)
  const names = fields.success
    ? Object.values(fields.data).flatMap((value) => textOf(value) ?? [])
    : [textOf(variants) ?? '']
  return names.join(', ').replaceAll(/[()]/g, '').trim() || null
}

function policyIdOf({ productId, productName, variants }: Sale): string | null {
  const name = productName ?? productId
  return name === null ? null : variants === null ? name : `${name} ${variants}`
}

function licenseOf(from: string, sale: Sale): ForeignLicense | Unusable {
  const { id: externalId, licenseKey, hasEnded, isMultiseat, quantity, subscriptionId, orderNumber } = sale
  const unusable = (problem: string) => ({ from, externalId, licenseKey, problem })
  if (licenseKey === null) return unusable('The sale has no license key.')
  const createdAt = isoOf(sale.createdAt)
  const endedAt = isoOf(sale.endedAt)
  if (createdAt === 'invalid' || endedAt === 'invalid')
    return unusable('The time of its sale or its end is not a time.')
  const status = statusOf(sale)
  const isUndated = hasEnded && endedAt === undefined && status === 'suspended'
  return {
    ...plainLicense,
    from,
    externalId,
    licenseKey,
    productId: sale.productId,
    policyId: policyIdOf(sale),
    email: sale.email,
    name: sale.name,
    createdAt: createdAt ?? null,
    expiresAt: endedAt ?? null,
    status,
    seats: isMultiseat ? quantity : undefined,
    metadata: {
      ...(orderNumber !== null && { orderNumber }),
      ...(subscriptionId !== null && { subscriptionId }),
    },
    leftOut: isUndated ? ['Its subscription has ended without a date, so it is imported as suspended.'] : [],
  }
}

function statusOf({ isReturned, isDisabled, hasEnded, endedAt }: Sale): ForeignLicense['status'] {
  if (isReturned) return 'revoked'
  if (isDisabled || (hasEnded && endedAt === null)) return 'suspended'
  return 'active'
}
