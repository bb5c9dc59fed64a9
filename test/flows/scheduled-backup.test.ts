// Guarantee: a server with a backup directory makes backups by itself; each verifies, the oldest are removed, and
// an incomplete file of a killed backup never counts as a backup.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { backupLock } from '../../projections/database/advisory-locks.ts'
import { createHost, type Environment, type Running } from '../harness/process.ts'

const host = createHost()
const Verified = z.looseObject({
  events: z.int().min(1),
  masterKey: z.boolean(),
  differences: z.array(z.unknown()),
})

test('a server makes a backup per interval, removes the oldest, and retries after a killed one', async () => {
  const { environment: stores, databaseUrl } = await host.stores()
  expect(await host.run(['init', '--tenant', 'acme'], stores)).toMatchObject({ code: 0 })
  const directory = host.path('backups')
  const former = ['keyledger-2026-01-01T00-00-00Z.backup', 'keyledger-2026-01-02T00-00-00Z.backup']
  mkdirSync(directory)
  for (const name of former) writeFileSync(join(directory, name), '')
  const environment = {
    ...stores,
    KEYLEDGER_BACKUP_DIR: directory,
    KEYLEDGER_BACKUP_INTERVAL_HOURS: '1',
    KEYLEDGER_BACKUP_KEEP: '2',
  }
  const session = new pg.Client({ connectionString: databaseUrl })
  await session.connect()
  onTestFinished(() => session.end())

  const server = await host.serve(environment)
  await expect.poll(() => hasMadeOne(server)).toBe(true)
  await expect.poll(() => readdirSync(directory)).toHaveLength(2)
  await server.end('SIGTERM')
  const [, first = ''] = readdirSync(directory).toSorted()
  expect(readdirSync(directory).toSorted()).toStrictEqual([former[1], first])
  expect(await verify(join(directory, first), environment)).toMatchObject({
    masterKey: true,
    differences: [],
  })

  // An hour later, it is killed while it waits for a table.
  await session.query(`update operations.backups set started_at = started_at - interval '1 hour'`)
  await session.query('begin; lock table vault.secrets in access exclusive mode')
  const killed = await host.serve(environment)
  await expect.poll(() => partsIn(directory)).toHaveLength(1)
  const children = childrenOf(killed.child.pid)
  expect(children).toHaveLength(1)
  await killed.end('SIGKILL')
  await expect.poll(() => children.filter(isAlive)).toStrictEqual([])
  await session.query('rollback')
  const [half = ''] = partsIn(directory)
  expect(readdirSync(directory).toSorted()).toStrictEqual([half, former[1], first])
  expect(await host.run(['backup', 'verify', join(directory, half)], environment)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is damaged or incomplete') as string,
  })

  // Ten minutes later, the next process retries.
  await session.query(`update operations.backups set started_at = started_at - interval '10 minutes'`)
  await expect.poll(() => isHeld(session)).toBe(false)
  const next = await host.serve(environment)
  await expect.poll(() => hasMadeOne(next)).toBe(true)
  await expect.poll(() => readdirSync(directory)).toHaveLength(2)
  await next.end('SIGTERM')
  expect(readdirSync(directory).toSorted()[0]).toBe(first)
  expect(partsIn(directory)).toStrictEqual([])
})

const verify = (file: string, environment: Environment) =>
  host.json(Verified, ['backup', 'verify', file], environment)

const partsIn = (directory: string): string[] =>
  readdirSync(directory).filter((name) => name.endsWith('.partial'))

const hasMadeOne = ({ stderr }: Running): boolean => stderr().includes('"msg":"backup.made"')

function childrenOf(pid: number | undefined): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return table.split('\n').flatMap((line) => {
    const [child = 0, parent] = line.trim().split(/\s+/).map(Number)
    return parent === pid ? child : []
  })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Whether a process, possibly one that was just killed, holds the lock for backups. */
async function isHeld(session: pg.Client): Promise<boolean> {
  const { rows } = await session.query<{ held: boolean }>(
    `select exists (select from pg_locks where locktype = 'advisory' and objid = $1
       and database = (select oid from pg_database where datname = current_database())) as held`,
    [backupLock],
  )
  return rows[0]?.held ?? false
}
