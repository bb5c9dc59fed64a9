/**
 * Guarantee: the client for apps, with all that it needs, is smaller than 22.5 kB, minified and compressed. It was 16 kB until
 * it took license files too, which need the device to sign with a key of its own and to know its machine: in a second client,
 * a device would have two storages and two states. Floating seats and relays are most of the kB after it, and notices and the activation in a browser are the last.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

test('the app client is under 22.5 kB, runs without Node, and its documented size is right', async () => {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'src/sdk/javascript/app/index.ts')],
    bundle: true,
    minify: true,
    format: 'esm',
    // A module of Node would be an error.
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  })
  const bytes = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
  expect(bytes).toBeGreaterThan(1000)
  expect(bytes).toBeLessThan(22_500)
  const [, documented] =
    /(\d+\.\d) kB gzipped/.exec(readFileSync(join(root, 'docs/reference/sdk.md'), 'utf8')) ?? []
  expect(Math.abs(Number(documented) - bytes / 1000)).toBeLessThan(0.3)
})
