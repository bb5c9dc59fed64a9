/**
 * Guarantee: an imported key of another format has one keyed hash in a tenant, whichever process makes the tenant's secret
 * first, and none that is the same in another tenant. Once the secret is known, hashing asks the database nothing.
 */
import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool } from '../../projections/database/pool.ts'
import { readKey, type TypedKey } from '../../src/credentials/license-key.ts'
import { createKeyHashing, keyHashSecret } from '../../src/vault/key-hashing.ts'
import { newMasterKey, parseMasterKey } from '../../src/vault/master-key.ts'
import { createSecrets } from '../../src/vault/secrets.ts'
import { createTenantKeys } from '../../src/vault/tenant-keys.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'

const masterKey = parseMasterKey(newMasterKey())
let database: TestDatabase
let db: Pool
beforeAll(async () => {
  database = await createTestDatabase()
  await migrate(database.url)
  db = createPool(database.url)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

/** What a process has of its own. */
const processOf = () =>
  createKeyHashing(createTenantKeys(createSecrets(db, masterKey), keyHashSecret, randomBytes))

function keyOf(typed: string): TypedKey {
  const key = readKey(typed)
  if (!key) throw new Error(`${typed} is no key`)
  return key
}
const short = keyOf('471120')
const own = keyOf('ACME-00000-00000-00000-00000-00000-0')

test('processes that hash the first key of a tenant at once use one secret', async () => {
  const hashes = await Promise.all(
    Array.from({ length: 16 }, async () => (await processOf().hashesOf('raced', short)).keyedHash),
  )
  expect(new Set(hashes).size).toBe(1)
  expect(hashes[0]).toMatch(/^hmac:[0-9a-f]{64}$/)
  const { rows } = await db.query<{ count: number }>(
    "select count(*)::int as count from vault.secrets where tenant_id = 'raced'",
  )
  expect(rows[0]?.count).toBe(1)
})

test('a secret that a process made before it died is the one that the next process uses', async () => {
  const first = await processOf().openStored('died')
  const next = await processOf().openStored('died')
  expect(next(short)).toBe(first(short))
})

test('two tenants have different hashes of a key', async () => {
  const [one, other] = await Promise.all(['one', 'other'].map((tenant) => processOf().openStored(tenant)))
  expect(one?.(short)).not.toBe(other?.(short))
})

test('a key of our own format is hashed as ever, and makes no secret', async () => {
  const hashing = processOf()
  expect(hashing.hashesNow(undefined, own)).toStrictEqual({ keyHash: own.keyHash, keyedHash: null })
  expect(await hashing.hashesOf('none', own)).toStrictEqual({ keyHash: own.keyHash, keyedHash: null })
  const { rows } = await db.query("select from vault.secrets where tenant_id = 'none'")
  expect(rows).toStrictEqual([])
})

test('once the secret is known, hashing asks the database nothing', async () => {
  const hashing = processOf()
  expect(hashing.hashesNow('warm', short)).toBeUndefined()
  const read = await hashing.hashesOf('warm', short)
  const query = vi.spyOn(db, 'query')
  expect(hashing.hashesNow('warm', short)).toStrictEqual(read)
  expect(await hashing.hashesOf('warm', short)).toStrictEqual(read)
  expect(query).not.toHaveBeenCalled()
  query.mockRestore()
})

test('after a failed read of the secret the next one succeeds', async () => {
  const hashing = processOf()
  const query = vi.spyOn(db, 'query').mockRejectedValueOnce(new Error('gone'))
  await expect(hashing.hashesOf('failing', short)).rejects.toThrow('gone')
  query.mockRestore()
  expect((await hashing.hashesOf('failing', short)).keyedHash).toMatch(/^hmac:/)
})

test('a key is recognized by either hash that a license may have of it, and no other key is', async () => {
  const hashing = processOf()
  const { keyHash, keyedHash } = await hashing.hashesOf('either', short)
  for (const stored of [keyHash, keyedHash ?? '']) {
    expect(await hashing.isOf('either', '47-1120', stored)).toBe(true)
    expect(await hashing.isOf('either', '471121', stored)).toBe(false)
  }
})
