/**
 * A data directory that other users can access is restricted where keyledger may do so, and reported elsewhere.
 */
import { chmodSync, chownSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDataDirectory } from '../../../infra/local/stack/data-directory.ts'
import { findExposures, restrictAccess } from '../../../infra/local/stack/exposure.ts'
import { isRoot, nobody } from '../postgres/other-user.ts'
import { temporaryDirectory } from '../temporary.ts'

const modeOf = (path: string) => lstatSync(path).mode & 0o7777
const pathsIn = (exposures: { path: string }[]) => exposures.map(({ path }) => path).toSorted()

/** A data directory that every user can read. */
function openDirectory(): string {
  const root = join(temporaryDirectory(), 'data')
  for (const folder of ['eventstore', 'run']) mkdirSync(join(root, folder), { recursive: true })
  for (const file of ['master.key', 'eventstore/events.sqlite', 'run/start.sqlite'])
    writeFileSync(join(root, file), '')
  symlinkSync('/etc/hostname', join(root, 'run', 'link'))
  for (const path of ['', 'eventstore', 'run']) chmodSync(join(root, path), 0o755)
  for (const path of ['master.key', 'eventstore/events.sqlite', 'run/start.sqlite'])
    chmodSync(join(root, path), 0o644)
  return root
}

const everything = [
  '',
  '/eventstore',
  '/eventstore/events.sqlite',
  '/master.key',
  '/run',
  '/run/start.sqlite',
]

test('all accessible paths are reported, restricted by a start, and then no longer reported', () => {
  const root = openDirectory()
  const open = everything.map((path) => `${root}${path}`)
  expect(pathsIn(findExposures(root))).toStrictEqual(open)
  expect(findExposures(root)[0]?.problem).toBe(
    `Other users can read and enter ${root}: run chmod go= ${root}`,
  )
  const told: string[] = []
  openDataDirectory(root, { holdsData: true, log: (message) => told.push(message) })
  expect(told).toHaveLength(open.length)
  expect(told).toContain(`Other users could read ${root}/master.key; keyledger has removed their access.`)
  expect(open.map((path) => modeOf(path) & 0o067)).toStrictEqual(open.map(() => 0))
  expect(findExposures(root)).toStrictEqual([])
  expect(restrictAccess(root)).toStrictEqual([])
})

test('files in a restricted directory are not reported, except an accessible master key', () => {
  const root = openDirectory()
  chmodSync(root, 0o700)
  expect(pathsIn(findExposures(root))).toStrictEqual([`${root}/master.key`])
})

test('a directory with other files is left unchanged', () => {
  const root = openDirectory()
  writeFileSync(join(root, 'letter.txt'), 'dear')
  expect(restrictAccess(root)).toStrictEqual([])
  expect(modeOf(root)).toBe(0o755)
})

test('a start refuses a directory that everyone can write to and it may not restrict, unless it holds only locks', () => {
  const root = temporaryDirectory()
  writeFileSync(join(root, 'letter.txt'), 'dear')
  chmodSync(root, 0o1777)
  const log = () => undefined
  expect(() => openDataDirectory(root, { holdsData: true, log })).toThrow(
    `The data directory ${root} cannot be used: every user of this machine can write to it`,
  )
  expect(openDataDirectory(root, { holdsData: false, log }).run).toBe(join(root, 'run'))
})

test('a parent in which others can replace the data directory is reported', () => {
  const parent = temporaryDirectory()
  const root = join(parent, 'data')
  mkdirSync(root, { mode: 0o700 })
  expect(findExposures(root)).toStrictEqual([])
  chmodSync(parent, 0o777)
  expect(findExposures(root)).toStrictEqual([
    { path: parent, problem: `Other users can replace what is in ${parent}: run chmod go-w ${parent}` },
  ])
  // As in /tmp, where only owners can rename and remove files.
  chmodSync(parent, 0o1777)
  expect(findExposures(root)).toStrictEqual([])
})

test.runIf(isRoot)('files of another user are reported', () => {
  const root = openDirectory()
  restrictAccess(root)
  chownSync(join(root, 'master.key'), nobody.uid, nobody.gid)
  expect(pathsIn(findExposures(root))).toStrictEqual([`${root}/master.key`])
})

test('a missing directory has no exposures', () => {
  expect(findExposures(join(temporaryDirectory(), 'not there'))).toStrictEqual([])
})
