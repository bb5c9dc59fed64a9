/**
 * Connections to the embedded Postgres have the application's or the migrations' role, without rights outside
 * of its database.
 */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { type LocalPostgres, startPostgres } from '../../../infra/local/postgres/postgres.ts'
import { temporaryDirectory } from '../temporary.ts'
import { isRoot } from './other-user.ts'

async function start(directory: string): Promise<LocalPostgres> {
  const postgres = await startPostgres({ directory, durability: 'none' })
  onTestFinished(() => postgres.stop())
  return postgres
}

async function ask<Row>(config: pg.ClientConfig | string, sql: string): Promise<Row[]> {
  const client = new pg.Client(config)
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query(sql)).rows as Row[]
  } finally {
    await client.end()
  }
}

/** The SQLSTATE of a refusal, or `allowed`. */
const refusal = (config: pg.ClientConfig | string, sql: string): Promise<string> =>
  ask(config, sql).then(
    () => 'allowed',
    (error: { code?: string }) => String(error.code),
  )

const socketOf = ({ url }: LocalPostgres) =>
  new URL(url.replace('@/', '@localhost/')).searchParams.get('host') ?? ''

const notAllowed = '42501'
const noWayIn = '28000'
const wrongPassword = '28P01'

test('the roles have their schemas and nothing else', async () => {
  const directory = join(temporaryDirectory(), 'postgres')
  const { url, migrationUrl } = await start(directory)
  const secret = join(dirname(directory), 'master.key')
  writeFileSync(secret, 'a key', { mode: 0o600 })
  expect(statSync(join(directory, 'passwords.json')).mode & 0o777).toBe(0o600)

  await ask(
    migrationUrl,
    'create schema vault; create table vault.secrets (name text); create table marks (name text)',
  )
  await ask(url, "create schema read_models; create table read_models.licenses as select 'lic' as id")
  await ask(url, "insert into vault.secrets values ('one'); update vault.secrets set name = 'two'")
  expect(await ask(url, 'delete from vault.secrets returning name')).toStrictEqual([{ name: 'two' }])

  const forbidden = [
    'drop table vault.secrets',
    'truncate vault.secrets',
    'alter table vault.secrets add column more int',
    'create table vault.more (id int)',
    'create table public.more (id int)',
    `select pg_read_file('${secret}')`,
    `copy (select 1) to program 'cat ${secret}'`,
    `create table read_models.stolen (line text); copy read_models.stolen from '${secret}'`,
    `select lo_import('${secret}')`,
    'create role other',
    'create database other',
    'alter role keyledger_app superuser',
    'set role keyledger',
    'set role keyledger_schema',
    'select * from pg_authid',
    "alter system set log_statement = 'all'",
    'create extension file_fdw',
  ]
  for (const sql of forbidden) expect([sql, await refusal(url, sql)]).toStrictEqual([sql, notAllowed])
  for (const sql of [
    `select pg_read_file('${secret}')`,
    'select * from read_models.licenses',
    'create role other',
  ])
    expect([sql, await refusal(migrationUrl, sql)]).toStrictEqual([sql, notAllowed])
})

test('connections without a password, as the superuser, or to another database are refused', async () => {
  const postgres = await start(join(temporaryDirectory(), 'postgres'))
  const host = socketOf(postgres)
  const one = 'select 1'
  const as = (user: string, database = 'keyledger', password = 'guessed') =>
    refusal({ host, user, database, password }, one)
  expect(await as('keyledger_app')).toBe(wrongPassword)
  expect(await as('keyledger_schema')).toBe(wrongPassword)
  for (const user of ['keyledger', 'postgres', 'root']) expect(await as(user)).toBe(noWayIn)
  const { password } = new pg.Client(postgres.url)
  expect(await as('keyledger_app', 'postgres', String(password))).toBe(noWayIn)
  expect(await as('keyledger_schema', 'keyledger', String(password))).toBe(wrongPassword)
  expect(await as('keyledger_app', 'keyledger', String(password))).toBe('allowed')
})

test.runIf(isRoot)(
  'started by root, no process of Postgres has a capability, in an open home or a closed one',
  async () => {
    const closed = temporaryDirectory()
    expect(statSync(closed).mode & 0o777).toBe(0o700)
    const { pid, url } = await start(join(closed, 'postgres'))
    const client = new pg.Client(url)
    await client.connect()
    const statuses = processesOf(pid).map((each) => readFileSync(`/proc/${each}/status`, 'utf8'))
    expect(statuses.length).toBeGreaterThan(2)
    for (const status of statuses) {
      const sets = /CapInh:\t(\w+)\nCapPrm:\t(\w+)\nCapEff:\t(\w+)\nCapBnd:\t\w+\nCapAmb:\t(\w+)/
        .exec(status)
        ?.slice(1)
      expect(sets).toStrictEqual(['0'.repeat(16), '0'.repeat(16), '0'.repeat(16), '0'.repeat(16)])
      expect(status).not.toMatch(/^Uid:\t.*\b0\b/m)
    }
    await client.end()
  },
)

/** The server and its children, which serve its connections. */
function processesOf(postmaster: number): number[] {
  const children = readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/stat`, 'utf8').includes(`) S ${postmaster} `)
    } catch {
      return false
    }
  })
  return [postmaster, ...children.map(Number)]
}

/** Changes a cluster to that of earlier versions: one superuser, who owns everything and needs no password. */
async function makeOld(directory: string, postgres: LocalPostgres): Promise<pg.ClientConfig> {
  const superuser = { host: socketOf(postgres), user: 'keyledger', database: 'keyledger' }
  await letEverybodyIn(directory, postgres)
  await ask(
    superuser,
    `alter schema public owner to pg_database_owner;
     drop owned by keyledger_app, keyledger_schema; drop role keyledger_app, keyledger_schema;
     grant all on database keyledger to public;
     create schema vault; create table vault.secrets (id int generated always as identity, name text);
     insert into vault.secrets (name) values ('kept');
     create function vault.nothing() returns void language sql as 'select';
     create table public.keyledger_migrations (id serial primary key, name text);
     create schema read_models; create table read_models.licenses as select 'lic' as id;
     create type read_models.standing as enum ('good', 'bad')`,
  )
  rmSync(join(directory, 'passwords.json'))
  return superuser
}

async function letEverybodyIn(directory: string, postgres: LocalPostgres): Promise<void> {
  const superuser = { host: socketOf(postgres), user: 'keyledger', database: 'keyledger' }
  writeFileSync(join(directory, 'data', 'pg_hba.conf'), 'local all all trust\n')
  process.kill(postgres.pid, 'SIGHUP')
  while ((await refusal(superuser, 'select 1')) !== 'allowed') await sleep(20)
}

async function expectSecured(
  { url, migrationUrl }: LocalPostgres,
  superuser: pg.ClientConfig,
): Promise<void> {
  expect(await refusal(superuser, 'select 1')).toBe(noWayIn)
  const owned = `select n.nspname || '.' || c.relname as name, pg_get_userbyid(c.relowner) as owner
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'S') and n.nspname in ('vault', 'public', 'read_models') order by name`
  expect(await ask(migrationUrl, owned)).toStrictEqual([
    { name: 'public.keyledger_migrations', owner: 'keyledger_schema' },
    { name: 'public.keyledger_migrations_id_seq', owner: 'keyledger_schema' },
    { name: 'read_models.licenses', owner: 'keyledger_app' },
    { name: 'vault.secrets', owner: 'keyledger_schema' },
    { name: 'vault.secrets_id_seq', owner: 'keyledger_schema' },
  ])
  await ask(url, "insert into vault.secrets (name) values ('more'); select vault.nothing()")
  expect(await ask(url, 'select name from vault.secrets order by id limit 1')).toStrictEqual([
    { name: 'kept' },
  ])
  await ask(
    url,
    'alter schema read_models rename to former; drop schema former cascade; create schema read_models',
  )
  await ask(url, "create table read_models.licenses as select 'lic' as id")
  await ask(
    migrationUrl,
    'alter table vault.secrets add column if not exists at timestamptz; drop function vault.nothing; create function vault.nothing() returns void language sql as $$select$$',
  )
  expect(await refusal(url, 'drop table vault.secrets')).toBe(notAllowed)
}

test('a cluster of an earlier version gets the roles, also one that still runs or was killed on the way', async () => {
  const directory = join(temporaryDirectory(), 'postgres')
  const first = await start(directory)
  const superuser = await makeOld(directory, first)
  // It still runs, and is restarted rather than adopted.
  const second = await start(directory)
  expect(second.adopted).toBe(false)
  await expectSecured(second, superuser)

  // Killed after the roles were created and before the rules were written.
  await letEverybodyIn(directory, second)
  await second.stop()
  const third = await start(directory)
  await expectSecured(third, superuser)
  const formerUrl = third.url
  await third.stop()

  // Passwords that are lost, or do not match the cluster, are replaced.
  rmSync(join(directory, 'passwords.json'))
  const fourth = await start(directory)
  expect(fourth.url).not.toBe(formerUrl)
  await expectSecured(fourth, superuser)
  const fifth = await start(directory)
  expect({ adopted: fifth.adopted, url: fifth.url }).toStrictEqual({ adopted: true, url: fourth.url })
})
