/** Packs the SDKs as their registries take them, into `dist/packages`: `npm run package`. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildJavascript } from './javascript.ts'
import { hasDotnet, packNuget } from './nuget.ts'
import { packCpp, packCrate } from './source-archives.ts'

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
if (hasDotnet()) packNuget(packages)
else process.stderr.write('Keyledger.Client is not packed, for which the .NET SDK is needed (dotnet)\n')
