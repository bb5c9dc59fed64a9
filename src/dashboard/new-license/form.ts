import { z } from 'zod'
import { maxSeats } from '../../domain/licenses/issue.ts'
import { EmailAddress, Slug } from '../../domain/values.ts'
import { momentIn } from '../../http/schemas.ts'
import { maxCustomerText } from '../forms/customer-field.ts'
import { pairs } from '../forms/pairs.ts'
import { checked, optionalLine, optionalOf, optionalWhole } from '../forms/typed.ts'

/** The key type that a license is issued for, with its product: both are chosen at once. */
export const soldAs = (productId: string, keyTypeId: string): string => `${productId}/${keyTypeId}`

export const sold = z.string({ error: 'Choose a key type.' }).transform((text, context) => {
  const [productId, keyTypeId, ...rest] = text.split('/')
  const ids = z.tuple([Slug, Slug]).safeParse([productId, keyTypeId])
  if (ids.success && rest.length === 0) return { productId: ids.data[0], keyTypeId: ids.data[1] }
  context.addIssue({ code: 'custom', message: 'Choose a key type.' })
  return z.NEVER
})

const isDay = (text: string): boolean => momentIn.safeParse(`${text}T00:00:00Z`).success
export const day = z.string().refine((text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text))

/** Unlimited is a word, since an empty field leaves the key type's limit. */
export const deviceLimit = z
  .string()
  .trim()
  .optional()
  .default('')
  .transform((text, context) => {
    if (text === '') return undefined
    if (/^unlimited$/i.test(text)) return null
    const count = /^\d{1,9}$/.test(text) ? Number(text) : 0
    if (count >= 1 && count <= maxDevices) return count
    context.addIssue({ code: 'custom', message: 'Enter a whole number from 1 to 100,000, or “unlimited”.' })
    return z.NEVER
  })

const maxDevices = Math.min(maxSeats, 100_000)

export const MintForm = z
  .object({
    sold,
    email: optionalOf(EmailAddress, 'Enter an email address, for example ada@example.com.'),
    name: optionalLine(200),
    customerId: optionalLine(maxCustomerText),
    quantity: optionalWhole(1, 100_000),
    expiry: z.enum(['key-type', 'never', 'day']).optional().default('key-type'),
    expiresOn: optionalOf(day, 'Enter a day as 2027-11-21.'),
    updatesOn: optionalOf(day, 'Enter a day as 2027-11-21.'),
    deviceLimit,
    metadata: pairs,
    sendKey: checked,
  })
  .superRefine(({ expiry, expiresOn, email, name, sendKey }, context) => {
    if (expiry === 'day' && expiresOn === undefined) {
      context.addIssue({ code: 'custom', path: ['expiresOn'], message: 'Enter a day as 2027-11-21.' })
    }
    if (sendKey && email === undefined) {
      const message = 'Enter the address that the key is mailed to.'
      context.addIssue({ code: 'custom', path: ['email'], message })
    } else if (name !== undefined && email === undefined) {
      const message = 'Enter the email address too: a name is only stored together with one.'
      context.addIssue({ code: 'custom', path: ['email'], message })
    }
  })

/** The expiry as the command takes it: at the end of the day that was typed, in UTC; undefined leaves the key type's. */
export function expiryOf({
  expiry,
  expiresOn,
}: Pick<z.infer<typeof MintForm>, 'expiry' | 'expiresOn'>): string | null | undefined {
  if (expiry === 'never') return null
  return expiry === 'day' ? `${expiresOn}T23:59:59.000Z` : undefined
}
