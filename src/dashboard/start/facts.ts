import { hasIssued } from '../../../projections/insights/queries.ts'
import { listIntegrations } from '../../../projections/integrations.ts'
import { listProducts } from '../../../projections/products/queries.ts'
import { findTenant } from '../../../projections/tenants.ts'
import { hasTestPurchase, newestTestPurchase } from '../../../projections/test-purchases.ts'
import { demoProductOf } from '../../domain/products/demo.ts'
import { isNamed } from '../../domain/tenants/tenant.ts'
import type { KnownTestPurchase } from '../../domain/test-purchases/test-purchase.ts'
import type { Ports } from '../../ports.ts'
import { hasValidated } from '../../usage/read.ts'
import { hasUsedSdkKey } from '../../usage/token-use.ts'

/**
 * How far a workspace has come on the way to its first validated license. What was done once stays done. The product of the first
 * start, and what is tried with it, do not count.
 */
export type StartFacts = {
  tenantId: string
  name: string
  /** A person chose the name of the workspace. */
  named: boolean
  /** The newest product with a key type; undefined before there is one. */
  productId: string | undefined
  connected: boolean
  /** A member said that licenses are sold without a connected provider. */
  sellsElsewhere: boolean
  /** A member took the steps off the home page. */
  dismissed: boolean
  /** A test purchase succeeded, or a license was issued that is not a test. */
  firstLicense: boolean
  /** The newest one. */
  testPurchase: KnownTestPurchase | undefined
  /** An app called with the SDK key. */
  sdkKeyUsed: boolean
  validated: boolean
}

/** The tenant's first products; one with a key type is among them. */
const maxProducts = 20

export async function readStart({ db }: Ports<'db'>, tenantId: string): Promise<StartFacts> {
  const demoProduct = demoProductOf(tenantId)
  const [tenant, products, integrations, issued, purchased, testPurchase, sdkKeyUsed, validated] =
    await Promise.all([
      findTenant(db, tenantId),
      listProducts(db, tenantId, { after: undefined, limit: maxProducts }),
      listIntegrations(db, tenantId),
      hasIssued(db, tenantId, demoProduct),
      hasTestPurchase(db, tenantId),
      newestTestPurchase(db, tenantId),
      hasUsedSdkKey(db, tenantId),
      hasValidated(db, tenantId, demoProduct),
    ])
  const own = products.items.filter(({ productId }) => productId !== demoProduct)
  return {
    tenantId,
    name: tenant?.name ?? tenantId,
    named: tenant !== undefined && isNamed(tenant),
    productId: own.find(({ keyTypes }) => keyTypes.length > 0)?.productId,
    connected: integrations.some(({ status }) => status === 'connected'),
    sellsElsewhere: tenant?.sellsElsewhere ?? false,
    dismissed: tenant?.onboardingDismissed ?? false,
    firstLicense: purchased || issued,
    testPurchase,
    sdkKeyUsed,
    validated,
  }
}

/** Whether members see the steps on the home page: until the first validated license, unless they were dismissed. */
export const isStarting = ({ productId, validated, dismissed }: StartFacts): boolean =>
  !dismissed && (productId === undefined || !validated)
