/** Guarantee: the statements of one tick go to Postgres in one message, and succeed or fail together. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { batchStatements } from '../../projections/database/statement-batch.ts'
import type { Statement, Statements } from '../../projections/statements.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'

let database: TestDatabase
let client: pg.Client
let db: Statements
beforeAll(async () => {
  database = await createTestDatabase()
  client = new pg.Client({ connectionString: database.url, pipeline: true })
  await client.connect()
})
beforeEach(async () => {
  await client.query('drop table if exists kept; create table kept (name text primary key)')
  db = batchStatements(client)
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

/** Statements of one message run in one transaction, so they return the same transaction id. */
const transaction = async (name: string) => {
  const text = `select $1 as name, pg_current_xact_id()::text as id`
  const { rows } = await db.query<{ name: string; id: string }>({ name, text, values: [name] })
  return rows[0]
}
const keep = (name: string | null): Statement => ({
  name: `keep-${name}`,
  text: 'insert into kept values ($1) returning name',
  values: [name],
})
const codeOf = (settled: PromiseSettledResult<unknown>) =>
  settled.status === 'rejected' && settled.reason instanceof pg.DatabaseError ? settled.reason.code : settled
const kept = async () => {
  const { rows } = await client.query<{ name: string }>('select name from kept order by name')
  return rows.map(({ name }) => name)
}

test('each statement gets its own rows, in one message', async () => {
  for (const _ of ['prepared', 'known']) {
    const answers = await Promise.all(['a', 'b', 'c'].map(transaction))
    expect(answers.map((answer) => answer?.name)).toStrictEqual(['a', 'b', 'c'])
    expect(new Set(answers.map((answer) => answer?.id)).size).toBe(1)
  }
})

test('statements that follow the results of one batch are batched again', async () => {
  const chain = async (name: string) => [await transaction(name), await transaction(`${name}-again`)]
  const [one, other] = await Promise.all([chain('one'), chain('other')])
  expect(one?.map((answer) => answer?.id)).toStrictEqual(other?.map((answer) => answer?.id))
  expect(one?.[0]?.id).not.toBe(one?.[1]?.id)
})

test('a batch can mix statements with and without rows and values', async () => {
  const [none, written, counted] = await Promise.all([
    db.query({ name: 'nothing', text: 'select from kept' }),
    db.query(keep('ada')),
    db.query<{ count: number }>({ name: 'count', text: 'select count(*)::int as count from kept' }),
  ])
  expect([none.rows, written.rows, written.rowCount]).toStrictEqual([[], [{ name: 'ada' }], 1])
  expect(counted.rows).toStrictEqual([{ count: 1 }])
})

test('a batch with a failing statement has no effect and can be repeated', async () => {
  const statements = [keep('before'), keep(null), keep('behind')]
  for (const _ of ['once', 'again']) {
    const settled = await Promise.allSettled(statements.map((statement) => db.query(statement)))
    expect(settled.map(codeOf)).toStrictEqual(['23502', '23502', '23502'])
    expect(await kept()).toStrictEqual([])
  }
  await Promise.all([keep('before'), keep('behind')].map((statement) => db.query(statement)))
  expect(await kept()).toStrictEqual(['before', 'behind'])
})

test('all waiting statements fail when the connection ends', async () => {
  const own = new pg.Client({ connectionString: database.url, pipeline: true })
  own.on('error', () => undefined)
  await own.connect()
  const lost = batchStatements(own)
  const queries = ['one', 'two'].map((name) => lost.query({ name, text: 'select pg_sleep(60)' }))
  const ended = Promise.allSettled(queries)
  const { rows } = await client.query<{ ended: boolean }>(
    `select pg_terminate_backend(pid) as ended from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  )
  expect(rows).toStrictEqual([{ ended: true }])
  expect((await ended).map(({ status }) => status)).toStrictEqual(['rejected', 'rejected'])
})
