/**
 * Makes `dist`, which the npm package runs: everything that runs in a clone as TypeScript, as the JavaScript that
 * it would be stripped to, and beside it the files that are read at run time. Types are checked by `npm run check`.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')

// A file that has been removed since would still be packed.
rmSync(dist, { recursive: true, force: true })
for (const project of ['tsconfig.build.json', 'tsconfig.sdk.json']) {
  execFileSync(process.execPath, [compiler, '--project', join(root, project)], { stdio: 'inherit' })
}
for (const file of globSync('{src,projections,infra/local}/**/*.*', { cwd: root, exclude: ['**/*.ts'] })) {
  cpSync(join(root, file), join(dist, file))
}
