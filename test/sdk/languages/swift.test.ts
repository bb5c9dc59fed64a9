/**
 * Guarantee: the client in Swift passes all vectors, grants nothing for arbitrary bytes, and passes through the same states as the client in
 * JavaScript when both are run through the same steps against a real server. Everywhere, also without a Swift toolchain: its package names
 * the folders that there are, it has the version of the client in JavaScript, the problems of all clients and no others, its tests read each
 * file of vectors, and whatever it shows to apps is documented.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { z } from 'zod'
import { openSwift, type SwiftPackage } from '../../harness/swift.ts'
import { testStories } from './matrix.ts'
import { countVectors, vectors } from './published.ts'
import { closeStage, openStage, type Stage } from './stage.ts'

const root = join(import.meta.dirname, '../../..')
const folder = join(root, 'src/sdk/swift')
const read = (path: string) => readFileSync(join(folder, path), 'utf8')
const sources = (path: string) =>
  readdirSync(join(folder, path), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.swift'),
  )
const client = 'Sources/KeyledgerClient'

let opened: SwiftPackage | string
let stage: Stage
beforeAll(async () => {
  opened = await openSwift(folder, { KEYLEDGER_VECTORS: vectors })
  if (typeof opened === 'string') return
  await opened.swift('build', '--build-tests')
  stage = await openStage()
})
afterAll(async () => {
  if (typeof opened === 'string') return
  opened.remove()
  await closeStage(stage)
})

/** Skips the test where the package cannot be built. */
function swift(context: TestContext): SwiftPackage {
  if (typeof opened === 'string')
    context.skip(`The client in Swift is tested where a Swift toolchain is installed: ${opened}`)
  return opened as SwiftPackage
}

describe('the client in Swift', () => {
  test('passes every vector but those of webhooks, and those of Wycheproof', async (context) => {
    const told = await swift(context).swift('test', '--filter', 'VectorsTests')
    expect(told).toContain(`${countVectors()} passed, 0 failed\n`)
  })

  test('passes its own tests, and reads arbitrary bytes without a failure', async (context) => {
    expect(await swift(context).swift('test')).toMatch(/^[1-9]\d* texts read, 0 failed$/m)
  })

  testStories(
    'Swift',
    () => stage,
    (context) => {
      const path = join(swift(context).programs, 'KeyledgerStory')
      return { language: 'swift', path, words: [], environment: { ...process.env, no_proxy: '127.0.0.1' } }
    },
  )
})

describe('the sources of the client in Swift', () => {
  test('are in the folders that the package names', () => {
    const manifest = read('Package.swift')
    const [, product = ''] = /^let client = "(\w+)"$/m.exec(manifest) ?? []
    const targets = [...manifest.matchAll(/\w*(?:target|Target|Library)\(\s*name: (?:"(\w+)"|client)/g)]
    const named = targets.map(([, name = product]) => name)
    const found = ['Sources', 'Tests'].flatMap((path) => readdirSync(join(folder, path)))
    expect(named.sort()).toStrictEqual(found.sort())
  })

  test('have the version of the client in JavaScript', () => {
    const manifest = readFileSync(join(root, 'src/sdk/javascript/package.json'), 'utf8')
    const { version } = z.object({ version: z.string() }).parse(JSON.parse(manifest))
    expect(read(`${client}/LicenseClient.swift`)).toContain(`static let version = "${version}"`)
  })

  test('have the problems of all clients, and no others', () => {
    const [, codes = ''] =
      /enum Code: String[^{]*\{(.*?)\n {4}\}/s.exec(read(`${client}/Problem.swift`)) ?? []
    const named = [...codes.matchAll(/^ +case (\w+)(?: = "(\w+)")?$/gm)].map(
      ([, name, written]) => written ?? name,
    )
    const reference = readFileSync(join(root, 'docs/reference/client-behavior.md'), 'utf8')
    const [, errors = ''] = /^## Errors\n.*?no others\.\n(.*?)^## /ms.exec(reference) ?? []
    const all = [...errors.matchAll(/`(\w+)`/g)].map(([, code]) => code)
    expect(named).toStrictEqual(all)
    expect(all).toContain('seat_limit_reached')
  })

  test('read each file of vectors for apps', () => {
    const [, list = ''] =
      /static let files = \[(.*?)\]/s.exec(read('Tests/KeyledgerClientTests/Vectors.swift')) ?? []
    const named = [...list.matchAll(/"([\w-]+)"/g)].map(([, name]) => `${name}.json`)
    const published = readdirSync(vectors).filter(
      (name) => name.endsWith('.json') && name !== 'webhooks.json',
    )
    expect(named).toStrictEqual(published.sort())
  })

  test('have a comment on all that apps see, and names that are used once in a module', () => {
    const bare = sources(client).flatMap((name) => undocumented(name, read(join(client, name))))
    expect(bare).toStrictEqual([])
    for (const module of [client, 'Sources/KeyledgerStory', 'Tests/KeyledgerClientTests']) {
      const names = sources(module).map((name) => basename(name))
      expect(new Set(names).size).toBe(names.length)
    }
  })
})

/** The public lines of a file without a comment above them. */
function undocumented(name: string, text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  const isCommented = (at: number): boolean => {
    const above = lines[at - 1] ?? ''
    return above.startsWith('@') ? isCommented(at - 1) : above.startsWith('///')
  }
  return lines
    .filter((line, at) => line.startsWith('public ') && !isCommented(at))
    .map((line) => `${name}: ${line}`)
}
