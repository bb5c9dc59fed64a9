/**
 * Guarantee: the C++ client judges every published vector as the JavaScript client does, and every signature of Wycheproof as it is
 * meant, grants nothing for arbitrary bytes, and passes through the same states as the client in JavaScript when both are run through the
 * same steps against a real server: with no fault that its sanitizers see.
 */
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { cmake, cppMissing } from '../../harness/cmake.ts'
import { startForwardProxy } from '../../harness/forward-proxy.ts'
import { temporaryDirectory } from '../../harness/ledger.ts'
import { mint } from '../../http/samples.ts'
import { testStories } from './matrix.ts'
import { goThroughProxy, host } from './proxied.ts'
import { countVectors, vectors } from './published.ts'
import { closeStage, openStage, type Stage } from './stage.ts'

const root = join(import.meta.dirname, '../../..')
const built = temporaryDirectory()
const run = async (name: string, ...words: string[]) =>
  (await promisify(execFile)(join(built, name), words)).stdout

let missing: string | undefined
beforeAll(async () => {
  missing = await cppMissing()
  if (missing !== undefined) return
  const flags = '-Wall -Wextra -Werror -O1 -fsanitize=address,undefined -fno-sanitize-recover=all'
  // Several sources at once, which takes two thirds of the time; the test of the package compiles each by itself.
  const options = ['-DKEYLEDGER_TESTS=ON', '-DCMAKE_UNITY_BUILD=ON']
  const flagged = [`-DCMAKE_CXX_FLAGS=${flags}`, `-DCMAKE_C_FLAGS=${flags}`]
  await cmake('-S', join(root, 'src/sdk/cpp'), '-B', built, ...options, ...flagged)
  await cmake('--build', built, '-j2')
})
afterAll(() => rmSync(built, { recursive: true, force: true }))

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => closeStage(stage))

/** Skips the test where the client cannot be built. */
function needTools(context: TestContext): void {
  if (missing !== undefined) context.skip(missing)
}

describe('the client in C++', () => {
  test('passes every vector but those of webhooks, and those of Wycheproof', async (context) => {
    needTools(context)
    const told = await run('vectors', vectors, join(root, 'test/sdk/wycheproof-ed25519.json'))
    const [, count, failed] = /^(\d+) cases, (\d+) failed\n$/.exec(told) ?? []
    expect({ failed, all: Number(count) > countVectors() }).toStrictEqual({ failed: '0', all: true })
  })

  test('passes its own checks, and reads arbitrary bytes without a failure', async (context) => {
    needTools(context)
    expect(await run('calls')).toMatch(/^[1-9]\d* checks passed\n$/)
    expect(await run('fuzz', vectors, '3', '1')).toMatch(/^[1-9]\d* texts read, 0 failed\n$/)
  })

  const program = (context: TestContext) => {
    needTools(context)
    return { language: 'cpp', path: join(built, 'story'), words: [], environment: process.env }
  }
  testStories('C++', () => stage, program)

  test('goes through the proxy that its environment names', async (context) => {
    await goThroughProxy(stage, program(context))
  })

  test('is used by a program in C, with a storage of its own, through a proxy', async (context) => {
    needTools(context)
    const { api, tenant, network, sdkKey } = stage
    const now = api.ledger.clock.now().getTime()
    const end = Math.floor(now / 1000) + 3 * 86_400
    const expiresAt = new Date(end * 1000).toISOString()
    const { licenseKey } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'pro', expiresAt })
    const proxy = await startForwardProxy(network.url)
    const words = [`http://${host}`, tenant.tenantId, 'editor', sdkKey, licenseKey, String(now), proxy.url]
    const running = run('c-app', ...words)
    try {
      await running
    } finally {
      await proxy.close()
    }
    const answers = (await running).split('\n').slice(0, -1)
    expect(answers.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { status: 'unlicensed' },
      { notice: 'expiring', licenseExpiresAt: end },
      { ok: true, state: { status: 'licensed', entitlements: ['pro'] } },
      0,
      true,
      { status: 'licensed' },
      [1, 0],
      null,
      { ok: true, state: { status: 'unlicensed' } },
      { status: 'unlicensed' },
    ])
  })
})
