import type { Pool } from 'pg'
import type { MasterKey } from './master-key.ts'
import { open, seal } from './seal.ts'

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
