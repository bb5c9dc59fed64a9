import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'

/** The version in package.json, which lies two folders up in a clone and three in the npm package. */
export function ownVersion(): string {
  const manifest = findPackageJSON('.', import.meta.url)
  if (manifest === undefined) throw new Error('the package has no package.json')
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  return version
}
