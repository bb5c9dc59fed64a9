import { Entitlement, entitlementSet } from '../../domain/products/key-type.ts'

/**
 * The name of an entitlement in the form that key types accept: lower case, and a hyphen for every other character.
 * @returns undefined when nothing is left of it
 */
function entitlementOf(code: string): string | undefined {
  const name = code
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9._:-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .replace(/-+$/, '')
    .slice(0, 64)
  return Entitlement.safeParse(name).success ? name : undefined
}

/** Entitlements of another system as a sorted set, in the form of key types. */
export const entitlementsOf = (codes: readonly string[]): string[] =>
  entitlementSet(codes.flatMap((code) => entitlementOf(code) ?? []))
