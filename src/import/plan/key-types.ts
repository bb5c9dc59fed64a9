import { createHash } from 'node:crypto'
import { sameJson } from '../../domain/equality.ts'
import { type EntitlementValues, valueNamed } from '../../domain/products/entitlement-values.ts'
import type { KeyType } from '../../domain/products/key-type.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { slugOf } from '../../domain/values.ts'
import type { Variant, VariantName } from './variants.ts'

/** What licenses of one variant become. */
export type KeyTypeChoice = {
  variant: Variant
  keyTypeId: string
  /** `new` is created, `existing` is in the product already, `mapped` was named by the operator. */
  state: 'new' | 'existing' | 'mapped'
  keyType: KeyType
  /** Why the import cannot begin; undefined if it can. */
  problem?: string
}

/** A product gets at most so many key types from an import, since each entitlement set needs its own. */
const maxNew = 100

type Input = {
  /** The key types that the product has, in order. */
  existing: readonly KeyType[]
  /** Key types by the id or the name of a policy. */
  mapped: ReadonlyMap<string, string>
}

/**
 * Chooses a key type for each variant: the one that the operator named, else one with the id of the policy's name.
 * The same export leads to the same ids, so an import that is run again finds the key types that it created.
 */
export function chooseKeyTypes(
  variants: ReadonlyMap<VariantName, Variant>,
  { existing, mapped }: Input,
): Map<VariantName, KeyTypeChoice> {
  const names = new Map<string, number>()
  const policies = new Map([...variants.values()].map(({ policy }) => [policy?.policyId, policy]))
  for (const policy of policies.values()) {
    const slug = slugOf(policy?.name ?? '')
    names.set(slug, (names.get(slug) ?? 0) + 1)
  }
  const isUnique = (slug: string) => slug !== '' && names.get(slug) === 1
  const chosen = new Map(
    [...variants].map(([name, variant]) => [name, choose(variant, { existing, mapped }, isUnique)]),
  )
  const created = new Set(
    [...chosen.values()].flatMap(({ state, keyTypeId }) => (state === 'new' ? keyTypeId : [])),
  )
  if (created.size <= maxNew) return chosen
  const problem = `The licenses have ${created.size} sets of rules and entitlements; at most ${maxNew} key types are created. Use --map.`
  return new Map([...chosen].map(([name, choice]) => [name, { ...choice, problem }]))
}

function choose(variant: Variant, wanted: Input, isUnique: (slug: string) => boolean): KeyTypeChoice {
  const { policy, entitlements, values } = variant
  const first = wanted.existing[0]
  const named =
    wanted.mapped.get(policy?.policyId ?? '') ?? wanted.mapped.get(policy?.name ?? '') ?? variant.keyTypeId
  if (named !== null) {
    const keyType = findKeyType({ keyTypes: wanted.existing }, named)
    return keyType
      ? { variant, keyTypeId: named, state: 'mapped', keyType }
      : {
          variant,
          keyTypeId: named,
          state: 'mapped',
          keyType: newKeyType(variant, named),
          problem: `The product has no key type ${named}. Create it, or name another one with --map.`,
        }
  }
  const isFirst = policy === null && entitlements.length === 0
  if (isFirst && first) return { variant, keyTypeId: first.keyTypeId, state: 'existing', keyType: first }
  const keyTypeId = idFor(variant, isUnique)
  const keyType = findKeyType({ keyTypes: wanted.existing }, keyTypeId)
  if (!keyType) return { variant, keyTypeId, state: 'new', keyType: newKeyType(variant, keyTypeId) }
  const choice = { variant, keyTypeId, state: 'existing', keyType } as const
  const { entitlementValues: present = {} } = keyType
  if (sameJson(keyType.entitlements, entitlements) && sameJson(present, values)) return choice
  const problem =
    `The product has a key type ${keyTypeId} with other entitlements (${listOf(keyType.entitlements, present)} instead of ` +
    `${listOf(entitlements, values)}). To use it all the same: --map ${quoted(policy?.policyId ?? '')}=${keyTypeId}`
  return { ...choice, problem }
}

const quoted = (text: string) => (/^[\w.-]+$/.test(text) ? text : `'${text}'`)
const listOf = (entries: readonly string[], values: EntitlementValues) =>
  entries.map((entry) => withValue(entry, values)).join(', ') || 'none'

/** An entitlement as people read it, such as `projects: 25`. */
const withValue = (name: string, values: EntitlementValues): string => {
  const value = valueNamed(name, values)
  return value === undefined || value === true ? name : `${name}: ${value}`
}

function idFor(
  { policy, entitlements, extra, missing, values }: Variant,
  isUnique: (slug: string) => boolean,
): string {
  const slug = slugOf(policy?.name ?? '')
  const base = isUnique(slug)
    ? slug
    : `${slug.slice(0, 40) || 'imported'}-${shortHash(policy?.policyId ?? '')}`
  const hashed = (of: unknown) => `${base.slice(0, 40).replace(/-$/, '')}-${shortHash(JSON.stringify(of))}`
  if (!sameJson(values, {})) return hashed([entitlements, values])
  if (extra.length === 0 && missing.length === 0) return base
  const added = slugOf(extra.join('-'))
  const full = `${base}-${added}`
  return missing.length === 0 && added !== '' && full.length <= 63 ? full : hashed(entitlements)
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8)

function newKeyType(
  { policy, entitlements, extra, missing, values, maxQuantity }: Variant,
  keyTypeId: string,
): KeyType {
  const onExpiry = policy?.onExpiry ?? 'expire'
  const changed = Object.keys(values).filter((name) => !extra.includes(name))
  const differences = [
    ...extra.map((entry) => `+ ${withValue(entry, values)}`),
    ...missing.map((entry) => `- ${entry}`),
    ...changed.map((entry) => withValue(entry, values)),
  ]
  const name = [policy?.name ?? 'Imported', ...differences].join(' ').slice(0, 200)
  return {
    keyTypeId,
    name,
    deviceLimit: policy ? policy.seats : 1,
    duration: policy?.duration ?? null,
    onExpiry,
    entitlements,
    fallbackEntitlements: onExpiry === 'fallback' ? entitlements : [],
    ...(sameJson(values, {}) ? {} : { entitlementValues: values }),
    price: null,
    sellInMultiples: policy?.sellInMultiples === true || maxQuantity > 1,
    maxQuantity: null,
    ...(policy?.floatingSeats && { floatingSeats: policy.floatingSeats }),
  }
}
