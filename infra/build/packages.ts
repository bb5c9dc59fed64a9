/** Packs the SDKs as their registries take them, into `dist/packages`: `npm run package`. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildJavascript } from './javascript.ts'

/** The files of a crate, in the shape of `cargo package`, which would ask a registry for the dependencies. */
function packCrate(folder: string): void {
  const source = join(root, 'src/sdk/rust')
  const [, version = ''] = /^version = "(.+)"$/m.exec(readFileSync(join(source, 'Cargo.toml'), 'utf8')) ?? []
  const name = `keyledger-client-${version}`
  for (const part of ['Cargo.toml', 'README.md', 'src', 'examples', 'tests'])
    cpSync(join(source, part), join(folder, name, part), { recursive: true })
  cpSync(join(root, 'LICENSE'), join(folder, name, 'LICENSE'))
  execFileSync('tar', ['-czf', join(packages, `${name}.crate`), '-C', folder, name])
}

const root = join(import.meta.dirname, '../..')
const packages = join(root, 'dist/packages')

mkdirSync(packages, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'keyledger-package-'))
try {
  await buildJavascript(folder)
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  execFileSync('npm', ['pack', '--pack-destination', packages], { cwd: folder, stdio: 'inherit' })
  packCrate(folder)
} finally {
  rmSync(folder, { recursive: true })
}
