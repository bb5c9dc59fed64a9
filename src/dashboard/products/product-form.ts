import { z } from 'zod'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { fewestComponents, maxComponents } from '../../domain/licenses/marks.ts'
import { KeyPrefix, type ProductSettings } from '../../domain/products/events.ts'
import { Slug } from '../../domain/values.ts'
import { type FilledForm, newForm } from '../forms/filled-form.ts'
import { checked, optionalOf, optionalWhole, wantedLine, wantedWhole } from '../forms/typed.ts'
import { withOneValueEach } from './entitlement-lines.ts'
import { keyTypeFields, newKeyTypeForm, newKeyTypeId, wrongId } from './key-type-form.ts'

const wrongPrefix = 'Use 2 to 8 capital letters and digits.'

const settingsFields = {
  freeTierEnabled: checked,
  trialDurationDays: optionalWhole(0, 3650),
  keyRecovery: checked,
  customerSeatFrees: optionalWhole(0, 100),
  customerKeyReplacement: checked,
  customerFiles: checked,
}

/** A new product with its first key type. */
export const NewProductForm = withOneValueEach(
  z.object({
    name: wantedLine(200, 'Enter a name.'),
    productId: optionalOf(Slug, wrongId),
    keyPrefix: optionalOf(KeyPrefix, wrongPrefix),
    ...settingsFields,
    ...keyTypeFields,
    ...newKeyTypeId,
  }),
)

const units = { second: 1, minute: 60, hour: 3600, day: 86_400 } as const
type Unit = keyof typeof units

const unit = z.enum(['second', 'minute', 'hour', 'day'])

/** Within a year, which is checked for both times below. */
const count = wantedWhole(1, 31_536_000)

export const ProductForm = z
  .object({
    name: wantedLine(200, 'Enter a name.'),
    keyPrefix: wantedLine(8, 'Enter a key prefix.').refine(
      (text) => KeyPrefix.safeParse(text).success,
      wrongPrefix,
    ),
    ...settingsFields,
    leaseCount: count,
    leaseUnit: unit,
    revalidateCount: count,
    revalidateUnit: unit,
    onRefund: z.enum(['revoke', 'keep']),
    onPaidInFull: z.enum(['by_key_type', 'keep', 'expire']).default('by_key_type'),
    componentsAtLeast: optionalWhole(fewestComponents, maxComponents),
    /** When the product last changed before the form was opened. */
    seen: z.string().max(40),
  })
  .superRefine((form, context) => {
    const complain = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    const { leaseSeconds, revalidateAfterSeconds } = settingsOf(form)
    if (leaseSeconds < 60) complain('leaseCount', 'Enter at least 60 seconds.')
    if (leaseSeconds > longest) complain('leaseCount', 'Enter at most 365 days.')
    if (revalidateAfterSeconds > longest) complain('revalidateCount', 'Enter at most 365 days.')
  })

const longest = 31_536_000

type SettingsTyped = Record<'leaseCount' | 'revalidateCount', number> &
  Record<'leaseUnit' | 'revalidateUnit', Unit> &
  Pick<ProductSettings, 'freeTierEnabled' | 'keyRecovery' | 'onPaidInFull' | 'onRefund'> &
  Parameters<typeof customerRules>[0] &
  Record<'trialDurationDays' | 'componentsAtLeast', number | null>

/** The settings as the command takes them. */
export const settingsOf = (form: SettingsTyped) => ({
  freeTierEnabled: form.freeTierEnabled,
  trialDurationDays: form.trialDurationDays,
  leaseSeconds: form.leaseCount * units[form.leaseUnit],
  revalidateAfterSeconds: form.revalidateCount * units[form.revalidateUnit],
  onRefund: form.onRefund,
  onPaidInFull: form.onPaidInFull === 'by_key_type' ? undefined : form.onPaidInFull,
  keyRecovery: form.keyRecovery,
  deviceMatch: form.componentsAtLeast === null ? null : { atLeast: form.componentsAtLeast },
  ...customerRules(form),
})

/** What customers may do in the portal; undefined is the usual rule. */
export const customerRules = (form: {
  customerSeatFrees: number | null
  customerKeyReplacement: boolean
  customerFiles: boolean
}) => ({
  customerSeatFrees: form.customerSeatFrees ?? undefined,
  customerKeyReplacement: form.customerKeyReplacement || undefined,
  customerFiles: form.customerFiles || undefined,
})

/** The form of a new product. */
export const newProductForm = (): FilledForm => {
  const { typed } = newKeyTypeForm()
  return newForm({ ...typed, keyTypeName: 'Standard' })
}

/** The form of a product as it is now. */
export function productForm({ name, keyPrefix, settings, updatedAt }: PresentProduct): FilledForm {
  const lease = inUnits(settings.leaseSeconds)
  const revalidate = inUnits(settings.revalidateAfterSeconds)
  return newForm({
    name,
    keyPrefix,
    freeTierEnabled: settings.freeTierEnabled ? 'on' : '',
    trialDurationDays: settings.trialDurationDays === undefined ? '' : String(settings.trialDurationDays),
    leaseCount: lease.count,
    leaseUnit: lease.unit,
    revalidateCount: revalidate.count,
    revalidateUnit: revalidate.unit,
    onRefund: settings.onRefund,
    onPaidInFull: settings.onPaidInFull ?? 'by_key_type',
    componentsAtLeast: settings.deviceMatch === undefined ? '' : String(settings.deviceMatch.atLeast),
    keyRecovery: settings.keyRecovery ? 'on' : '',
    customerSeatFrees: settings.customerSeatFrees === undefined ? '' : String(settings.customerSeatFrees),
    customerKeyReplacement: settings.customerKeyReplacement ? 'on' : '',
    customerFiles: settings.customerFiles ? 'on' : '',
    seen: updatedAt,
  })
}

/** In the largest unit that divides it. */
function inUnits(seconds: number): { count: string; unit: Unit } {
  const found = (['day', 'hour', 'minute'] as const).find((name) => seconds % units[name] === 0) ?? 'second'
  return { count: String(seconds / units[found]), unit: found }
}
