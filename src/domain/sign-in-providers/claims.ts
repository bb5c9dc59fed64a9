import type { z } from 'zod'
import { asciiEmail } from '../values.ts'
import type { ProviderSettings } from './events.ts'

/** What a provider says of a person, in an ID token whose signature was verified. */
export type Claims = Readonly<Record<string, unknown>>

type RoleMapping<Role> = {
  roleClaim: string | null
  roles: readonly { value: string; role: Role }[]
  defaultRole: Role | null
}

/** The mapping of a provider to roles of one kind. It has no others: see `requireFittingRoles`. */
export function mappingTo<Role>(
  kind: z.ZodType<Role>,
  { roleClaim, roles, defaultRole }: Pick<ProviderSettings, 'roleClaim' | 'roles' | 'defaultRole'>,
): RoleMapping<Role> {
  const ofKind = roles.flatMap(({ value, role }) => {
    const { data } = kind.safeParse(role)
    return data === undefined ? [] : [{ value, role: data }]
  })
  return { roleClaim, roles: ofKind, defaultRole: kind.safeParse(defaultRole).data ?? null }
}

/**
 * The role that the claims give.
 *
 * | `roleClaim` | its values                | role                                             |
 * | ----------- | ------------------------- | ------------------------------------------------ |
 * | null        |                           | `kept`: a person has their role                  |
 * | `groups`    | one or more are mapped    | that of the first of the mapping                 |
 * | `groups`    | none is mapped, or absent | the default role; null when there is none        |
 */
export function roleBy<Role>(
  { roleClaim, roles, defaultRole }: RoleMapping<Role>,
  claims: Claims,
): Role | 'kept' | null {
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
  return address !== undefined && isInDomains(domains, address) ? address : undefined
}

/** Whether an address is of one of the domains. Subdomains are domains of their own. */
export const isInDomains = (domains: readonly string[], address: string): boolean =>
  domains.includes(address.slice(address.lastIndexOf('@') + 1).toLowerCase())

const isEntra = (issuer: string): boolean => URL.parse(issuer)?.host === 'login.microsoftonline.com'
const entraYes: ReadonlySet<unknown> = new Set([true, 'true', 1, '1'])
