/**
 * Guarantee: `npm ci` in a clone warns of no package that needs a newer Node than the system's: keyledger runs on the Node that npm
 * installs with it.
 */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

/** No Node is old enough for this package. */
const demanding = {
  version: '1.0.0',
  resolved: 'https://registry.npmjs.org/demanding/-/demanding-1.0.0.tgz',
  integrity: `sha512-${Buffer.alloc(64).toString('base64')}`,
  engines: { node: '<1' },
}

/** Without the settings that npm hands on to what it runs, such as these tests. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_config_/i.test(name)))

async function install(directory: string): Promise<string> {
  const words = ['ci', '--dry-run', '--offline', '--ignore-scripts', '--no-update-notifier']
  const { stderr } = await promisify(execFile)('npm', words, { cwd: directory, env })
  return stderr
}

test('a package that needs another Node is no warning in a clone, and is one elsewhere', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kl-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const manifest = { name: 'clone', version: '1.0.0', dependencies: { demanding: '1.0.0' } }
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest))
  const packages = { '': manifest, 'node_modules/demanding': demanding }
  const lock = { name: 'clone', version: '1.0.0', lockfileVersion: 3, requires: true, packages }
  writeFileSync(join(directory, 'package-lock.json'), JSON.stringify(lock))
  expect(await install(directory)).toContain('EBADENGINE')
  copyFileSync(join(import.meta.dirname, '../../.npmrc'), join(directory, '.npmrc'))
  expect(await install(directory)).toBe('')
})
