/**
 * Writes `src/evidence/verify.mjs`, which every evidence archive with proofs carries: the verifier in one file that needs nothing
 * but Node. Run it after a change of src/verifier or src/transparency: `node infra/build/evidence-verifier.ts`. A test compares it.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '../..')
const target = join(root, 'src/evidence/verify.mjs')

const banner = `// The verifier of keyledger for evidence archives, in one file. It needs Node 18 or later, and nothing else:
//
//   node verify.mjs [evidence.zip] --key <public key of the log>
//
// Generated from src/verifier of keyledger. License: Apache-2.0.`

/** @returns the text of the file */
export async function bundledVerifier(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['src/verifier/standalone.ts'],
    bundle: true,
    // Else the comments name where node_modules really is.
    preserveSymlinks: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node18',
    charset: 'utf8',
    legalComments: 'none',
    banner: { js: banner },
  })
  return outputFiles[0]?.text ?? ''
}

if (import.meta.main) writeFileSync(target, await bundledVerifier())
