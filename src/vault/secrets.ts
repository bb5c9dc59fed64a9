import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import type { MasterKey } from './master-key.ts'
import { open, seal } from './seal.ts'

/** What must be shown or used again later, sealed under a key of its own; a secret that is destroyed is gone. */
export type Secrets = {
  /**
   * Keeps a secret before the event that refers to it by name is appended: until then it means nothing. A name that
   * is taken keeps what it has, so that a command run again after a crash goes on with the same secret.
   * @returns the secret that is kept now
   */
  keep(tenantId: string, name: string, secret: string): Promise<string>
  open(tenantId: string, name: string): Promise<string | undefined>
  destroy(tenantId: string, name: string): Promise<void>
}

export function createSecrets(db: Pool, master: MasterKey): Secrets {
  async function find(tenantId: string, name: string): Promise<string | undefined> {
    const { rows } = await db.query<{ wrapped: Buffer; sealed: Buffer }>({
      name: 'vault-secret',
      text: 'select wrapped, sealed from vault.secrets where tenant_id = $1 and name = $2',
      values: [tenantId, name],
    })
    const [row] = rows
    if (!row) return undefined
    const key = open(master.wrapping, [tenantId, name, 'key'], row.wrapped)
    return open(key, [tenantId, name], row.sealed).toString()
  }

  return {
    async keep(tenantId, name, secret) {
      const key = randomBytes(32)
      await db.query(
        'insert into vault.secrets (tenant_id, name, wrapped, sealed) values ($1, $2, $3, $4) on conflict do nothing',
        [
          tenantId,
          name,
          seal(master.wrapping, [tenantId, name, 'key'], key),
          seal(key, [tenantId, name], Buffer.from(secret)),
        ],
      )
      const kept = await find(tenantId, name)
      if (kept === undefined) throw new Error(`the secret ${name} was destroyed while it was being kept`)
      return kept
    },
    open: find,
    async destroy(tenantId, name) {
      await db.query('delete from vault.secrets where tenant_id = $1 and name = $2', [tenantId, name])
    },
  }
}
