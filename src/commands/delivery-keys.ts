import { isKeySpent, listSpentKeys } from '../../projections/deliveries/keys.ts'
import { saleKeyName, saleKeyPrefix } from './sale-key.ts'
import type { Services } from './services.ts'

/** The raw key of a sale is kept for the deliveries that carry it: when all have ended, it is gone for good. */
export async function destroySpentKey(
  services: Services,
  tenantId: string,
  licenseId: string,
): Promise<void> {
  if (await isKeySpent(services.db, licenseId)) {
    await services.secrets.destroy(tenantId, saleKeyName(licenseId))
  }
}

/** As {@link destroySpentKey}, for those whose last delivery ended while its dispatcher died, or that had none. */
export async function destroySpentKeys(services: Services): Promise<void> {
  for (const { tenantId, licenseId } of await listSpentKeys(services.db, saleKeyPrefix)) {
    await destroySpentKey(services, tenantId, licenseId)
  }
}
