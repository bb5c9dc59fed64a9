import { sameJson } from '../../domain/equality.ts'
import type { KeyType } from '../../domain/products/key-type.ts'

type Terms = Omit<KeyType, 'price'>

const listed = (names: readonly string[]): string => names.map((name) => `“${name}”`).join(', ')

const without = (names: readonly string[], others: readonly string[]): string[] =>
  names.filter((name) => !others.includes(name))

/**
 * What an edit of a key type changes for the licenses that were issued for it: entitlements are looked up at every
 * validate, and everything else was copied when the license was issued.
 * @param live how many of its licenses are not revoked and have not expired
 * @returns a sentence for each consequence; none when no license would notice
 */
export function consequencesOf(before: Terms, after: Terms, live: number): string[] {
  if (live === 0) return []
  const they = live === 1 ? '1 live license' : `${live.toLocaleString('en')} live licenses`
  const gained = without(after.entitlements, before.entitlements)
  const lost = without(before.entitlements, after.entitlements)
  const verb = (one: string, many: string) => (live === 1 ? one : many)
  return [
    gained.length > 0 && `${they} ${verb('gets', 'get')} ${listed(gained)} at the next check.`,
    lost.length > 0 && `${they} ${verb('loses', 'lose')} ${listed(lost)} at the next check.`,
    !sameJson(before.fallbackEntitlements, after.fallbackEntitlements) &&
      `Licenses that have fallen back have ${after.fallbackEntitlements.length === 0 ? 'no entitlements' : listed(after.fallbackEntitlements)} from the next check.`,
    (before.deviceLimit !== after.deviceLimit ||
      !sameJson(before.duration, after.duration) ||
      before.onExpiry !== after.onExpiry) &&
      `${they} ${verb('keeps its', 'keep their')} device limit, expiry and what happens then. Only new licenses get the new ones, and subscriptions whose plan or quantity changes.`,
    (before.sellInMultiples !== after.sellInMultiples || before.maxQuantity !== after.maxQuantity) &&
      `${they} ${verb('keeps its', 'keep their')} quantity. The new rule applies to new licenses.`,
  ].filter((sentence) => sentence !== false)
}
