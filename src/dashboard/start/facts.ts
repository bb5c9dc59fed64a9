import { readMaskedKeys } from '../../../projections/client-keys/queries.ts'
import { countLicenses } from '../../../projections/insights/queries.ts'
import { listIntegrations } from '../../../projections/integrations/queries.ts'
import { listProducts } from '../../../projections/products/queries.ts'
import { findTenant } from '../../../projections/tenants/queries.ts'
import { newestTestPurchase } from '../../../projections/test-purchases/queries.ts'
import { momentOf } from '../../commands/origin.ts'
import type { KnownTestPurchase } from '../../domain/test-purchases/test-purchase.ts'
import type { Ports } from '../../ports.ts'
import { usageRange } from '../../usage/range.ts'
import { readUsage } from '../../usage/read.ts'

/** How far a workspace has come on the way to its first validated license, read from what is there. */
export type StartFacts = {
  tenantId: string
  /** The first product with a key type; undefined before there is one. */
  productId: string | undefined
  connected: boolean
  /** A member said that licenses are sold without a connected provider. */
  sellsElsewhere: boolean
  /** A member took the steps off the home page. */
  dismissed: boolean
  /** A license was issued that is not a test. */
  licensed: boolean
  testPurchase: KnownTestPurchase | undefined
  sdkKey: boolean
  validated: boolean
}

/** The tenant's first products; one with a key type is among them. */
const maxProducts = 20

export async function readStart(
  services: Ports<'db' | 'now' | 'usage'>,
  tenantId: string,
): Promise<StartFacts> {
  const { db } = services
  const now = momentOf(services)
  const range = usageRange({ granularity: 'day' }, now)
  if (typeof range === 'string') throw new Error(`the last days are no range: ${range}`)
  const [tenant, products, integrations, licenses, testPurchase, keys, usage] = await Promise.all([
    findTenant(db, tenantId),
    listProducts(db, tenantId, { after: undefined, limit: maxProducts }),
    listIntegrations(db, tenantId),
    countLicenses(db, tenantId, now.slice(0, 10)),
    newestTestPurchase(db, tenantId),
    readMaskedKeys(db, tenantId),
    readUsage(db, tenantId, undefined, range),
  ])
  return {
    tenantId,
    productId: products.items.find(({ keyTypes }) => keyTypes.length > 0)?.productId,
    connected: integrations.some(({ status }) => status === 'connected'),
    sellsElsewhere: tenant?.sellsElsewhere ?? false,
    dismissed: tenant?.onboardingDismissed ?? false,
    licensed: licenses.length > 0,
    testPurchase,
    sdkKey: keys.sdkKey !== null,
    validated: usage.totals.validations > 0,
  }
}

/** Whether members see the steps on the home page: until the first validated license, unless they were dismissed. */
export const isStarting = ({ productId, validated, dismissed }: StartFacts): boolean =>
  !dismissed && (productId === undefined || !validated)
