import type { LicenseEvent } from './events.ts'
import { KeyHash } from './keys.ts'

/**
 * The plain hash of an imported key of another format, from which a short key can be computed.
 * @param first the first event of a license
 */
export function guessableHashOf(first: LicenseEvent): string | undefined {
  if (first.type !== 'LicenseImported') return undefined
  const { keyHash, displayKey } = first.data
  // The display form of a key of our own format begins with its prefix.
  return KeyHash.safeParse(keyHash).success && displayKey.startsWith('…') ? keyHash : undefined
}

/**
 * Whether an event of a license tells the hash of a key that can be guessed from it. Its record is not given out, nor its
 * leaf hash together with the rest of it.
 * @param guessable the hash that {@link guessableHashOf} finds in the license's first event
 */
export const revealsKey = (event: LicenseEvent, guessable: string | undefined): boolean =>
  guessable !== undefined && 'keyHash' in event.data && event.data.keyHash === guessable
