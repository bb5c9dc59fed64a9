import { z } from 'zod'
import { licenseStatuses } from '../domain/licenses/status.ts'
import { EntitlementValue } from '../domain/products/entitlement-values.ts'
import { verifyToken } from '../signing/paseto.ts'

const time = z.iso.datetime({ precision: 0 })
const hash = z.string().regex(/^[0-9a-f]{64}$/)

/** What the vendor signed: which seats a relay may give, and until when. Unknown claims are ignored. */
const Certificate = z.object({
  iat: time,
  exp: time,
  serial: z.int().min(1),
  nonce: z.string(),
  relay_id: z.string().min(1),
  pk: z.string(),
  license_id: z.string().min(1),
  license_key_hash: hash,
  seats: z.int().min(1),
  seat_seconds: z.int().min(1),
  scope: z.enum(['device', 'process', 'user']),
  status: z.enum(licenseStatuses),
  entitlements: z.record(z.string(), EntitlementValue),
  license_expires_at: time.nullable(),
  updates_until: time.optional(),
  holder: z.object({ name: z.string().nullable(), email: z.string().nullable() }).optional(),
})
type Certificate = z.infer<typeof Certificate>

/** The vendor's answer to a request of a relay. */
const Answer = z.object({
  certificate: z.string().max(100_000),
  /** Raw public keys of the tenant, base64, by their ids. */
  keys: z.record(z.string(), z.string()),
  /** The settings of the product as the client interface answers them. */
  settings: z.looseObject({ free_tier_enabled: z.boolean(), expires_at: z.int().optional() }).nullable(),
  product: z.object({ tenantId: z.string().min(1), productId: z.string().min(1), name: z.string() }),
})
type Answer = z.infer<typeof Answer>

/** An answer whose certificate was verified. */
export type Certified = Answer & { claims: Certificate }

/** The answer cannot be used. The message says what to do. */
export class AnswerUnusable extends Error {}

/** @throws AnswerUnusable for a text that is no answer, or whose certificate no key in it has signed */
export function readAnswer(text: string): Certified {
  const { data: answer } = Answer.safeParse(jsonIn(text))
  if (!answer)
    throw new AnswerUnusable(
      'This is not an answer to a relay. Take the whole file that the vendor gave you.',
    )
  const { tenantId, productId } = answer.product
  const read = verifyToken(answer.certificate, `keyledger:relay1:${tenantId}:${productId}`, (footer) => {
    const { data: kid } = Footer.safeParse(footer)
    const key = kid && Object.hasOwn(answer.keys, kid.kid) ? answer.keys[kid.kid] : undefined
    return key === undefined ? undefined : Buffer.from(key, 'base64')
  })
  const { data: claims } = Certificate.safeParse(read?.message)
  if (!claims)
    throw new AnswerUnusable(
      'The certificate in this answer was not signed by the vendor, or the file was changed. Take it from the vendor again.',
    )
  return { ...answer, claims }
}

const Footer = z.object({ kid: z.string() })

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
