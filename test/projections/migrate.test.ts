/** Guarantee: each migration is applied once, and a database of an earlier version gets those that it lacks. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Connection } from '../../projections/database/connection.ts'
import { appliedMigrations, knownMigrations, migrate } from '../../projections/database/migrate.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const known = knownMigrations()

async function applied(): Promise<string[]> {
  const client = new Connection(database.url)
  await client.connect()
  try {
    return await appliedMigrations(client)
  } finally {
    await client.end()
  }
}

test('an empty database gets the first migrations, then the others, then none', async () => {
  expect(await migrate(database.url, 3)).toStrictEqual(known.slice(0, 3))
  expect(await applied()).toStrictEqual(known.slice(0, 3))
  expect(await migrate(database.url)).toStrictEqual(known.slice(3))
  expect(await migrate(database.url)).toStrictEqual([])
  expect(await applied()).toStrictEqual(known)
})

test('processes that start at the same time apply each migration once', async () => {
  const other = await createTestDatabase()
  try {
    const all = await Promise.all([migrate(other.url), migrate(other.url), migrate(other.url)])
    expect(all.flat().toSorted()).toStrictEqual(known)
  } finally {
    await other.drop()
  }
})

test('a database that does not exist is named by the error', async () => {
  await expect(migrate(database.url.replace(/keyledger_test_\w+/, 'keyledger_test_absent'))).rejects.toThrow(
    /"keyledger_test_absent" does not exist/,
  )
})
