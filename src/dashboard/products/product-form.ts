import { z } from 'zod'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { fewestComponents, maxComponents } from '../../domain/licenses/marks.ts'
import type { DeviceMail } from '../../domain/products/device-mails.ts'
import { KeyPrefix, ProductSettings } from '../../domain/products/events.ts'
import { Slug } from '../../domain/values.ts'
import { type FilledForm, newForm } from '../forms/filled-form.ts'
import {
  checked,
  given,
  optionalOf,
  optionalWhole,
  wantedLine,
  wantedWhole,
  wordsIn,
} from '../forms/typed.ts'
import { withOneValueEach } from './entitlement-lines.ts'
import { withFloatingSeats } from './floating-form.ts'
import { keyTypeFields, newKeyTypeForm, newKeyTypeId, wrongId } from './key-type-form.ts'
import { withMeters } from './meters-form.ts'
import { sharingFields, sharingRules, typedSharing } from './sharing-form.ts'
import { inUnits, secondsIn, type Unit, unit } from './time-units.ts'

const wrongPrefix = 'Use 2 to 8 capital letters and digits.'

const wrongDays = 'Enter days before the expiry from 1 to 366, at most ten, for example 14, 3.'
const noticeDays = ProductSettings.shape.expiringNotice.unwrap().shape.days

/** Days with commas, or none. */
const expiringDays = given.transform(wordsIn).transform((typed, context) => {
  if (typed.length === 0) return []
  const days = noticeDays.safeParse(typed.map((word) => (/^\d{1,3}$/.test(word) ? Number(word) : 0)))
  if (days.success) return days.data
  context.addIssue({ code: 'custom', message: wrongDays })
  return z.NEVER
})

const settingsFields = {
  freeTierEnabled: checked,
  trialDurationDays: optionalWhole(0, 3650),
  keyRecovery: checked,
  expiringDays,
  usageNotice: checked,
  newDeviceMail: checked,
  seatsFullMail: checked,
  customerSeatFrees: optionalWhole(0, 100),
  customerKeyReplacement: checked,
  customerFiles: checked,
  showSeatHolders: checked,
  leaseHolder: checked,
  ...sharingFields,
}

/** A new product with its first key type. */
export const NewProductForm = withMeters(
  withFloatingSeats(
    withOneValueEach(
      z.object({
        name: wantedLine(200, 'Enter a name.'),
        productId: optionalOf(Slug, wrongId),
        keyPrefix: optionalOf(KeyPrefix, wrongPrefix),
        ...settingsFields,
        ...keyTypeFields,
        ...newKeyTypeId,
      }),
    ),
  ),
)

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
  leaseSeconds: secondsIn(form.leaseCount, form.leaseUnit),
  revalidateAfterSeconds: secondsIn(form.revalidateCount, form.revalidateUnit),
  onRefund: form.onRefund,
  onPaidInFull: form.onPaidInFull === 'by_key_type' ? undefined : form.onPaidInFull,
  keyRecovery: form.keyRecovery,
  deviceMatch: form.componentsAtLeast === null ? null : { atLeast: form.componentsAtLeast },
  ...customerRules(form),
})

const deviceMailsIn = (form: Record<'newDeviceMail' | 'seatsFullMail', boolean>): DeviceMail[] | null => {
  const mails: DeviceMail[] = [
    ...(form.newDeviceMail ? ['new_device' as const] : []),
    ...(form.seatsFullMail ? ['seats_full' as const] : []),
  ]
  return mails.length === 0 ? null : mails
}

/** What customers may do in the portal, what they are told, and when their use looks like sharing; undefined or null is the usual rule. */
export const customerRules = (
  form: Parameters<typeof sharingRules>[0] & {
    customerSeatFrees: number | null
    expiringDays: readonly number[]
    usageNotice: boolean
    newDeviceMail: boolean
    seatsFullMail: boolean
    customerKeyReplacement: boolean
    customerFiles: boolean
    showSeatHolders: boolean
    leaseHolder: boolean
  },
) => ({
  customerSeatFrees: form.customerSeatFrees ?? undefined,
  customerKeyReplacement: form.customerKeyReplacement || undefined,
  expiringNotice: form.expiringDays.length === 0 ? null : { days: [...form.expiringDays] },
  usageNotice: form.usageNotice || undefined,
  deviceMails: deviceMailsIn(form),
  customerFiles: form.customerFiles || undefined,
  showSeatHolders: form.showSeatHolders || undefined,
  leaseHolder: form.leaseHolder || undefined,
  keySharing: sharingRules(form),
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
    expiringDays: settings.expiringNotice?.days.join(', ') ?? '',
    usageNotice: settings.usageNotice ? 'on' : '',
    newDeviceMail: settings.deviceMails?.includes('new_device') ? 'on' : '',
    seatsFullMail: settings.deviceMails?.includes('seats_full') ? 'on' : '',
    customerFiles: settings.customerFiles ? 'on' : '',
    showSeatHolders: settings.showSeatHolders ? 'on' : '',
    leaseHolder: settings.leaseHolder ? 'on' : '',
    ...typedSharing(settings.keySharing),
    seen: updatedAt,
  })
}
