import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { ForeignLicense, ForeignPolicy } from '../foreign.ts'
import { chooseKeyTypes, type KeyTypeChoice } from './key-types.ts'
import { type Policies, policiesOf, type Variant, type VariantName, variantOf } from './variants.ts'

/** Which product each license goes to: one for all, or one for each product of the other system. */
export type ProductOf = (foreignProductId: string | null) => PresentProduct | undefined

/** A product and what the licenses that go to it become. */
export type Target = { product: PresentProduct; choices: ReadonlyMap<VariantName, KeyTypeChoice> }

/** Where each license goes. */
export type Targets = {
  all: readonly Target[]
  /** @returns undefined for a license of a product that is not imported */
  of(license: ForeignLicense): { product: PresentProduct; choice: KeyTypeChoice } | undefined
  /** How many licenses the products that are not imported have, by product. */
  others: ReadonlyMap<string, number>
  licenses: number
}

type Input = {
  productOf: ProductOf
  mapped: ReadonlyMap<string, string>
  policies: readonly ForeignPolicy[]
  policyNamed: (policyId: string) => ForeignPolicy
}

/** Reads all licenses once, to learn which combinations of rules and entitlements they have. */
export async function planTargets(
  licenses: AsyncIterable<ForeignLicense | { problem: string }>,
  { productOf, mapped, policies: known, policyNamed }: Input,
): Promise<Targets> {
  const policies = policiesOf(known, policyNamed)
  const found = new Map<string, { product: PresentProduct; variants: Map<VariantName, Variant> }>()
  const others = new Map<string, number>()
  let count = 0
  for await (const license of licenses) {
    count++
    if ('problem' in license) continue
    const product = productOf(license.productId)
    if (!product) {
      const name = license.productId ?? 'no product'
      others.set(name, (others.get(name) ?? 0) + 1)
      continue
    }
    const target = found.get(product.productId) ?? { product, variants: new Map<VariantName, Variant>() }
    found.set(product.productId, target)
    addTo(target.variants, license, policies)
  }
  const all = [...found.values()].map(({ product, variants }): Target => {
    return { product, choices: chooseKeyTypes(variants, { existing: product.keyTypes, mapped }) }
  })
  const byProduct = new Map(all.map((target) => [target.product.productId, target]))
  return {
    all,
    others,
    licenses: count,
    of(license) {
      const target = byProduct.get(productOf(license.productId)?.productId ?? '')
      const choice = target?.choices.get(variantOf(license, policies).name)
      return target && choice && { product: target.product, choice }
    },
  }
}

function addTo(variants: Map<VariantName, Variant>, license: ForeignLicense, policies: Policies): void {
  const { name, variant } = variantOf(license, policies)
  const known = variants.get(name)
  if (!known) variants.set(name, { ...variant, licenses: 1 })
  else {
    known.licenses++
    known.maxQuantity = Math.max(known.maxQuantity, variant.maxQuantity)
  }
}

/** The product with the key types that the import will create. */
export function withNewKeyTypes({ product, choices }: Target): PresentProduct {
  const created = new Map(
    [...choices.values()].flatMap(({ state, keyType }) =>
      state === 'new' ? [[keyType.keyTypeId, keyType] as const] : [],
    ),
  )
  return { ...product, keyTypes: [...product.keyTypes, ...created.values()] }
}
