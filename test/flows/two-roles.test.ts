// Guarantee: on an external Postgres, migrations can run under a separate role, and the application's role then
// needs no right to change the durable schemas.
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { startPostgres } from '../../infra/local/postgres/postgres.ts'
import { createHost } from '../harness/process.ts'

const host = createHost()

test('the application works without the role that owns the schemas and runs migrations', async () => {
  const stores = await host.stores()
  // It has the two roles from the documentation.
  const postgres = await startPostgres({ directory: host.path('postgres'), durability: 'none' })
  const client = new pg.Client(postgres.url)
  try {
    const environment = {
      ...stores.environment,
      KEYLEDGER_DATABASE_URL: postgres.url,
      KEYLEDGER_MIGRATION_DATABASE_URL: postgres.migrationUrl,
    }
    const { KEYLEDGER_MIGRATION_DATABASE_URL: __, ...alone } = environment
    const early = await host.run(['tenant', 'create', 'early'], alone)
    expect(early.code).toBe(3)
    expect(early.stderr).toMatch(/^.*Run keyledger migrate with KEYLEDGER_MIGRATION_DATABASE_URL first\.\n$/)
    expect((await host.run(['migrate'], environment)).code).toBe(0)
    // After the migration, the application works without the owner role.
    await host.json(z.object({ tenantId: z.string() }), ['init', '--tenant', 'acme'], alone)
    const { code } = await host.run(['projections', 'verify'], environment)
    expect(code).toBe(0)
    await client.connect()
    const owners = `select nspname as name, pg_get_userbyid(nspowner) as owner from pg_namespace
      where nspname in ('vault', 'usage', 'limits', 'read_models') order by name`
    expect((await client.query(owners)).rows).toStrictEqual([
      { name: 'limits', owner: 'keyledger_schema' },
      { name: 'read_models', owner: 'keyledger_app' },
      { name: 'usage', owner: 'keyledger_schema' },
      { name: 'vault', owner: 'keyledger_schema' },
    ])

    const { KEYLEDGER_DATABASE_URL: _, ...lacking } = environment
    const refused = await host.run(['migrate'], lacking)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('KEYLEDGER_MIGRATION_DATABASE_URL: needs KEYLEDGER_DATABASE_URL')
    expect(refused.stderr).not.toContain(postgres.migrationUrl)
  } finally {
    await client.end()
    await postgres.stop()
  }
})
