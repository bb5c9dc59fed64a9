/**
 * One call starts a durable Postgres on any directory. Its cluster is created once and found again, a server is
 * adopted when its starter was killed, and no acknowledged row is lost when the server is killed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { type LocalPostgres, startPostgres } from '../../../infra/local/postgres/postgres.ts'
import { isAlive } from '../../../infra/local/postgres/process-table.ts'
import { temporaryDirectory } from '../temporary.ts'
import { holdPostgres } from './hold-postgres.ts'

const linux = process.platform === 'linux'

async function start(directory: string): Promise<LocalPostgres> {
  const postgres = await startPostgres({ directory, durability: 'none' })
  onTestFinished(() => postgres.stop())
  return postgres
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const pool = new pg.Pool({ connectionString: url })
  try {
    return (await pool.query<Record<string, unknown>>(sql)).rows
  } finally {
    await pool.end()
  }
}

test('the first start creates the database, and a later one finds its rows', async () => {
  const directory = join(temporaryDirectory(), 'with spaces, "quotes" and é')
  const first = await startPostgres({ directory })
  onTestFinished(() => first.stop())
  expect(first.adopted).toBe(false)
  const settings = `select current_database() as database, current_setting('server_encoding') as encoding,
    current_setting('listen_addresses') as addresses, current_setting('fsync') as fsync,
    current_setting('synchronous_commit') as synchronous_commit, current_setting('timezone') as timezone,
    pg_size_bytes(current_setting('shared_buffers')) / 1048576 between 128 and 2048 as buffers_fit`
  expect(await query(first.url, settings)).toStrictEqual([
    {
      database: 'keyledger',
      encoding: 'UTF8',
      addresses: '',
      fsync: 'on',
      synchronous_commit: 'on',
      timezone: 'UTC',
      buffers_fit: true,
    },
  ])
  await query(first.url, 'create schema own; create table own.kept as select 7 as id')
  await first.stop()
  expect(isAlive(first.pid)).toBe(false)
  expect(readdirSync(directory).toSorted()).toStrictEqual(['data', 'passwords.json', 'postgres.log'])

  const second = await start(directory)
  expect(second.url).toBe(first.url)
  expect(await query(second.url, 'select id from own.kept')).toStrictEqual([{ id: 7 }])
})

test('a path that is too long for a socket works, and its socket is gone after the stop', async () => {
  const directory = join(temporaryDirectory(), 'long'.repeat(20), 'longer'.repeat(20))
  const postgres = await start(directory)
  const socketDirectory = new URL(postgres.url.replace('@/', '@localhost/')).searchParams.get('host') ?? ''
  expect(dirname(socketDirectory)).toBe('/tmp')
  expect(await query(postgres.url, 'select 1 as one')).toStrictEqual([{ one: 1 }])
  await postgres.stop()
  expect(existsSync(socketDirectory)).toBe(false)
})

test('a server whose starter was killed is adopted, and racing calls end with the same one', async () => {
  const directory = join(temporaryDirectory(), 'postgres')
  const [first, second] = await Promise.all([holdPostgres(directory), holdPostgres(directory)])
  const answers = [first.answer, second.answer]
  const pids = new Set(answers.map((answer) => ('pid' in answer ? answer.pid : answer.error)))
  expect(pids.size).toBe(1)
  for (const holder of [first, second]) {
    holder.process.kill('SIGKILL')
    await once(holder.process, 'exit')
  }
  const adopter = await start(directory)
  expect({ adopted: adopter.adopted, pids: new Set([adopter.pid]) }).toStrictEqual({ adopted: true, pids })
  expect(await query(adopter.url, 'select 1 as one')).toStrictEqual([{ one: 1 }])
  await adopter.stop()
  expect(isAlive(adopter.pid)).toBe(false)
})

test('a killed server starts again, and no acknowledged row is missing', async () => {
  const directory = join(temporaryDirectory(), 'postgres')
  const first = await startPostgres({ directory })
  const pool = new pg.Pool({ connectionString: first.url, max: 4 })
  pool.on('error', () => undefined)
  await pool.query('create schema own; create table own.entry (id int primary key)')
  let next = 0
  const acknowledged: number[] = []
  const write = async () => {
    for (;;) {
      const id = next++
      await pool.query('insert into own.entry values ($1)', [id])
      acknowledged.push(id)
      if (acknowledged.length === 200) process.kill(first.pid, 'SIGKILL')
    }
  }
  await Promise.allSettled([write(), write(), write(), write()])
  await pool.end()

  const second = await start(directory)
  const rows = await query(second.url, 'select array_agg(id) as ids from own.entry')
  const [{ ids }] = rows as [{ ids: number[] }]
  const found = new Set(ids)
  expect(acknowledged.filter((id) => !found.has(id))).toStrictEqual([])
  await second.stop()
  if (linux) expect(sharedMemoryMadeBy([first.pid, second.pid])).toStrictEqual([])
})

function sharedMemoryMadeBy(pids: number[]): string[] {
  const segments = readFileSync('/proc/sysvipc/shm', 'utf8').trim().split('\n').slice(1)
  return segments.filter((line) => pids.includes(Number(line.trim().split(/\s+/)[4])))
}

test.runIf(linux)('a pid in postmaster.pid that now belongs to another program is not a server', async () => {
  const directory = join(temporaryDirectory(), 'postgres')
  const first = await start(directory)
  const pidFile = join(directory, 'data', 'postmaster.pid')
  const lines = readFileSync(pidFile, 'utf8').split('\n')
  await first.stop()
  writeFileSync(pidFile, [process.ppid, ...lines.slice(1)].join('\n'))
  const second = await start(directory)
  expect(second.adopted).toBe(false)
  expect(await query(second.url, 'select 1 as one')).toStrictEqual([{ one: 1 }])
})

test('a dying server is not adopted', async () => {
  const directory = join(temporaryDirectory(), 'postgres')
  const data = join(directory, 'data')
  const first = await start(directory)
  const pidFile = readFileSync(join(data, 'postmaster.pid'), 'utf8')
  await first.stop()
  // A dying server leaves for a moment a process in its directory, and a file that says that it is ready.
  const dying = spawn('sleep', ['60'], { cwd: data, stdio: 'ignore' })
  writeFileSync(join(data, 'postmaster.pid'), pidFile.replace(String(first.pid), String(dying.pid)))
  const gone = setTimeout(300).then(() => dying.kill('SIGKILL'))

  const second = await start(directory)
  await gone
  expect({ adopted: second.adopted, isIt: second.pid === dying.pid }).toStrictEqual({
    adopted: false,
    isIt: false,
  })
  expect(await query(second.url, 'select 1 as one')).toStrictEqual([{ one: 1 }])
})

test('a cluster that a killed process left incomplete is created again', async () => {
  const directory = join(temporaryDirectory(), 'postgres')
  const unfinished = join(directory, 'data.making-4194305')
  mkdirSync(join(unfinished, 'global'), { recursive: true })
  writeFileSync(join(unfinished, 'PG_VERSION'), '18\n')
  mkdirSync(join(directory, 'data'))
  const postgres = await start(directory)
  expect(await query(postgres.url, 'select 1 as one')).toStrictEqual([{ one: 1 }])
  expect(existsSync(unfinished)).toBe(false)
})
