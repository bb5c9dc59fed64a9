import { z } from 'zod'
import { defaultKeyType, type KeyType } from '../../domain/products/key-type.ts'
import { Slug, slugOf } from '../../domain/values.ts'
import { type FilledForm, newForm } from '../forms/filled-form.ts'
import { checked, optionalOf, optionalWhole, wantedLine } from '../forms/typed.ts'
import { entitlementLines, linesOf } from './entitlement-lines.ts'
import { floatingFields, floatingOf, floatingValues } from './floating-form.ts'
import { meterFields, metersOf, metersValues } from './meters-form.ts'
import { namedFields, namedOf, namedValues } from './named-form.ts'
import { inUnits, secondsIn, unit } from './time-units.ts'

/** In seconds; no unit makes it longer. */
const longestGrace = 366 * 86_400
/** License files of a device within a year, where a member fills in only how long they are good. */
const usualFilesPerYear = 4

/** The fields of a key type, on its own page and on that of a new product. */
export const keyTypeFields = {
  keyTypeName: wantedLine(200, 'Enter a name.'),
  deviceLimit: optionalWhole(1, 100_000),
  durationCount: optionalWhole(1, 1000),
  durationUnit: z.enum(['day', 'month', 'year']).optional().default('year'),
  startsAt: z.enum(['issue', 'first_activation']).optional().default('issue'),
  graceCount: optionalWhole(0, longestGrace),
  graceUnit: unit.optional().default('day'),
  updatesCount: optionalWhole(1, 1000),
  updatesUnit: z.enum(['day', 'month', 'year']).optional().default('year'),
  onExpiry: z.enum(['expire', 'fallback']).optional().default('expire'),
  entitlements: entitlementLines,
  fallbackEntitlements: entitlementLines,
  sellInMultiples: checked,
  maxQuantity: optionalWhole(1, 100_000),
  fileDays: optionalWhole(1, 36_500),
  filesPerYear: optionalWhole(1, 366),
  ...floatingFields,
  ...namedFields,
  ...meterFields,
}

export const wrongId = 'Use lowercase letters, digits and hyphens.'

/** The id of a new key type, which may be left empty. */
export const newKeyTypeId = { keyTypeId: optionalOf(Slug, wrongId) }

const Fields = z.object(keyTypeFields)
type Fields = z.infer<typeof Fields>

/** Everything of a key type that a member fills in; its price is mapped elsewhere. */
export function keyTypeOf(fields: Fields): Omit<KeyType, 'keyTypeId' | 'price'> {
  const { keyTypeName: name, durationCount: count, durationUnit: unit, ...rest } = fields
  const { deviceLimit, startsAt, graceCount, graceUnit, onExpiry, sellInMultiples, maxQuantity } = rest
  const { entitlements, fallbackEntitlements } = rest
  const { fileDays, filesPerYear } = rest
  const meters = metersOf(rest)
  return {
    name,
    deviceLimit,
    duration: count === null ? null : { count, unit },
    // Without a duration nothing starts.
    startsAt: count === null ? 'issue' : startsAt,
    graceSeconds: Math.min(secondsIn(graceCount ?? 0, graceUnit), longestGrace),
    onExpiry,
    entitlements: entitlements.names,
    fallbackEntitlements: fallbackEntitlements.names,
    entitlementValues: { ...fallbackEntitlements.values, ...entitlements.values },
    sellInMultiples,
    maxQuantity,
    updates: rest.updatesCount === null ? null : { count: rest.updatesCount, unit: rest.updatesUnit },
    offlineFiles:
      fileDays === null ? null : { maxDays: fileDays, perSeatPerYear: filesPerYear ?? usualFilesPerYear },
    floatingSeats: floatingOf(rest),
    namedSeats: namedOf(rest),
    ...(meters && { meters }),
  }
}

/** A key type that is not there yet; undefined when its name gives no id. */
export function newKeyTypeOf(fields: Fields & { keyTypeId: string | undefined }): KeyType | undefined {
  const keyTypeId = fields.keyTypeId ?? slugOf(fields.keyTypeName)
  return keyTypeId === '' ? undefined : { ...defaultKeyType, ...keyTypeOf(fields), keyTypeId }
}

/** The first values of a form about this key type. */
export const keyTypeValues = (keyType: Omit<KeyType, 'price'>) => ({
  keyTypeName: keyType.name,
  keyTypeId: keyType.keyTypeId,
  deviceLimit: keyType.deviceLimit === null ? '' : String(keyType.deviceLimit),
  durationCount: keyType.duration === null ? '' : String(keyType.duration.count),
  durationUnit: keyType.duration?.unit ?? 'year',
  startsAt: keyType.startsAt ?? 'issue',
  graceCount: keyType.graceSeconds ? inUnits(keyType.graceSeconds).count : '',
  graceUnit: keyType.graceSeconds ? inUnits(keyType.graceSeconds).unit : 'day',
  updatesCount: keyType.updates ? String(keyType.updates.count) : '',
  updatesUnit: keyType.updates?.unit ?? 'year',
  onExpiry: keyType.onExpiry,
  ...linesOf(keyType),
  sellInMultiples: keyType.sellInMultiples ? 'on' : '',
  maxQuantity: keyType.maxQuantity === null ? '' : String(keyType.maxQuantity),
  fileDays: String(keyType.offlineFiles?.maxDays ?? ''),
  filesPerYear: String(keyType.offlineFiles?.perSeatPerYear ?? ''),
  ...floatingValues(keyType),
  ...namedValues(keyType),
  ...metersValues(keyType),
})

/** The form of a new key type: one device, without an end. */
export const newKeyTypeForm = (): FilledForm =>
  newForm({ ...keyTypeValues(defaultKeyType), keyTypeName: '', keyTypeId: '' })
