import { findMail } from '../../../projections/mails.ts'
import type { LicenseKey } from '../../credentials/license-key.ts'
import type { LicenseTerms } from '../../domain/licenses/events.ts'
import { mailedKeyName } from '../../domain/licenses/keys.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'

/**
 * Seals a new key in the vault before the event that asks to mail it. If no such event follows, the key is destroyed
 * some minutes later.
 * @throws Refusal `license_without_address`; `mails_off` when the product sends no mails
 */
export async function sealKeyToMail(
  ports: Ports<'db' | 'secrets'>,
  license: Pick<LicenseTerms, 'tenantId' | 'productId' | 'licenseId' | 'holder'>,
  { licenseKey, keyHash }: LicenseKey,
): Promise<void> {
  const { tenantId, licenseId } = license
  await requireMail(ports, license)
  await ports.secrets.keep(tenantId, mailedKeyName(licenseId, keyHash), licenseKey)
}

/** @throws Refusal `license_without_address`; `mails_off` when the product sends no mails */
export async function requireMail(
  ports: Ports<'db'>,
  { tenantId, productId, holder }: Pick<LicenseTerms, 'tenantId' | 'productId' | 'holder'>,
): Promise<void> {
  if ((holder?.email ?? null) === null) throw new Refusal('license_without_address')
  const { settings } = await findMail(ports.db, tenantId, productId)
  if (!settings.enabled) throw new Refusal('mails_off')
}
