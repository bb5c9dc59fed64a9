import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { open, seal } from './seal.ts'

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

/** The master key does not match the one that sealed this database's secrets. */
export class WrongMasterKey extends Error {
  constructor() {
    super(
      'the master key is not the one that this database was created with; ' +
        'restore the original KEYLEDGER_MASTER_KEY, or master.key in the data directory',
    )
    this.name = 'WrongMasterKey'
  }
}

const purpose = ['master key check']

/**
 * Seals a value under the first master key that a database is used with, and refuses any other key, so that
 * secrets are never sealed under different keys.
 * @throws WrongMasterKey when the database was used with another key
 */
export async function checkMasterKey(db: Pool, master: MasterKey): Promise<void> {
  await db.query('insert into vault.master_key_check (sealed) values ($1) on conflict do nothing', [
    seal(master.wrapping, purpose, Buffer.from('keyledger')),
  ])
  const { rows } = await db.query<{ sealed: Buffer }>('select sealed from vault.master_key_check')
  if (!rows.every(({ sealed }) => opensCheck(master, sealed))) throw new WrongMasterKey()
}

/** Whether a database's check value was sealed under this master key. */
export function opensCheck(master: MasterKey, sealed: Uint8Array): boolean {
  try {
    open(master.wrapping, purpose, sealed)
    return true
  } catch {
    return false
  }
}
