import { findIntegration, listIntegrations } from '../../projections/integrations.ts'
import type { PresentProduct } from '../../projections/products/queries.ts'
import { Provider } from '../domain/integrations/provider.ts'
import { findKeyType } from '../domain/products/product.ts'
import { hasTestKeys } from '../domain/products/selling.ts'
import { Refusal } from '../domain/refusal.ts'
import {
  type KnownTestPurchase,
  type TestPurchaseCommand,
  testPurchases,
} from '../domain/test-purchases/test-purchase.ts'
import { loadFromLog } from '../ledger/execute.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'
import { loadSale } from './sales.ts'

/**
 * Starts a test purchase. A worker runs its stages, also after a crash.
 * @param asked defaults to the product's first key type and the first provider that sells it
 * @throws Refusal `key_type_not_found`, `test_purchase_without_provider`
 */
export async function startTestPurchase(
  ports: Ports<'db' | 'execute' | 'newId' | 'now'>,
  product: PresentProduct,
  input: { keyTypeId?: string | undefined; provider?: Provider | undefined },
  origin: Origin,
): Promise<KnownTestPurchase> {
  const keyType = input.keyTypeId ? findKeyType(product, input.keyTypeId) : product.keyTypes[0]
  if (!keyType) throw new Refusal('key_type_not_found')
  const { tenantId, productId } = product
  const provider = input.provider
    ? await usable(ports, product, input.provider)
    : await firstUsable(ports, product)
  if (!provider) throw new Refusal('test_purchase_without_provider')
  const testPurchaseId = ports.newId('tp')
  const { keyTypeId } = keyType
  const purchase = await changeTestPurchase(ports, testPurchaseId, origin, (at) => ({
    type: 'StartTestPurchase',
    testPurchaseId,
    tenantId,
    productId,
    keyTypeId,
    provider,
    at,
  }))
  return purchase
}

async function usable(
  ports: Ports<'db'>,
  product: PresentProduct,
  provider: Provider,
): Promise<Provider | undefined> {
  const integration = await findIntegration(ports.db, product.tenantId, provider)
  if (provider === 'stripe' && product.settings.testMode.enabled && !integration?.ownAccount?.test) {
    return hasTestKeys(product) ? provider : undefined
  }
  return integration?.status === 'connected' ? provider : undefined
}

/**
 * A provider with a mapping of the product before one that is only connected; the card provider before
 * marketplaces.
 */
async function firstUsable(ports: Ports<'db'>, product: PresentProduct): Promise<Provider | undefined> {
  const isTested = product.settings.testMode.enabled
  if (isTested && hasTestKeys(product)) return 'stripe'
  const all = await listIntegrations(ports.db, product.tenantId)
  const connected = all.filter(
    ({ status, provider, ownAccount }) =>
      status === 'connected' && !(isTested && provider === 'stripe' && !ownAccount?.test),
  )
  const isMapped = ({ provider, mappings }: (typeof connected)[number]) =>
    provider === 'stripe'
      ? product.keyTypes.some(({ price }) => price !== null)
      : mappings.some(({ productId }) => productId === product.productId)
  const inOrder = (some: typeof connected) =>
    Provider.options.find((provider) => some.some((integration) => integration.provider === provider))
  return inOrder(connected.filter(isMapped)) ?? inOrder(connected)
}

/** @throws Refusal as `decideTestPurchase` does */
export async function changeTestPurchase(
  ports: Ports<'execute' | 'now'>,
  testPurchaseId: string,
  origin: Origin,
  command: (at: string) => TestPurchaseCommand,
): Promise<KnownTestPurchase> {
  const at = momentOf(ports)
  const cause = causeOf(origin, at)
  const { run } = origin
  const { state: purchase } = await ports.execute(testPurchases, testPurchaseId, command(at), cause, {
    run,
  })
  if (purchase.status === 'absent') throw new Refusal('test_purchase_not_found')
  return purchase
}

/** The license of a test purchase; undefined until its last stage is done. */
export async function licenseOfTestPurchase(
  ports: Ports<'ledger'>,
  { tenantId, provider, testPurchaseId: saleId, status }: KnownTestPurchase,
): Promise<string | undefined> {
  if (status !== 'succeeded') return undefined
  const { state: sale } = await loadSale(ports, { tenantId, provider, saleId })
  return sale.status === 'licensed' ? sale.licenseId : undefined
}

export function loadTestPurchase(ports: Ports<'ledger'>, testPurchaseId: string) {
  return loadFromLog(ports.ledger, testPurchaseId, testPurchases)
}
