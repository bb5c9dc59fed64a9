import { createHmac } from 'node:crypto'
import type { MasterKey } from './master-key.ts'
import { spellingsOf } from './people-parts.ts'

/** The index values that find a person; new entries are stored under the first. */
export const emailIndexesOf = (master: MasterKey, tenantId: string, email: string): string[] =>
  spellingsOf(email).map((spelling) => emailIndexOf(master, tenantId, spelling))

/** The same address has the same hash, which does not reveal the address. */
function emailIndexOf(master: MasterKey, tenantId: string, spelling: string): string {
  const digest = createHmac('sha256', master.indexing).update(JSON.stringify([tenantId, spelling]))
  return `sub_${digest.digest('hex').slice(0, 32)}`
}
