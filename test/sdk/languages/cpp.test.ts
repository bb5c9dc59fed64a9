/** Guarantee: the C++ client judges every published vector as the JavaScript client does. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installPackages } from '../../harness/debian.ts'

const root = join(import.meta.dirname, '../../..')
const built = mkdtempSync(join(tmpdir(), 'keyledger-cpp-'))
afterAll(() => rmSync(built, { recursive: true, force: true }))

const packages = ['g++', 'cmake', 'pkg-config', 'libsodium-dev', 'libcurl4-openssl-dev']
const hasTools = (): boolean => {
  try {
    execFileSync('pkg-config', ['--exists', 'libsodium', 'libcurl'])
    execFileSync('cmake', ['--version'])
    execFileSync('g++', ['--version'])
    return true
  } catch {
    return false
  }
}
const isBuilt = hasTools() || (installPackages(...packages) && hasTools())

describe.skipIf(!isBuilt)('C++, where a compiler, libsodium and libcurl are there', () => {
  beforeAll(() => {
    const flags = '-Wall -Wextra -Werror -O1 -fsanitize=address,undefined -fno-sanitize-recover=all'
    const options = ['-DKEYLEDGER_TESTS=ON', `-DCMAKE_CXX_FLAGS=${flags}`]
    execFileSync('cmake', ['-S', join(root, 'src/sdk/cpp'), '-B', built, ...options], { stdio: 'pipe' })
    execFileSync('cmake', ['--build', built, '-j2'], { stdio: 'pipe' })
  }, 900_000)

  test('the vectors', () => {
    const files = [join(root, 'docs/reference/vectors'), join(root, 'test/sdk/wycheproof-ed25519.json')]
    expect(execFileSync(join(built, 'vectors'), files, { encoding: 'utf8' })).toMatch(
      /^\d{3} cases, 0 failed\n$/,
    )
  })
})
