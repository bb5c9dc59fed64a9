import { z } from 'zod'
import { licenseStatuses } from '../domain/licenses/status.ts'
import { EntitlementValue } from '../domain/products/entitlement-values.ts'
import type { Place } from './own-statements.ts'
import { verifyToken } from './paseto.ts'

const time = z.iso.datetime({ precision: 0 })

/** What the vendor has signed of a relay: which seats it may give, and until when. Unknown claims are ignored. */
const Certificate = z.object({
  iat: time,
  nbf: time,
  exp: time,
  serial: z.int().min(1),
  nonce: z.string(),
  relay_id: z.string().min(1),
  pk: z.string(),
  license_id: z.string().min(1),
  license_key_hash: z.string().regex(/^[0-9a-f]{64}$/),
  seats: z.int().min(1),
  seat_seconds: z.int().min(1),
  scope: z.enum(['device', 'process', 'user']),
  status: z.enum(licenseStatuses),
  entitlements: z.record(z.string(), EntitlementValue),
  license_expires_at: time.nullable(),
  updates_until: time.optional(),
  holder: z.object({ name: z.string().nullable(), email: z.string().nullable() }).optional(),
})
export type Certificate = z.infer<typeof Certificate>

/** For whom a certificate is: signed, but not sent. */
export const certificateAssertion = ({ tenantId, productId }: Place): string =>
  `keyledger:relay1:${tenantId}:${productId}`

const Footer = z.object({ kid: z.string() })

/**
 * Verifies a certificate, and reads what it says.
 * @param keys the raw public keys of the tenant, base64, by `kid`
 * @returns undefined for what none of the keys signed as a certificate for this product
 */
export function readCertificate(
  token: string,
  keys: Readonly<Record<string, string>>,
  place: Place,
): Certificate | undefined {
  const read = verifyToken(token, certificateAssertion(place), (footer) => {
    const { data } = Footer.safeParse(footer)
    const key = data && Object.hasOwn(keys, data.kid) ? keys[data.kid] : undefined
    return key === undefined ? undefined : Buffer.from(key, 'base64')
  })
  return Certificate.safeParse(read?.message).data
}
