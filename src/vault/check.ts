import type { Pool } from 'pg'
import type { MasterKey } from './master-key.ts'
import { open, seal } from './seal.ts'

/** The master key is not the one under which this database's secrets are sealed. */
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
 * Remembers the first master key that a database is used with, by something sealed under it, and refuses any other
 * before anything is sealed that nobody could open.
 * @throws WrongMasterKey
 */
export async function checkMasterKey(db: Pool, master: MasterKey): Promise<void> {
  await db.query('insert into vault.master_key_check (sealed) values ($1) on conflict do nothing', [
    seal(master.wrapping, purpose, Buffer.from('keyledger')),
  ])
  const { rows } = await db.query<{ sealed: Buffer }>('select sealed from vault.master_key_check')
  if (!rows.every(({ sealed }) => opensCheck(master, sealed))) throw new WrongMasterKey()
}

/** Whether a master key is the one under which a database's check was sealed. */
export function opensCheck(master: MasterKey, sealed: Uint8Array): boolean {
  try {
    open(master.wrapping, purpose, sealed)
    return true
  } catch {
    return false
  }
}
