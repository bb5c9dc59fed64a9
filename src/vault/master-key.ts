import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'

export type MasterKey = {
  wrapping: KeyObject
  indexing: KeyObject
  /** For the trigrams by which people are searched. */
  searching: KeyObject
  cursors: KeyObject
  cookies: KeyObject
  /** For ids derived from an existing name, such as an imported license key. */
  derivedIds: KeyObject
  idempotency: KeyObject
}

/** Makes a value for `KEYLEDGER_MASTER_KEY`: 32 random bytes in base64. */
export const newMasterKey = (): string => randomBytes(32).toString('base64')

/**
 * Derives a separate key for each purpose with HKDF-SHA256, so that no key is used for two.
 * @param text 32 bytes in base64
 * @throws Error for any other text, with a message that says how to create a key
 */
export function parseMasterKey(text: string): MasterKey {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== 32 || bytes.toString('base64').replace(/=+$/, '') !== text.trim().replace(/=+$/, '')) {
    throw new Error(
      'KEYLEDGER_MASTER_KEY must be 32 bytes in base64. Create one with: openssl rand -base64 32',
    )
  }
  const derive = (purpose: string) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', bytes, '', `keyledger ${purpose}`, 32)))
  return {
    wrapping: derive('wrapping'),
    indexing: derive('indexing'),
    searching: derive('searching'),
    cursors: derive('cursors'),
    cookies: derive('cookies'),
    derivedIds: derive('derived ids'),
    idempotency: derive('idempotency'),
  }
}
