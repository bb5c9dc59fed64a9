/**
 * Guarantee: the client in Rust passes all vectors, grants nothing for arbitrary bytes, and passes through the same states as the client in
 * JavaScript when both are run through the same steps against a real server. It is built with the oldest Rust that it names. The crate that
 * is packed holds what it is built from: an app outside the checkout, made of what its README shows and nothing else, is built with it, and
 * gets a license. How long it takes to its first state is told, and not judged.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { z } from 'zod'
import { packCrate } from '../../../infra/build/source-archives.ts'
import { copyCrate, openWorkshop, type Workshop } from '../../harness/cargo.ts'
import { installPackages } from '../../harness/debian.ts'
import { mint } from '../../http/samples.ts'
import { testStories } from './matrix.ts'
import { countVectors } from './published.ts'
import { closeStage, openStage, type Stage } from './stage.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)
const Keys = z.object({ keys: z.record(z.string(), z.string()) })
/** Once for all tests: other features would compile the crate anew. */
const features = ['--features', 'key-store']
let workshop: Workshop | string
let cargo: (...words: string[]) => Promise<string>
beforeAll(async () => {
  workshop = openWorkshop()
  if (typeof workshop === 'string') return
  cargo = copyCrate(workshop, root, 'src/sdk/rust')
  await cargo('test', ...features, '--no-run')
})
afterAll(() => {
  if (typeof workshop !== 'string') workshop.remove()
})

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => closeStage(stage))

/** Skips the test where no crate can be built. */
function needed(context: TestContext): Workshop {
  if (typeof workshop === 'string')
    context.skip(`The client in Rust is tested with Debian's crates: ${workshop}`)
  return workshop as Workshop
}

describe('the client in Rust', () => {
  test('passes every vector but those of webhooks, and those of Wycheproof', async (context) => {
    needed(context)
    const told = await cargo('test', ...features, '--lib', 'vectors', '--', '--nocapture')
    expect(told).toContain(`${countVectors()} passed, 0 failed\n`)
    expect(told).toMatch(/test result: ok\. 2 passed/)
  })

  test('passes its own tests, and reads arbitrary bytes without a failure', async (context) => {
    needed(context)
    const told = await cargo('test', ...features, '--', '--nocapture')
    expect(told).toMatch(/^[1-9]\d* texts read, 0 failed$/m)
  })

  test('keeps a license in a Secret Service', async (context) => {
    needed(context)
    const keep = () => cargo('test', ...features, '--test', 'key_store', '--', '--nocapture')
    const isMissing = (told: string) => told.includes('no Secret Service')
    const first = await keep()
    const told =
      isMissing(first) && installPackages('libsecret-tools', 'gnome-keyring', 'dbus') ? await keep() : first
    if (isMissing(told)) context.skip('It needs libsecret-tools, gnome-keyring and dbus.')
    expect(told).toMatch(/^a Secret Service has kept the license$/m)
  })

  test('is built without its transport', async (context) => {
    needed(context)
    await cargo('test', '--no-default-features', '--lib', '--', 'machine')
  })

  testStories(
    'Rust',
    () => stage,
    (context) => {
      const { target, environment } = needed(context)
      return { language: 'rust', path: join(target, 'debug/examples/story'), words: [], environment }
    },
  )
})

/** What a README shows first in a language. */
const shownIn = (readme: string, language: RegExp): string =>
  new RegExp(`\n\`\`\`${language.source}\n(.*?)\`\`\`\n`, 's').exec(readme)?.[1] ?? ''

test('the app of the README is built with the packed crate, and gets a license', async (context) => {
  const { directory, target, environment, cargo: cargoIn } = needed(context)
  const app = join(directory, 'acme-editor')
  mkdirSync(join(app, 'src'), { recursive: true })
  const archive = packCrate(directory)
  await run('tar', ['-xzf', archive, '-C', app])
  const unpacked = join(app, basename(archive, '.crate'))
  const readme = readFileSync(join(unpacked, 'README.md'), 'utf8')
  const program = shownIn(readme, /rust,no_run/)
  expect(program).toBe(readFileSync(join(unpacked, 'examples/app.rs'), 'utf8'))

  const { api, tenant, sdkKey, network } = stage
  const own = program.replace('"acme"', `"${tenant.tenantId}"`).replace('"kl_sdk_1"', `"${sdkKey}"`)
  writeFileSync(join(app, 'Cargo.toml'), shownIn(readme, /toml/))
  writeFileSync(join(app, 'src/main.rs'), own)
  await cargoIn('acme-editor', 'build')

  // The app has the clock of the system.
  api.ledger.clock.set(new Date().toISOString())
  const start = (...words: string[]) =>
    run(join(target, 'debug/acme-editor'), [network.url, ...words], {
      env: { ...environment, HOME: directory },
    })
  const refused = await start('ACME-1')
  expect(refused.stderr).toMatch(/^not_found: /)
  expect(refused.stdout).toMatch(/^enter a license key\nexport: false, up to 3 projects\n$/)
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'pro' })
  const licensed = await start(licenseKey)
  expect(licensed.stdout).toMatch(/^good without a network until \d+\n/)
  const again = await start()
  expect(again.stdout).toBe(licensed.stdout)
  const file = join(directory, '.config/acme-editor/license.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)

  const { body } = await api.ask('GET', `/${tenant.tenantId}/.well-known/service-keys`)
  const [key = []] = Object.entries(Keys.parse(body).keys)
  await cargoIn(join('acme-editor', basename(unpacked)), 'build', '--example', 'start')
  const words = [file, tenant.tenantId, 'editor', ...key]
  const { stdout } = await run(join(target, 'debug/examples/start'), words)
  expect(stdout).toMatch(/^(\d+\.\d\d ms: \{"status":"licensed",.*\}\n){5}$/)
  await context.annotate(
    `The first state comes after ${stdout.replaceAll(/: .*/g, '').trim().replaceAll('\n', ', ')}`,
  )
})
