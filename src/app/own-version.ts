import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { z } from 'zod'

/** The version in package.json, which lies two folders up in a clone and three in the npm package. */
export function ownVersion(): string {
  const manifest = findPackageJSON('.', import.meta.url)
  if (manifest === undefined) throw new Error('the package has no package.json')
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(manifest, 'utf8'))).version
}
