import { unixSeconds } from '../domain/licenses/expiry.ts'
import { signStatement, timeOf } from './paseto.ts'
import type { ActiveKey, Signer } from './signer.ts'

/**
 * Signs the list of a product's withdrawn license files. Of two lists, the one with the higher serial is newer.
 * @param now ISO 8601
 * @throws SigningFailed when the tenant's key cannot be used
 */
export function signWithdrawn(
  signer: Signer,
  key: ActiveKey,
  { tenantId, productId, files }: { tenantId: string; productId: string; files: readonly string[] },
  now: string,
): Promise<string> {
  const claims = { iat: timeOf(unixSeconds(now)), serial: Date.parse(now) * 1000, files }
  return signStatement(signer, tenantId, key, claims, `keyledger:withdrawn1:${tenantId}:${productId}`)
}
