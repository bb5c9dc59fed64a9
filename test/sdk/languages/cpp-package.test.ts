/**
 * Guarantee: the source archive of the C++ client holds what it is built from. Installed from it, CMake finds the package, and an app
 * outside the checkout is what its README shows. The stripped library is smaller than 300 kB, and without the key store, which is a library of its
 * own. How long an app needs to its first state is printed.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { packCpp } from '../../../infra/build/source-archives.ts'
import { createClient } from '../../../src/sdk/javascript/app/index.ts'
import { fileStorage } from '../../../src/sdk/javascript/node/index.ts'
import { cmake, cppMissing } from '../../harness/cmake.ts'
import { temporaryDirectory } from '../../harness/ledger.ts'
import { mint } from '../../http/samples.ts'
import { closeStage, openStage, type Stage } from './stage.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)
const directory = temporaryDirectory()
const [source, built, installed, outside] = ['source', 'built', 'installed', 'outside'].map((name) =>
  join(directory, name),
) as [string, string, string, string]

let missing: string | undefined
let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  missing = await cppMissing()
  if (missing !== undefined) return
  mkdirSync(source)
  await run('tar', ['-xzf', packCpp(directory), '-C', source, '--strip-components=1'])
  const small = ['-DCMAKE_BUILD_TYPE=MinSizeRel', '-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON']
  const places = [`-DCMAKE_INSTALL_PREFIX=${installed}`, '-DCMAKE_INSTALL_LIBDIR=lib']
  await cmake('-S', source, '-B', built, '-DKEYLEDGER_TESTS=ON', ...small, ...places)
  const libraries = ['c', 'curl', 'key-store-c'].map((name) => `keyledger-client-${name}`)
  await cmake('--build', built, '-j2', '--target', 'start', ...libraries)
  await cmake('--install', built, '--strip')
})
afterAll(async () => {
  await closeStage(stage)
  rmSync(directory, { recursive: true, force: true })
})

/** Skips the test where the client cannot be built. */
function needTools(context: TestContext): void {
  if (missing !== undefined) context.skip(missing)
}

test('the example of the README is built with the installed package, and runs', async (context) => {
  needTools(context)
  const readme = readFileSync(join(source, 'README.md'), 'utf8')
  for (const file of ['CMakeLists.txt', 'app.cpp'])
    expect(readme).toContain(`\n${readFileSync(join(source, 'examples', file), 'utf8')}\`\`\`\n`)
  cpSync(join(source, 'examples'), outside, { recursive: true })
  await cmake('-S', outside, '-B', join(outside, 'built'), `-DCMAKE_PREFIX_PATH=${installed}`)
  await cmake('--build', join(outside, 'built'))
  const env = { ...process.env, HOME: directory }
  const { stdout, stderr } = await run(join(outside, 'built/app'), [stage.network.url, 'ACME-1'], { env })
  expect(stderr).toMatch(/^misconfigured: /)
  expect(stdout).toMatch(/"status":"unlicensed".*\nExport needs a license\.\n$/)
  expect(statSync(join(directory, '.config/acme-editor/license.json')).mode & 0o777).toBe(0o600)
})

test('the library is as small as its documentation says', (context) => {
  needTools(context)
  const { size } = statSync(join(installed, 'lib/libkeyledger-client-c.so.0'))
  expect(size).toBeLessThan(300_000)
  for (const file of [join(source, 'README.md'), join(root, 'docs/reference/sdk.md')]) {
    const [, said] = /in C\+\+17[\s\S]*? is (\d+) kB/i.exec(readFileSync(file, 'utf8')) ?? []
    expect(Math.abs(Number(said) - size / 1000)).toBeLessThan(15)
  }
})

test('an app with a license has its state at the start, without a network', async (context) => {
  needTools(context)
  const { api, tenant, network, sdkKey } = stage
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'pro' })
  const now = api.ledger.clock.now().getTime()
  const [productId, machineHash, file] = [
    'editor',
    'hash-of-the-machine-cpp',
    join(directory, 'license.json'),
  ]
  const { tenantId } = tenant
  const app = { baseUrl: network.url, tenantId, productId, sdkKey, machineHash }
  const clock = { now: () => now, after: () => () => undefined }
  expect(
    await createClient({ ...app, storage: fileStorage(file), clock }).activate(licenseKey),
  ).toMatchObject({ ok: true })
  const taken: number[] = []
  for (let times = 0; times < 20; times++) {
    const words = [tenantId, productId, machineHash, file, String(now)]
    const [, ms] = /^licensed after (.+) ms\n$/.exec((await run(join(built, 'start'), words)).stdout) ?? []
    taken.push(Number(ms))
  }
  const sorted = taken.toSorted((one, other) => one - other)
  console.info(`the first state in C++: ${sorted[10]} ms, at best ${sorted[0]} ms`)
  expect(taken).not.toContain(Number.NaN)
})
