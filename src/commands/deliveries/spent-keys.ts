import { isKeySpent } from '../../../projections/deliveries/keys.ts'
import { saleKeyName } from '../../domain/sales/key.ts'
import type { Ports } from '../../ports.ts'
import { momentOf } from '../origin.ts'

/**
 * Destroys the raw key of a sale once every delivery that carries it has succeeded, or was abandoned 30 days
 * ago.
 */
export async function destroySpentKey(
  services: Ports<'db' | 'now' | 'secrets'>,
  tenantId: string,
  licenseId: string,
): Promise<void> {
  if (await isKeySpent(services.db, licenseId, momentOf(services))) {
    await services.secrets.destroy(tenantId, saleKeyName(licenseId))
  }
}
