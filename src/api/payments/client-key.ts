import type { FindClientKey, KnownClientKey } from '../../../projections/client-keys.ts'
import { sameDigest } from '../../credentials/sha256.ts'
import { tokenHashOf } from '../../credentials/token.ts'

/**
 * The tenant of a live SDK key or checkout key; undefined for anything else. A key with a wrong checksum is refused
 * without a lookup.
 */
export async function knownClientKey(
  find: FindClientKey,
  kind: KnownClientKey['kind'],
  presented: string,
): Promise<KnownClientKey | undefined> {
  const hash = tokenHashOf(presented, kind)
  const known = hash === undefined ? undefined : await find(hash)
  // The lookup is by hash already; the second comparison takes constant time.
  return hash !== undefined && known?.kind === kind && sameDigest(known.keyHash, hash) ? known : undefined
}
