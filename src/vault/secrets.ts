import type { Pool } from 'pg'
import type { MasterKey } from './master-key.ts'
import { open, seal } from './seal.ts'
import { newWrappedKey, unwrapKey } from './wrapped-key.ts'

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

type Row = { wrapped: Buffer; sealed: Buffer }

export function createSecrets(db: Pool, master: MasterKey): Secrets {
  const keyOf = (tenantId: string, name: string) => [tenantId, name, 'key']

  function openRow(tenantId: string, name: string, { wrapped, sealed }: Row): string {
    const key = unwrapKey(master.wrapping, keyOf(tenantId, name), wrapped)
    return open(key, [tenantId, name], sealed).toString()
  }

  async function keep(tenantId: string, name: string, secret: string): Promise<string> {
    const { key, wrapped } = newWrappedKey(master.wrapping, keyOf(tenantId, name))
    const { rows } = await db.query<Row>({
      name: 'vault-keep-secret',
      text: `with made as (
               insert into vault.secrets (tenant_id, name, wrapped, sealed) values ($1, $2, $3, $4)
               on conflict do nothing returning wrapped, sealed
             )
             select wrapped, sealed from made
             union all
             select wrapped, sealed from vault.secrets where tenant_id = $1 and name = $2
             limit 1`,
      values: [tenantId, name, wrapped, seal(key, [tenantId, name], Buffer.from(secret))],
    })
    const [row] = rows
    // Somebody else kept one after this statement began: it is there for the next one.
    return row ? openRow(tenantId, name, row) : keep(tenantId, name, secret)
  }

  return {
    keep,
    async open(tenantId, name) {
      const { rows } = await db.query<Row>({
        name: 'vault-secret',
        text: 'select wrapped, sealed from vault.secrets where tenant_id = $1 and name = $2',
        values: [tenantId, name],
      })
      return rows[0] && openRow(tenantId, name, rows[0])
    },
    async destroy(tenantId, name) {
      await db.query('delete from vault.secrets where tenant_id = $1 and name = $2', [tenantId, name])
    },
  }
}
