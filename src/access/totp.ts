import { Secret, TOTP } from 'otpauth'

/** What authenticator apps expect when they are told nothing else. */
const form = { issuer: 'keyledger', algorithm: 'SHA1', digits: 6, period: 30 } as const

export const newTotpSecret = (): string => new Secret({ size: 20 }).base32

/** What the QR code holds. */
export function totpUri(secret: string, email: string, tenantId: string): string {
  return new TOTP({
    ...form,
    issuer: `keyledger (${tenantId})`,
    issuerInLabel: false,
    label: email,
    secret: Secret.fromBase32(secret),
  }).toString()
}

/** A secret that is nobody's, so that an unknown member costs as much as a known one. */
const dummySecret = newTotpSecret()

/**
 * Which time step a code belongs to: the present one, the one before it or the one after; undefined when it belongs to
 * none. Whoever takes the code must remember the step and take none that is not later.
 */
export function totpStep(secret: string | undefined, code: string, now: Date): number | undefined {
  const totp = new TOTP({ ...form, secret: Secret.fromBase32(secret ?? dummySecret) })
  const delta = totp.validate({ token: code.replace(/\s/g, ''), timestamp: now.getTime(), window: 1 })
  if (delta === null || secret === undefined) return undefined
  return Math.floor(now.getTime() / 1000 / form.period) + delta
}
