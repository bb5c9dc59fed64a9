/**
 * Guarantee: the C++ client judges every published vector as the JavaScript client does, and every signature of Wycheproof as it is
 * meant, grants nothing for arbitrary bytes, and passes through the same states as the client in JavaScript when both are run through the
 * same steps against a real server: with no fault that its sanitizers see.
 */
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { installPackages } from '../../harness/debian.ts'
import { temporaryDirectory } from '../../harness/ledger.ts'
import { mint } from '../../http/samples.ts'
import { countVectors, vectors } from './published.ts'
import { closeStage, openStage, type Stage, tellOfFiles, tellOfLentSeat, tellStory } from './story.ts'

const root = join(import.meta.dirname, '../../..')
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
  const options = ['-DKEYLEDGER_TESTS=ON', `-DCMAKE_CXX_FLAGS=${flags}`, `-DCMAKE_C_FLAGS=${flags}`]
  await run('cmake', ['-S', join(root, 'src/sdk/cpp'), '-B', built, ...options])
  await run('cmake', ['--build', built, '-j2'])
})

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => closeStage(stage))

/** Skips the test where the client cannot be built. */
function needTools(context: TestContext): void {
  if (!canBuild) context.skip(`The C++ client is tested with ${packages.join(', ')}: install them`)
}

test('every vector but those of webhooks, and those of Wycheproof', async (context) => {
  needTools(context)
  const files = [vectors, join(root, 'test/sdk/wycheproof-ed25519.json')]
  const { stdout } = await run(join(built, 'vectors'), files)
  const [, count, failed] = /^(\d+) cases, (\d+) failed\n$/.exec(stdout) ?? []
  expect({ failed, all: Number(count) > countVectors() }).toStrictEqual({ failed: '0', all: true })
})

test('its own checks, and arbitrary bytes', async (context) => {
  needTools(context)
  expect((await run(join(built, 'calls'))).stdout).toMatch(/^[1-9]\d* checks passed\n$/)
  expect((await run(join(built, 'fuzz'), [vectors, '3', '1'])).stdout).toMatch(
    /^[1-9]\d* texts read, 0 failed\n$/,
  )
})

test.for([
  ['leases', tellStory],
  ['license files', tellOfFiles],
  ['a floating seat that is lent', tellOfLentSeat],
] as const)('the states of the client in JavaScript, in a story of %s', async ([_, tell], context) => {
  needTools(context)
  await tell(stage, { language: 'cpp', path: join(built, 'story'), words: [], environment: process.env })
})

test('a program in C, with its own storage', async (context) => {
  needTools(context)
  const { api, tenant, network, sdkKey } = stage
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'pro' })
  const now = String(api.ledger.clock.now().getTime())
  const words = [network.url, tenant.tenantId, 'editor', sdkKey, licenseKey, now]
  const { stdout } = await run(join(built, 'c-app'), words)
  const lines = stdout.trim().split('\n')
  const [started, activated, value, restarted, has, released, deactivated, state] = lines.map((line) =>
    line.includes(' ') && !line.startsWith('{') ? line : (JSON.parse(line) as unknown),
  )
  expect({ started, activated, restarted, deactivated, state }).toMatchObject({
    started: { status: 'unlicensed' },
    activated: { ok: true, state: { status: 'licensed', entitlements: ['pro'] } },
    restarted: { status: 'licensed' },
    deactivated: { ok: true, state: { status: 'unlicensed' } },
    state: { status: 'unlicensed' },
  })
  expect({ value, has, released }).toStrictEqual({ value: true, has: '1 0', released: null })
})
