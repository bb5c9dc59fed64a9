import { countLicensesOfKeyType, rounded, sampleLiveLicenses } from '../../../projections/licenses/count.ts'
import { momentOf } from '../../commands/origin.ts'
import { sameJson } from '../../domain/equality.ts'
import { type EntitlementValues, valueNamed } from '../../domain/products/entitlement-values.ts'
import type { ProductEvent } from '../../domain/products/events.ts'
import type { KeyType } from '../../domain/products/key-type.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import { floatingWords, metersWords, namedWords } from '../../history/changes.ts'
import type { Ports } from '../../ports.ts'
import type { Counted, Effect, EntitlementChange, Fact } from './effect.ts'
import { entitlementChanges } from './licenses.ts'

type KeyTypeEffect = Pick<Effect, 'entitlementsAppearing' | 'entitlementsDisappearing'> & { also: Fact[] }

/**
 * What a decided event of a product changes for the licenses of a key type: they look up their entitlements, and keep
 * the terms that they copied.
 * @throws Refusal `product_not_found`, `key_type_not_found`
 */
export async function effectOnKeyType(
  ports: Ports<'db' | 'findProduct' | 'now'>,
  place: { tenantId: string; productId: string },
  event: ProductEvent,
): Promise<KeyTypeEffect> {
  const now = momentOf(ports)
  if (event.type === 'KeyTypeDeleted') {
    const { productId } = place
    const { keyTypeId } = event.data
    const { live, ended } = await countLicensesOfKeyType(ports.db, { ...place, keyTypeId }, now)
    return { ...noChange, also: [{ what: 'key_type_deleted', productId, keyTypeId, live, ended }] }
  }
  if (event.type !== 'KeyTypeChanged') return noChange
  const { keyType } = event.data
  const product = await ports.findProduct(place.tenantId, place.productId)
  if (!product) throw new Refusal('product_not_found')
  const before = findKeyType(product, keyType.keyTypeId)
  if (!before) throw new Refusal('key_type_not_found')
  const { keyTypeId, entitlements, fallbackEntitlements, entitlementValues = {} } = keyType
  const { live, entries } = await sampleLiveLicenses(ports.db, { ...place, keyTypeId }, now)
  const pairs = entries.map((entry) => ({
    before: entry,
    after: { ...entry, entitlements, fallbackEntitlements, entitlementValues },
  }))
  const { appearing, disappearing } = entitlementChanges(pairs, now)
  const values = changedValues(before.entitlementValues ?? {}, entitlementValues)
  const ofAll = scaled(live, entries.length)
  return {
    entitlementsAppearing: appearing.map(ofAll),
    entitlementsDisappearing: disappearing.map(ofAll),
    also: [
      {
        what: 'key_type_changed',
        productId: place.productId,
        keyTypeId,
        live,
        newLicenses: changedTerms(before, keyType),
        ...(values.length > 0 && { values }),
        ...(!sameJson(before.meters ?? [], keyType.meters ?? []) && {
          meters: { from: metersWords(before), to: metersWords(keyType) },
        }),
      },
    ],
  }
}

const noChange: KeyTypeEffect = { entitlementsAppearing: [], entitlementsDisappearing: [], also: [] }

/** What was counted in a sample, as a count of all licenses. */
const scaled =
  (all: Counted, sample: number) =>
  ({ entitlement, licenses }: EntitlementChange): EntitlementChange =>
    all.counted === 'exactly'
      ? { entitlement, licenses }
      : {
          entitlement,
          licenses: { count: rounded((licenses.count * all.count) / sample), counted: 'sampled' },
        }

type KeyTypeChanged = Extract<Fact, { what: 'key_type_changed' }>

/** The values that differ, by the name of their entitlement. */
function changedValues(
  before: EntitlementValues,
  after: EntitlementValues,
): NonNullable<KeyTypeChanged['values']> {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((entitlement) => {
    const [from, to] = [before, after].map((values) => valueNamed(entitlement, values) ?? null)
    return from === to || from === undefined || to === undefined ? [] : [{ entitlement, from, to }]
  })
}

type Term = KeyTypeChanged['newLicenses'][number]

const termFields = [
  'deviceLimit',
  'duration',
  'startsAt',
  'graceSeconds',
  'onExpiry',
  'sellInMultiples',
  'maxQuantity',
  'price',
  'updates',
  'offlineFiles',
  'floatingSeats',
  'namedSeats',
] as const
type TermField = (typeof termFields)[number]

/** The terms that licenses copy at their issue. */
function changedTerms(before: KeyType, after: KeyType): Term[] {
  return termFields
    .filter((field) => !sameJson(before[field] ?? null, after[field] ?? null))
    .map((field) => ({ field, from: termOf(before, field), to: termOf(after, field) }))
}

function termOf(keyType: KeyType, field: TermField): Term['from'] {
  const { price, offlineFiles, floatingSeats, namedSeats } = keyType
  if (field === 'duration' || field === 'updates') {
    const period = keyType[field] ?? null
    return period && `${period.count} ${period.unit}`
  }
  if (field === 'price') return price === null ? null : price.priceId
  if (field === 'offlineFiles')
    return offlineFiles ? `${offlineFiles.maxDays} days, ${offlineFiles.perSeatPerYear} a year` : null
  if (field === 'floatingSeats') return floatingSeats ? floatingWords(floatingSeats) : null
  if (field === 'namedSeats') return namedSeats ? namedWords(namedSeats) : null
  const value = keyType[field] ?? null
  return typeof value === 'object' ? JSON.stringify(value) : value
}
