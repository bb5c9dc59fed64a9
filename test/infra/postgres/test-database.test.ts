/** Every test may have its own database, and other connections do not prevent dropping it. */
import pg from 'pg'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../../harness/database.ts'

test('a test database is empty, separate, and gone after it is dropped', async () => {
  const first = await createTestDatabase()
  const second = await createTestDatabase()
  const pool = new pg.Pool({ connectionString: first.url })
  pool.on('error', () => undefined)
  await pool.query('create table mark (id int)')
  const other = new pg.Client({ connectionString: second.url })
  await other.connect()
  const tables = await other.query("select * from pg_tables where schemaname = 'public'")
  expect(tables.rows).toStrictEqual([])
  await first.drop()
  const left = await other.query('select 1 from pg_database where datname = $1', [
    first.url.match(/\w+(?=\?)/)?.[0],
  ])
  expect(left.rows).toStrictEqual([])
  await other.end()
  await pool.end()
  await second.drop()
})
