/**
 * Guarantee: the key store of the C++ client keeps a text of any length in the Secret Service of the desktop, one for each product, and
 * says what to do where that is locked or missing.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cmake, cppMissing } from '../../harness/cmake.ts'
import { temporaryDirectory } from '../../harness/ledger.ts'
import { type SecretService, secretServiceMissing, startSecretService } from '../../harness/secret-service.ts'

const built = temporaryDirectory()
const home = join(built, 'home')
const source = join(import.meta.dirname, '../../../src/sdk/cpp')

let missing: string | undefined
beforeAll(async () => {
  missing = (await cppMissing()) ?? secretServiceMissing()
  if (missing !== undefined) return
  await cmake('-S', source, '-B', built, '-DKEYLEDGER_TESTS=ON')
  await cmake('--build', built, '--target', 'key-store')
})
afterAll(() => rmSync(built, { recursive: true, force: true }))

/** Reads or writes in a session, and says what is printed or went wrong. */
async function run(environment: NodeJS.ProcessEnv, words: readonly string[], input = '') {
  const running = spawn(join(built, 'key-store'), words, { env: environment })
  running.stdin.end(input)
  const [out, error] = await Promise.all([
    text(running.stdout),
    text(running.stderr),
    running.exitCode ?? once(running, 'exit'),
  ])
  return error === '' ? out : error
}

async function inSession(isUnlocked: boolean, step: (service: SecretService) => Promise<void>) {
  const service = await startSecretService(home, isUnlocked)
  try {
    await step(service)
  } finally {
    await service.end()
  }
}

const advice =
  'Start and unlock the key ring of the desktop, such as GNOME Keyring or KWallet, or keep the license in a file'

test('a text is kept in the key ring, also a long one, until that is locked', async (context) => {
  if (missing !== undefined) context.skip(missing)
  const long = 'é'.repeat(10_000)
  const longer = `${'0123456789'.repeat(4000)}\n`
  await inSession(true, async ({ environment }) => {
    const product = ['acme', 'editor']
    const other = ['-x', 'a b']
    expect(await run(environment, ['read', ...product])).toBe('-')
    for (const kept of ['{"a":1}', '', long, longer, long, '{"a":2}', longer]) {
      expect(await run(environment, ['write', ...product], kept)).toBe('')
      expect(await run(environment, ['read', ...product])).toBe(`+${kept}`)
    }
    expect(await run(environment, ['read', ...other])).toBe('-')
    expect(await run(environment, ['write', ...other], 'of another')).toBe('')
    expect(await run(environment, ['read', ...other])).toBe('+of another')
    expect(await run(environment, ['read', ...product])).toBe(`+${longer}`)
  })
  await inSession(true, async ({ environment }) => {
    expect(await run(environment, ['read', 'acme', 'editor'])).toBe(`+${longer}`)
  })
  await inSession(false, async ({ environment }) => {
    const locked = `the license cannot be kept in the Secret Service: the key ring is locked. ${advice}`
    expect(await run(environment, ['read', 'acme', 'editor'])).toBe(locked)
    expect(await run(environment, ['write', 'acme', 'editor'], long)).toBe(locked)
    expect(await run(environment, ['write', 'acme', 'editor'], 'short')).toContain('locked collection')
  })
})

test('without a session or the program it is said what to do', async (context) => {
  if (missing !== undefined) context.skip(missing)
  const nowhere = { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: join(built, 'nowhere') }
  expect(await run(nowhere, ['read', 'acme', 'editor'])).toContain(advice)
  expect(await run(nowhere, ['write', 'acme', 'editor'], 'x')).toContain(advice)
  const without = await run({ PATH: '/nowhere' }, ['read', 'acme', 'editor'])
  expect(without).toMatch(/^the program secret-tool is missing: install it .*libsecret-tools/)
})
