/**
 * Builds `dist`, which the npm package runs: the sources stripped to JavaScript, and the files that they read at
 * run time. It also writes the list of all packages that it runs on, with their hashes, in the form of CycloneDX. `npm run check` checks the types, so this build does not.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { sbomOf } from './sbom.ts'

const root = join(import.meta.dirname, '../..')
const dist = join(root, 'dist')
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')

// Otherwise files deleted from the sources would still be packed.
rmSync(dist, { recursive: true, force: true })
execFileSync(process.execPath, [compiler, '--project', join(root, 'infra/build/tsconfig.json')], {
  stdio: 'inherit',
})
for (const file of globSync('{src,projections,infra/local}/**/*.*', {
  cwd: root,
  exclude: ['**/*.ts', '**/tsconfig.json', 'src/sdk/**'],
})) {
  cpSync(join(root, file), join(dist, file))
}
writeFileSync(join(dist, 'sbom.cdx.json'), sbomOf(root))
