/** Guarantee: on a network that drops packets, queries fail in time, and later ones succeed once it works again. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withOwnConnection } from '../../projections/database/connection.ts'
import { isDatabaseFailure } from '../../projections/database/errors.ts'
import { createPool } from '../../projections/database/pool.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { startTcpProxy, type TcpProxy } from '../harness/tcp-proxy.ts'

let database: TestDatabase
let proxy: TcpProxy
let db: pg.Pool
beforeAll(async () => {
  database = await createTestDatabase()
  const { host, port, user = '', password = '' } = new pg.Client({ connectionString: database.url })
  proxy = await startTcpProxy(host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : port)
  const url = `postgresql://${user}:${password}@127.0.0.1:${proxy.port}/${database.name}`
  db = createPool(url, { size: 2, answerTimeoutMs: 300 })
})
afterAll(async () => {
  await db.end()
  await proxy.close()
  await database.drop()
})

const ask = () => db.query<{ one: number }>('select 1 as one')

test.each(['deaf', 'mute'] as const)(
  'on a network that is %s waiting queries fail, and later ones succeed',
  async (mode) => {
    await Promise.all([ask(), ask()])
    proxy.mode = mode
    const lost = await Promise.allSettled([ask(), ask()])
    proxy.mode = 'pass'
    const reasons = lost.map((one) => (one.status === 'rejected' ? isDatabaseFailure(one.reason) : one.value))
    expect(reasons).toStrictEqual([true, true])
    const answers = await Promise.all([ask(), ask(), ask()])
    expect(answers.map(({ rows }) => rows)).toStrictEqual([[{ one: 1 }], [{ one: 1 }], [{ one: 1 }]])
  },
)

test('long work on a dedicated connection has no timeout', async () => {
  const slept = await withOwnConnection(db, async (client) => {
    const { rows } = await client.query<{ slept: boolean }>('select pg_sleep(0.6) is not null as slept')
    return rows
  })
  expect(slept).toStrictEqual([{ slept: true }])
})
