import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { writeDescribed } from './sdk-operations.ts'

const root = join(import.meta.dirname, '../..')
const source = join(root, 'src/sdk/javascript')
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const parts = ['index', 'app/index', 'app/meters/index', 'node/index', 'server/index']

/**
 * Builds the npm package `@keyledger/client`. What it needs is in its files, so that it has no dependencies, and what its parts share is
 * there once: an app that imports two of them has one client.
 * @param folder where the package is made; by default where its sources are
 */
export async function buildJavascript(folder = source): Promise<void> {
  const dist = join(folder, 'dist')
  // Otherwise files deleted from the sources would still be packed.
  rmSync(dist, { recursive: true, force: true })
  mkdirSync(dist, { recursive: true })
  for (const project of ['tsconfig.json', 'node/tsconfig.json']) {
    const args = [compiler, '--project', join(source, project), '--emitDeclarationOnly', '--outDir', dist]
    execFileSync(process.execPath, args, { stdio: 'inherit' })
  }
  await build({
    entryPoints: parts.map((part) => join(source, `${part}.ts`)),
    outdir: dist,
    outbase: source,
    bundle: true,
    splitting: true,
    chunkNames: 'shared/[hash]',
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    external: ['node:*'],
    target: 'es2022',
    logLevel: 'warning',
  })
  // The description that a test compares with the running server.
  await writeDescribed(join(root, 'test/http/openapi.snapshot.json'), join(dist, 'server'))
  if (folder === source) return
  for (const name of ['package.json', 'README.md']) cpSync(join(source, name), join(folder, name))
}

/** Builds the npm package and packs it. @param to the folder of the archive @returns the path of the archive */
export async function packJavascript(to: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'keyledger-package-'))
  try {
    await buildJavascript(folder)
    cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
    const [name = ''] =
      execFileSync('npm', ['pack', '--silent', '--pack-destination', to], {
        cwd: folder,
        encoding: 'utf8',
      }).match(/\S+\.tgz/) ?? []
    return join(to, name)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
