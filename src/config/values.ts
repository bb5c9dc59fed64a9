import { isIP } from 'node:net'
import { z } from 'zod'
import { asciiEmail } from '../domain/values.ts'
import { decimalIn, wholeNumberIn } from '../numbers.ts'
import { signatureTypes } from '../transparency/note/keys.ts'
import { NoteError } from '../transparency/note/note.ts'
import { parseVerifierKey, type VerifierKey } from '../transparency/note/verifier.ts'

// Checks for values of variables. Every message starts with "must" and says what is allowed; the variable's
// name and value are added to it.

/** A whole number from `min` to `most`, inclusive. */
export function wholeNumber(min: number, most: number) {
  return readAs((text) => wholeNumberIn(text, min, most), `must be a whole number from ${min} to ${most}`)
}

/** A number from `min` to `most`, inclusive; it may have decimals. */
export function decimal(least: number, most: number, unit: string) {
  return readAs(
    (text) => decimalIn(text, least, most),
    `must be a number of ${unit} from ${least} to ${most}`,
  )
}

function readAs<T>(read: (text: string) => T | undefined, message: string) {
  return z.string().transform((text, context) => {
    const value = read(text)
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })
}

export const port = wholeNumber(0, 65_535)
export const seconds = decimal(1, 3600, 'seconds')

/** Minutes after midnight, UTC. */
export type TimeOfDay = number

const minutesOf = (text: string): TimeOfDay => {
  const [hours = 0, minutes = 0] = text.split(':').map((part) => wholeNumberIn(part, 0, 59))
  return hours * 60 + minutes
}

/** A time of day in UTC, such as `03:30`. */
export const timeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day in UTC, such as 03:30')
  .transform(minutesOf)

/** One of several words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(...words: Words) {
  const last = words.at(-1)
  return z.enum(words, { error: `must be ${words.slice(0, -1).join(', ')} or ${last}` })
}

/** A URL with one of these protocols. */
export const url = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (value) => protocols.some((protocol) => value.startsWith(`${protocol}://`)),
      `must begin with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`,
    )

/** The URL of an API, without a trailing slash. */
export const api = url('http', 'https')
  .refine((value) => URL.canParse(value), 'must be a full URL, such as https://api.example.com')
  .transform((value) => value.replace(/\/+$/, ''))

/** The name of a log of checkpoints: C2SP tlog-checkpoint. */
export const logOrigin = z
  .string()
  .regex(
    /^[^\s+]{1,255}$/,
    'must be a name without spaces and plus signs, such as licenses.example.com: a URL without its scheme',
  )

const witnessesMessage =
  'must be pairs of an address and a public key, separated by commas, such as https://witness.example.com example.com/w1+530d903a+BA…'

/** `https://witness.example.com example.com/w1+530d903a+BA…`, separated by commas. Keys contain no comma. */
export const witnesses = z.string().transform((text, context) =>
  text.split(',').flatMap((pair) => {
    const [address = '', key = '', ...rest] = pair.trim().split(/\s+/)
    const known = witnessKey(key)
    if (/^https?:\/\//.test(address) && URL.canParse(address) && known && rest.length === 0)
      return [{ url: address.replace(/\/+$/, ''), key: known }]
    context.addIssue({ code: 'custom', message: witnessesMessage })
    return []
  }),
)

function witnessKey(text: string): VerifierKey | undefined {
  try {
    const key = parseVerifierKey(text)
    return key.type === signatureTypes.cosignature ? key : undefined
  } catch (error) {
    if (error instanceof NoteError) return undefined
    throw error
  }
}

/** `600/1200`: sustained and burst per minute; one number sets both; `off` is no limit. */
export const rate = z
  .string()
  .regex(
    /^(?:off|[1-9]\d{0,8}(?:\/[1-9]\d{0,8})?)$/,
    'must be <steady>/<burst> per minute, such as 600/1200, or off',
  )
  .transform((text) => {
    // Not undefined, which would mean the default.
    if (text === 'off') return null
    const [perMinute = 0, burst = perMinute] = text
      .split('/')
      .map((part) => wholeNumberIn(part, 1, 999_999_999))
    return { perMinute, burst }
  })

/** `10.0.0.1`, `10.0.0.0/8`, or a name for private ranges. */
function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0) return ['loopback', 'linklocal', 'uniquelocal'].includes(text)
  const longest = version === 4 ? 32 : 128
  return rest.length === 0 && (prefix === undefined || wholeNumberIn(prefix, 1, longest) !== undefined)
}

export const networks = z
  .string()
  .transform((text) => text.split(',').map((network) => network.trim()))
  .refine(
    (list) => list.every(isNetwork),
    'must be addresses or networks separated by commas, such as loopback,10.0.0.0/8',
  )

/** Public keys of age. Their checksums are verified when the backup schedule starts. */
export const recipients = z
  .string()
  .transform((text) => text.split(',').map((recipient) => recipient.trim()))
  .refine(
    (list) => list.every((recipient) => /^age1[a-z0-9]{20,}$/.test(recipient)),
    'must be age public keys separated by commas, such as age1…,age1…',
  )

/** `licenses@example.com`, or `Example Ltd <licenses@example.com>`. */
export const sender = z
  .string()
  .transform((value) => /^(?:([^<>"\p{Cc}]*?)\s*<([^<>]+)>|([^<>]+))$/u.exec(value.trim()))
  .transform((found) => ({ name: found?.[1]?.trim() || null, email: found?.[2] ?? found?.[3] ?? '' }))
  .refine(
    ({ email }) => asciiEmail(email) !== undefined,
    'must be an email address, or Name <address>, such as Example <licenses@example.com>',
  )
  .transform(({ name, email }) => ({ name, email: asciiEmail(email) ?? email }))
