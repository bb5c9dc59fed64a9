/**
 * Guarantee: the crate that is packed holds what it is built from. An app outside the checkout, made of what its README shows and nothing
 * else, is built with it, and gets a license. How long it takes to its first state is told, and not judged.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { z } from 'zod'
import { packCrate } from '../../../infra/build/source-archives.ts'
import { openWorkshop, type Workshop } from '../../harness/cargo.ts'
import { mint } from '../../http/samples.ts'
import { closeStage, openStage, type Stage } from './stage.ts'

const run = promisify(execFile)
const Keys = z.object({ keys: z.record(z.string(), z.string()) })

let workshop: Workshop | string
let stage: Stage
beforeAll(async () => {
  workshop = openWorkshop()
  stage = await openStage()
})
afterAll(async () => {
  await closeStage(stage)
  if (typeof workshop !== 'string') workshop.remove()
})

/** Skips the test where no crate can be built. */
function needed(context: TestContext): Workshop {
  if (typeof workshop === 'string')
    context.skip(`The client in Rust is built with Debian's crates: ${workshop}`)
  return workshop as Workshop
}

/** What a README shows first in a language. */
const shownIn = (readme: string, language: RegExp): string =>
  new RegExp(`\n\`\`\`${language.source}\n(.*?)\`\`\`\n`, 's').exec(readme)?.[1] ?? ''

test('the app of the README is built with the packed crate, and gets a license', async (context) => {
  const { directory, target, environment, cargo } = needed(context)
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
  await cargo('acme-editor', 'build')

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
  await cargo(join('acme-editor', basename(unpacked)), 'build', '--example', 'start')
  const words = [file, tenant.tenantId, 'editor', ...key]
  const { stdout } = await run(join(target, 'debug/examples/start'), words)
  expect(stdout).toMatch(/^(\d+\.\d\d ms: \{"status":"licensed",.*\}\n){5}$/)
  await context.annotate(
    `The first state comes after ${stdout.replaceAll(/: .*/g, '').trim().replaceAll('\n', ', ')}`,
  )
})
