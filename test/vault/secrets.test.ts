/**
 * A secret is returned unchanged, only to its tenant. The first one under a name is kept, and a destroyed one
 * is gone.
 */
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool } from '../../projections/database/pool.ts'
import { newMasterKey, parseMasterKey } from '../../src/vault/master-key.ts'
import { createSecrets, type Secrets } from '../../src/vault/secrets.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'

let database: TestDatabase
let db: Pool
let secrets: Secrets
beforeAll(async () => {
  database = await createTestDatabase()
  await migrate(database.url)
  db = createPool(database.url)
  secrets = createSecrets(db, parseMasterKey(newMasterKey()))
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

test('a secret is returned unchanged', async () => {
  expect(await secrets.keep('acme', 'webhook', 'whsec_canary')).toBe('whsec_canary')
  expect(await secrets.open('acme', 'webhook')).toBe('whsec_canary')
})

test('the first secret under a name is kept, also under concurrency', async () => {
  const kept = await Promise.all(
    Array.from({ length: 20 }, (_, racer) => secrets.keep('acme', 'raced', `secret ${racer}`)),
  )
  expect(new Set(kept).size).toBe(1)
  expect(await secrets.keep('acme', 'raced', 'late')).toBe(kept[0])
})

test('another tenant has none under the same name', async () => {
  await secrets.keep('acme', 'own', 'of acme')
  expect(await secrets.open('umbrella', 'own')).toBeUndefined()
})

test('a row moved to another tenant or name does not open', async () => {
  await secrets.keep('acme', 'moved', 'of acme')
  await db.query("update vault.secrets set tenant_id = 'thief' where name = 'moved'")
  await expect(secrets.open('thief', 'moved')).rejects.toThrow()
})

test('a destroyed secret is gone, and its table holds none in the clear', async () => {
  await secrets.keep('acme', 'gone', 'canary-of-a-secret')
  const { rows } = await db.query<{ text: string }>(
    "select encode(sealed, 'escape') as text from vault.secrets",
  )
  expect(rows.map(({ text }) => text).join()).not.toContain('canary')
  await secrets.destroy('acme', 'gone')
  expect(await secrets.open('acme', 'gone')).toBeUndefined()
})
