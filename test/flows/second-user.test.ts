// Guarantee: another user of the machine can read nothing of a running default installation: neither the log, nor
// the tables, nor the key. The installation itself works with few rights.
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { findLocalPostgres } from '../../infra/local/postgres/postgres.ts'
import { createHost, type Server } from '../harness/process.ts'
import { listeningPorts } from '../infra/listening-ports.ts'
import { canRunAsNobody } from '../infra/postgres/other-user.ts'
import { eventStoreOf, postmasterOf } from './embedded.ts'

const host = createHost()
const environment = { KEYLEDGER_DATA_DIR: host.path('data') }
const { KEYLEDGER_DATA_DIR: dataDirectory } = environment
const intruder = fileURLToPath(new URL('intruder.ts', import.meta.url))
const Outcomes = z.record(z.string(), z.string())

/** An id that belongs to no user and no group of the machine. */
const stranger = { uid: 12_345, gid: 12_345 }

let server: Server
let pids: number[]
beforeAll(async () => {
  // Only the data directory itself may deny access.
  chmodSync(host.directory, 0o755)
  server = await host.serve(environment)
  pids = [server.child.pid ?? 0, eventStoreOf(environment)?.pid ?? 0, postmasterOf(environment)]
})

function intrude(identity: { uid?: number; gid?: number }): Record<string, string> {
  const output = execFileSync(process.execPath, [intruder, dataDirectory, pids.join()], {
    ...identity,
    cwd: '/',
    env: { PATH: process.env.PATH },
    encoding: 'utf8',
  })
  return Outcomes.parse(JSON.parse(output))
}

// Only root can run a test as another user; otherwise it is skipped.
test.runIf(canRunAsNobody)('another user gets EACCES for every attempt', () => {
  const outcomes = intrude(stranger)
  expect(Object.keys(outcomes)).toHaveLength(23)
  expect(new Set(Object.values(outcomes))).toStrictEqual(new Set(['EACCES']))
})

test.runIf(canRunAsNobody)(
  'the same attempts succeed with sufficient rights, except for the superuser and missing passwords',
  () => {
    // Not even root can connect as the superuser, or without the password.
    const refused = Object.entries(intrude({})).filter(([, outcome]) => outcome !== 'got in')
    expect(Object.fromEntries(refused)).toStrictEqual({
      'Postgres as keyledger': '28000',
      'Postgres as keyledger_app': '28P01',
      'Postgres as keyledger_schema': '28P01',
      'Postgres as postgres': '28000',
    })
  },
)

test.runIf(process.platform === 'linux')('only the application listens on a port', () => {
  const [application = 0, ...stores] = pids
  expect(stores.flatMap(listeningPorts)).toStrictEqual([])
  expect(new Set(listeningPorts(application))).toStrictEqual(new Set([Number(new URL(server.address).port)]))
})

test.runIf(process.platform === 'linux')('no command line contains a password or the key', () => {
  const { app, schema } = z
    .object({ app: z.string(), schema: z.string() })
    .parse(JSON.parse(readFileSync(join(dataDirectory, 'postgres/passwords.json'), 'utf8')))
  const key = readFileSync(join(dataDirectory, 'master.key'), 'utf8').trim()
  for (const pid of pids) {
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    for (const secret of [app, schema, key]) expect(commandLine).not.toContain(secret)
  }
})

describe('with limited rights', () => {
  test('SQL of the application cannot read files or drop durable tables', async () => {
    const client = new pg.Client({
      connectionString: findLocalPostgres(join(dataDirectory, 'postgres'))?.url,
    })
    await client.connect()
    const codeOf = (sql: string) =>
      client.query(sql).then(
        () => 'allowed',
        (error: { code?: string }) => error.code,
      )
    expect(await codeOf(`select pg_read_file('${dataDirectory}/master.key')`)).toBe('42501')
    expect(await codeOf('drop table vault.subject_keys')).toBe('42501')
    expect(await codeOf('select count(*) from vault.subject_keys')).toBe('allowed')
    await client.end()
  })

  test('the application can migrate, rebuild and verify', async () => {
    for (const command of [['migrate'], ['projections', 'rebuild'], ['projections', 'verify'], ['doctor']]) {
      const { code, stdout, stderr } = await host.run(command, environment)
      expect({ command, code, stdout, stderr }).toMatchObject({ command, code: 0, stderr: '' })
    }
  })
})

test('doctor restricts an open key file, and fails for a directory that it must not change', async () => {
  const key = join(dataDirectory, 'master.key')
  chmodSync(key, 0o644)
  const closed = await host.run(['doctor'], environment)
  expect(closed).toMatchObject({ code: 0, stderr: '' })
  expect(closed.stdout).toContain(
    `  ${key} was accessible to other users; keyledger has removed their access\n`,
  )
  expect(statSync(key).mode & 0o777).toBe(0o600)

  chmodSync(host.directory, 0o777)
  const open = await host.run(['doctor'], environment)
  chmodSync(host.directory, 0o755)
  expect(open.code).toBe(3)
  expect(open.stdout).toMatch(/^data_directory +FAILS +accessible to other users of this machine$/m)
  expect(open.stdout).toContain(
    `  Other users can replace what is in ${host.directory}: run chmod go-w ${host.directory}\n`,
  )
})
