/**
 * Writes `docs/reference/vectors`: what keyledger signs, with fixed keys, valid and broken, for verifiers in any language.
 * `node test/sdk/vectors/main.ts` writes them; a test compares them with what it would write.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { leases2 } from './leases2.ts'
import { licenseFiles } from './license-files.ts'
import { keys, licenseKeys, webhooks } from './other.ts'
import { leases, refusals, settings } from './signed.ts'

const directory = join(import.meta.dirname, '../../../docs/reference/vectors')

/** The files by name, as they are written. */
export const vectorFiles = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries({
      leases: leases(),
      leases2: leases2(),
      'license-files': licenseFiles(),
      refusals: refusals(),
      settings: settings(),
      keys: keys(),
      'license-keys': licenseKeys(),
      webhooks: webhooks(),
    }).map(([name, content]) => [`${name}.json`, `${JSON.stringify(content, null, 2)}\n`]),
  )

if (import.meta.main) {
  for (const [name, text] of Object.entries(vectorFiles())) writeFileSync(join(directory, name), text)
}
