import type { Pool } from 'pg'
import type { MasterKey } from './master-key.ts'
import { newWrappedKey, open, seal, unwrapKey } from './seal.ts'

/**
 * Secrets that are shown or used again later, each sealed under its own key; a destroyed secret cannot be
 * recovered.
 */
export type Secrets = {
  /**
   * Stores a secret before the event that refers to its name is appended. If the name exists, its secret is
   * kept, so that a command repeated after a crash continues with the same one.
   * @returns the stored secret
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
    // Another process stored one after this statement began; the next statement sees it.
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
