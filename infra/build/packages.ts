/** Packs the SDKs as their registries take them, into `dist/packages`: `npm run package`. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildJavascript } from './javascript.ts'
import { packCpp, packCrate, packSwift } from './source-archives.ts'

const root = join(import.meta.dirname, '../..')
const packages = join(root, 'dist/packages')

mkdirSync(packages, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'keyledger-package-'))
try {
  await buildJavascript(folder)
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  execFileSync('npm', ['pack', '--pack-destination', packages], { cwd: folder, stdio: 'inherit' })
} finally {
  rmSync(folder, { recursive: true })
}
packCrate(packages)
packCpp(packages)
packSwift(packages)
