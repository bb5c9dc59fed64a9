import { isKeySpent, isMailedKeySpent } from '../../../projections/deliveries/keys.ts'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { mailedKeyName } from '../../domain/licenses/mailed-key.ts'
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

/** Destroys the present key of a license, sealed only to be mailed, once no mail needs it any more. */
export async function destroyMailedKey(
  services: Ports<'db' | 'now' | 'secrets'>,
  tenantId: string,
  licenseId: string,
): Promise<void> {
  const found = await findLicense(services.db, tenantId, licenseId)
  if (found && (await isMailedKeySpent(services.db, licenseId, momentOf(services)))) {
    await services.secrets.destroy(tenantId, mailedKeyName(licenseId, found.license.keyHash))
  }
}
