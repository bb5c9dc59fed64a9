import { Secret, TOTP } from 'otpauth'

/** The defaults of authenticator apps. */
const form = { issuer: 'keyledger', algorithm: 'SHA1', digits: 6, period: 30 } as const

export const newTotpSecret = (): string => new Secret({ size: 20 }).base32

/** The URI for the QR code. */
export function totpUri(secret: string, email: string, tenantId: string): string {
  return new TOTP({
    ...form,
    issuer: `keyledger (${tenantId})`,
    issuerInLabel: false,
    label: email,
    secret: Secret.fromBase32(secret),
  }).toString()
}

/** A secret of no member, so that an unknown member takes as long as a known one. */
const dummySecret = newTotpSecret()

/**
 * The time step of a code: the current, previous or next one; undefined for a wrong code. The caller must store
 * the step and accept only later ones.
 */
export function totpStep(secret: string | undefined, code: string, now: Date): number | undefined {
  const totp = new TOTP({ ...form, secret: Secret.fromBase32(secret ?? dummySecret) })
  const delta = totp.validate({ token: code.replace(/\s/g, ''), timestamp: now.getTime(), window: 1 })
  if (delta === null || secret === undefined) return undefined
  return Math.floor(now.getTime() / 1000 / form.period) + delta
}
