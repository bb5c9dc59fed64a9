import type { GivenRole } from '../members/roles.ts'
import { asciiEmail } from '../values.ts'
import type { ProviderSettings } from './events.ts'

/** What a provider says of a person, in an ID token whose signature was verified. */
export type Claims = Readonly<Record<string, unknown>>

/**
 * The role that the claims give.
 *
 * | `roleClaim` | its values                | role                                             |
 * | ----------- | ------------------------- | ------------------------------------------------ |
 * | null        |                           | `kept`: a member has their role                  |
 * | `groups`    | one or more are mapped    | that of the first of the mapping                 |
 * | `groups`    | none is mapped, or absent | the default role; null when there is none        |
 */
export function roleBy(
  { roleClaim, roles, defaultRole }: Pick<ProviderSettings, 'roleClaim' | 'roles' | 'defaultRole'>,
  claims: Claims,
): GivenRole | 'kept' | null {
  if (roleClaim === null) return 'kept'
  const claim = Object.hasOwn(claims, roleClaim) ? claims[roleClaim] : undefined
  const values = new Set([claim].flat())
  return roles.find(({ value }) => values.has(value))?.role ?? defaultRole
}

/**
 * The email address that the provider has verified, if its domain is one that the provider may vouch for. Microsoft Entra
 * sends no `email_verified`: its `xms_edov` says that the owner of the domain was verified.
 */
export function vouchedEmail(
  { domains, issuer }: Pick<ProviderSettings, 'domains'> & { issuer: string },
  claims: Claims,
): string | undefined {
  const { email, email_verified: verified, xms_edov: ownerVerified } = claims
  const isVerified = verified === true || (isEntra(issuer) && entraYes.has(ownerVerified))
  const address = typeof email === 'string' && isVerified ? asciiEmail(email) : undefined
  const domain = address?.slice(address.lastIndexOf('@') + 1).toLowerCase()
  return domain !== undefined && domains.includes(domain) ? address : undefined
}

const isEntra = (issuer: string): boolean => URL.parse(issuer)?.host === 'login.microsoftonline.com'
const entraYes: ReadonlySet<unknown> = new Set([true, 'true', 1, '1'])
