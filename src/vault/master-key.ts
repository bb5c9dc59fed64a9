import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'

export type MasterKey = {
  wrapping: KeyObject
  indexing: KeyObject
  cursors: KeyObject
  cookies: KeyObject
  /** For the ids of what has a name of its own, such as an imported key. */
  derivedIds: KeyObject
  idempotency: KeyObject
}

/** 32 random bytes, base64: what `KEYLEDGER_MASTER_KEY` holds. */
export const newMasterKey = (): string => randomBytes(32).toString('base64')

/**
 * Each purpose gets a key of its own, derived by HKDF-SHA256, so that none is used for two things.
 * @param text 32 bytes in base64
 * @throws when it is anything else, with a message that says how to make one
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
    cursors: derive('cursors'),
    cookies: derive('cookies'),
    derivedIds: derive('derived ids'),
    idempotency: derive('idempotency'),
  }
}
