/**
 * Guarantee: the app in the README of the JavaScript client runs outside the checkout, installed from the archive that is packed, also
 * through a proxy that the environment names. Its license is in a file that only its user can read.
 */
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packJavascript } from '../../../infra/build/javascript.ts'
import { type ForwardProxy, startForwardProxy } from '../../harness/forward-proxy.ts'
import { temporaryDirectory } from '../../harness/ledger.ts'
import { mint } from '../../http/samples.ts'
import { closeStage, openStage, type Stage } from './stage.ts'

const run = promisify(execFile)
const readme = readFileSync(join(import.meta.dirname, '../../../src/sdk/javascript/README.md'), 'utf8')
const directory = temporaryDirectory()

let stage: Stage
let proxy: ForwardProxy
beforeAll(async () => {
  stage = await openStage()
  const [, app = ''] = /^`app.js`:\n\n```js\n([\s\S]*?)^```$/m.exec(readme) ?? []
  writeFileSync(join(directory, 'app.js'), app)
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }')
  const archive = await packJavascript(directory)
  await run('npm', ['install', '--offline', '--no-audit', archive], { cwd: directory })
  proxy = await startForwardProxy(stage.network.url, true)
})
afterAll(async () => {
  await proxy.close()
  await closeStage(stage)
  rmSync(directory, { recursive: true, force: true })
})

/** Runs the app with a license key. @returns its lines, each once: a state is told again when its details change */
async function runApp(licenseKey: string, more: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const { tenant, sdkKey, network } = stage
  const place = { LICENSE_SERVER: network.url, TENANT: tenant.tenantId, PRODUCT: 'editor', SDK_KEY: sdkKey }
  const env = { ...process.env, ...place, ...more }
  const { stdout } = await run(process.execPath, ['app.js', licenseKey], { cwd: directory, env })
  return [...new Set(stdout.trim().split('\n'))]
}

test('the app of the README activates, and knows its license when it is started again', async () => {
  stage.api.ledger.clock.set(new Date().toISOString())
  const { licenseKey } = await mint(stage.api.ask, stage.tenant.token, 'editor', { keyTypeId: 'one' })
  expect(await runApp('ACME-1')).toStrictEqual([
    'unlicensed',
    'This looks mistyped, unless it was imported.',
    'license not found',
    'Export needs a license.',
  ])
  expect(await runApp(licenseKey)).toStrictEqual(['unlicensed', 'licensed', 'Export is on.'])
  expect(statSync(join(directory, 'license.json')).mode & 0o777).toBe(0o600)
  expect(await runApp('')).toStrictEqual(['licensed', 'Export is on.'])
})

test('the app of the README goes through a proxy that the environment names', async () => {
  const behind = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url, NO_PROXY: '' }
  expect(await runApp('', behind)).toContain('licensed')
  expect(proxy.asked).toContain(`CONNECT ${new URL(stage.network.url).host}`)
})
