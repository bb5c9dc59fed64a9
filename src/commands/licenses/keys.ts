import { findMail } from '../../../projections/mails.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { LicenseKey } from '../../credentials/license-key.ts'
import type { Holder, LicenseTerms } from '../../domain/licenses/events.ts'
import { type KeptKeyPlace, mailedKeyName } from '../../domain/licenses/keys.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import { keyPeriodOf } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'

/** What says whether a product keeps keys now, and in which period. */
type KeyKeeper = Pick<PresentProduct, 'settings' | 'keyPeriod'>

type KeyHolder = Pick<LicenseTerms, 'tenantId' | 'productId' | 'licenseId' | 'holder'>

/**
 * Keeps the key of a license before the event that issues it, if the product keeps keys and the holder has an address.
 */
export async function keepKey(
  { keptKeys }: Ports<'keptKeys'>,
  product: KeyKeeper,
  license: KeyHolder,
  { licenseKey, keyHash }: Pick<LicenseKey, 'licenseKey' | 'keyHash'>,
): Promise<void> {
  const place = product.settings.keyRecovery ? placeOf({ ...license, keyHash }) : undefined
  const { productId } = license
  if (place) await keptKeys.keep({ ...place, productId, period: keyPeriodOf(product) }, licenseKey)
}

/** Keeps the key of a license for its next holder, before the event that names them. */
export async function passKeyOn(
  { findProduct, keptKeys }: Ports<'findProduct' | 'keptKeys'>,
  license: IssuedLicense,
  holder: Holder | null,
): Promise<void> {
  if (holder?.subjectId === license.holder?.subjectId) return
  const product = await findProduct(license.tenantId, license.productId)
  if (!product?.settings.keyRecovery) return
  const licenseKey = await openKeptKey({ keptKeys }, product, license)
  if (licenseKey === undefined) return
  const { keyHash } = license
  if (holder) await keepKey({ keptKeys }, product, { ...license, holder }, { licenseKey, keyHash })
  else await keptKeys.recheck(license.licenseId)
}

/** The present key of a license, if it is kept for its present holder since its product keeps keys. */
export async function openKeptKey(
  { keptKeys }: Ports<'keptKeys'>,
  product: KeyKeeper,
  license: KeyHolder & Pick<LicenseTerms, 'keyHash'>,
): Promise<string | undefined> {
  const place = product.settings.keyRecovery ? placeOf(license) : undefined
  return place && keptKeys.open({ ...place, period: keyPeriodOf(product) })
}

function placeOf({
  tenantId,
  licenseId,
  keyHash,
  holder,
}: KeyHolder & Pick<LicenseTerms, 'keyHash'>): KeptKeyPlace | undefined {
  if (holder === null || holder.email === null) return undefined
  return { tenantId, licenseId, keyHash, subjectId: holder.subjectId }
}

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
