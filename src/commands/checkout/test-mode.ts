import type { PresentProduct } from '../../../projections/products/queries.ts'
import { sameDigest, sha256 } from '../../credentials/sha256.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import type { Origin } from '../origin.ts'
import { changeProductWith } from '../products.ts'

export type TestKeys = { publishableKey: string; secretKey: string }

const publishable = /^pk_test_[\x21-\x7e]+$/
/** Also accepts a restricted key, which the provider recommends. */
const secret = /^(?:sk|rk)_test_[\x21-\x7e]+$/

/**
 * Puts a product into test mode with the given keys, which move no money. The same keys again change nothing.
 * @throws Refusal `test_keys_wanted`, `product_not_found`
 */
export async function enableTestMode(
  ports: Ports<'execute' | 'findProduct' | 'now' | 'secrets'>,
  product: PresentProduct,
  { publishableKey, secretKey }: TestKeys,
  operationId: string,
  origin: Origin,
): Promise<PresentProduct> {
  if (!publishable.test(publishableKey) || !secret.test(secretKey)) throw new Refusal('test_keys_wanted')
  if (await isSetSo(ports, product, { publishableKey, secretKey })) return product
  const { tenantId, productId } = product
  const secretName = `test-mode.${productId}.${operationId}`
  await ports.secrets.keep(tenantId, secretName, secretKey)
  const changed = await changeProductWith(ports, tenantId, productId, origin, (at) => ({
    type: 'EnableTestMode',
    publishableKey,
    secretName,
    at,
  }))
  return withoutRetired(ports, changed)
}

/**
 * Puts a product into test mode, in which test notifications of providers have an effect. Its test keys are
 * kept.
 * @throws Refusal `product_not_found`
 */
export function switchTestModeOn(
  ports: Ports<'execute' | 'findProduct' | 'now'>,
  { tenantId, productId }: PresentProduct,
  origin: Origin,
): Promise<PresentProduct> {
  return changeProductWith(ports, tenantId, productId, origin, (at) => ({ type: 'SwitchTestModeOn', at }))
}

/**
 * Ends test mode and destroys its secret key; nothing changes if it is off.
 * @throws Refusal `product_not_found`
 */
export async function disableTestMode(
  ports: Ports<'execute' | 'findProduct' | 'now' | 'secrets'>,
  product: PresentProduct,
  origin: Origin,
): Promise<PresentProduct> {
  const { tenantId, productId } = product
  const changed = await changeProductWith(ports, tenantId, productId, origin, (at) => ({
    type: 'DisableTestMode',
    at,
  }))
  return withoutRetired(ports, changed)
}

async function isSetSo(
  ports: Ports<'secrets'>,
  { tenantId, settings, testKeys }: PresentProduct,
  keys: TestKeys,
): Promise<boolean> {
  if (!settings.testMode.enabled || settings.testMode.publishableKey !== keys.publishableKey) return false
  const kept = testKeys?.secretName ? await ports.secrets.open(tenantId, testKeys.secretName) : undefined
  return kept !== undefined && sameDigest(sha256(kept), sha256(keys.secretKey))
}

/** Destroys the keys that the product no longer uses, including those left by a run that crashed. */
async function withoutRetired(ports: Ports<'secrets'>, product: PresentProduct): Promise<PresentProduct> {
  for (const name of product.testKeys?.retired ?? []) await ports.secrets.destroy(product.tenantId, name)
  return product
}
