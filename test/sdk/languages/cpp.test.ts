/**
 * Guarantee: the C++ client judges every published vector as the JavaScript client does, and every signature of Wycheproof as it is
 * meant, with no fault that its sanitizers see. Its calls have not been run against a server.
 */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { installPackages } from '../../harness/debian.ts'
import { temporaryDirectory } from '../../harness/ledger.ts'

const root = join(import.meta.dirname, '../../..')
const vectors = join(root, 'docs/reference/vectors')
const run = promisify(execFile)
const built = temporaryDirectory()
afterAll(() => rmSync(built, { recursive: true, force: true }))

const packages = ['g++', 'cmake', 'pkg-config', 'libsodium-dev', 'libcurl4-openssl-dev']
const hasTools = async (): Promise<boolean> => {
  try {
    await run('pkg-config', ['--exists', 'libsodium', 'libcurl'])
    await run('cmake', ['--version'])
    await run('g++', ['--version'])
    return true
  } catch {
    return false
  }
}

let canBuild = false
beforeAll(async () => {
  canBuild = (await hasTools()) || (installPackages(...packages) && (await hasTools()))
  if (!canBuild) return
  const flags = '-Wall -Wextra -Werror -O1 -fsanitize=address,undefined -fno-sanitize-recover=all'
  const options = ['-DKEYLEDGER_TESTS=ON', `-DCMAKE_CXX_FLAGS=${flags}`]
  await run('cmake', ['-S', join(root, 'src/sdk/cpp'), '-B', built, ...options])
  await run('cmake', ['--build', built, '-j2'])
})

test('every vector but those of webhooks, and those of Wycheproof', async (context) => {
  if (!canBuild) context.skip(`The C++ client is tested with ${packages.join(', ')}: install them`)
  const Cases = z.object({ cases: z.array(z.unknown()), readings: z.array(z.unknown()).default([]) })
  const published = readdirSync(vectors)
    .filter((name) => name.endsWith('.json') && name !== 'webhooks.json')
    .map((name) => Cases.parse(JSON.parse(readFileSync(join(vectors, name), 'utf8'))))
    .reduce((sum, { cases, readings }) => sum + cases.length + readings.length, 0)
  const files = [vectors, join(root, 'test/sdk/wycheproof-ed25519.json')]
  const { stdout } = await run(join(built, 'vectors'), files)
  const [, count, failed] = /^(\d+) cases, (\d+) failed\n$/.exec(stdout) ?? []
  expect({ failed, all: Number(count) > published }).toStrictEqual({ failed: '0', all: true })
})
