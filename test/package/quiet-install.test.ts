/**
 * Guarantee: `npm ci` in a clone warns of no package that needs a newer Node than the system's: keyledger runs on the Node that npm
 * installs with it. A package cannot say the same to the npm that installs it; its installation needs the option of the documentation.
 */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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

test('a packed package cannot keep npm from warning: the option of its installation does', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kl-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const { resolved: _, integrity: __, ...old } = demanding
  await pack(directory, 'demanding', { ...old, name: 'demanding' })
  const needs = { demanding: `file:${join(directory, 'demanding-1.0.0.tgz')}` }
  const manifest = { name: 'packed', version: '1.0.0', dependencies: needs }
  const locked = { name: 'demanding', version: '1.0.0', resolved: needs.demanding }
  const lock = {
    ...{ name: 'packed', version: '1.0.0', lockfileVersion: 3, requires: true },
    packages: { '': manifest, 'node_modules/demanding': locked },
  }
  // What a package can bring along: settings, and a list of packages that does not name what they need.
  const files = { '.npmrc': 'loglevel=error\n', 'npm-shrinkwrap.json': JSON.stringify(lock) }
  await pack(directory, 'packed', { ...manifest, _hasShrinkwrap: true }, files)
  const installed = (words: readonly string[]) => {
    const project = mkdtempSync(join(directory, 'project-'))
    const all = [
      'install',
      join(directory, 'packed-1.0.0.tgz'),
      '--offline',
      '--no-update-notifier',
      '--no-audit',
      '--no-fund',
    ]
    return promisify(execFile)('npm', [...all, ...words], { cwd: project, env })
  }
  expect((await installed([])).stderr).toContain('EBADENGINE')
  expect((await installed(['--loglevel=error'])).stderr).toBe('')
})

/** A tarball as npm makes it, with files that npm would leave out. */
async function pack(
  directory: string,
  name: string,
  manifest: object,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  const folder = join(mkdtempSync(join(directory, 'source-')), 'package')
  mkdirSync(folder)
  for (const [file, text] of Object.entries({ 'package.json': JSON.stringify(manifest), ...files }))
    writeFileSync(join(folder, file), text)
  const tarball = join(directory, `${name}-1.0.0.tgz`)
  await promisify(execFile)('tar', ['-czf', tarball, '-C', join(folder, '..'), 'package'])
}
