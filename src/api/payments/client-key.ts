import type { FindClientKey, KnownClientKey } from '../../../projections/client-keys/queries.ts'
import { sameDigest } from '../../credentials/sha256.ts'
import { tokenHashOf } from '../../credentials/token.ts'

/**
 * The tenant whose live SDK key or checkout key was presented; undefined for anything else. A key whose checksum
 * is wrong is refused without a look-up.
 */
export async function knownClientKey(
  find: FindClientKey,
  kind: KnownClientKey['kind'],
  presented: string,
): Promise<KnownClientKey | undefined> {
  const hash = tokenHashOf(presented, kind)
  const known = hash === undefined ? undefined : await find(hash)
  // The look-up goes by hash already; comparing once more in constant time costs nothing and leaves no doubt.
  return hash !== undefined && known?.kind === kind && sameDigest(known.keyHash, hash) ? known : undefined
}
