import { isKeySpent, listSpentKeys } from '../../projections/deliveries/keys.ts'
import { saleKeyName, saleKeyPrefix } from './sale-key.ts'
import { momentOf, type Services } from './services.ts'

/**
 * The raw key of a sale is kept for the deliveries that carry it. It is destroyed when each of them has succeeded or was
 * given up 30 days ago.
 */
export async function destroySpentKey(
  services: Services,
  tenantId: string,
  licenseId: string,
): Promise<void> {
  if (await isKeySpent(services.db, licenseId, momentOf(services))) {
    await services.secrets.destroy(tenantId, saleKeyName(licenseId))
  }
}

/**
 * As {@link destroySpentKey}, for those whose last delivery succeeded while its dispatcher died, that had none, or whose
 * time has passed.
 */
export async function destroySpentKeys(services: Services): Promise<void> {
  for (const { tenantId, licenseId } of await listSpentKeys(services.db, saleKeyPrefix, momentOf(services))) {
    await destroySpentKey(services, tenantId, licenseId)
  }
}
