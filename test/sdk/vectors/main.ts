/**
 * Writes `docs/reference/vectors`: what keyledger signs and what an app makes of it, with fixed keys, valid and broken, for clients
 * in any language. `node test/sdk/vectors/main.ts` writes them; a test compares them with what it would write.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { answers } from './answers.ts'
import { paseto, requests, withdrawn } from './carried.ts'
import { devices } from './devices.ts'
import { instanceId, keyset, licenseKey, licenseKeyHash, now, place } from './keys.ts'
import { leases2 } from './leases2.ts'
import { licenseFiles } from './license-files.ts'
import { licenseKeys } from './license-keys.ts'
import { notices } from './notices.ts'
import { keys, webhooks } from './other.ts'
import { relays } from './relays.ts'
import { leases, refusals, settings } from './signed.ts'
import { fileStories } from './states/files.ts'
import { leaseStories } from './states/leases.ts'
import { machineStories } from './states/machines.ts'
import { trialStories } from './states/trials.ts'
import { deviceKey, type Story, seed, told } from './story.ts'

const directory = join(import.meta.dirname, '../../../docs/reference/vectors')

const states = (stories: readonly Story[]) => ({
  keyset,
  ...place,
  licenseKey,
  licenseKeyHash,
  instanceId,
  seed,
  deviceKey,
  now,
  cases: stories.map(told),
})

/** The files by name, as they are written. */
export const vectorFiles = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries({
      paseto: paseto(),
      leases: leases(),
      leases2: leases2(),
      relays: relays(),
      'license-files': licenseFiles(),
      withdrawn: withdrawn(),
      requests: requests(),
      refusals: refusals(),
      settings: settings(),
      keys: keys(),
      'license-keys': licenseKeys(),
      devices: devices(),
      answers: answers(),
      'states-leases': states(leaseStories()),
      'states-trials': states(trialStories()),
      'states-files': states(fileStories()),
      'states-machines': states(machineStories()),
      notices: notices(),
      webhooks: webhooks(),
    }).map(([name, content]) => [`${name}.json`, linesOf(content)]),
  )

/** JSON with a line for each field, and one for each case, so that a change shows in the lines that it changes. */
function linesOf(content: object): string {
  const fields = Object.entries(content).map(([name, value]) => {
    const text = Array.isArray(value)
      ? `[\n${value.map((one) => `    ${JSON.stringify(one)}`).join(',\n')}\n  ]`
      : JSON.stringify(value)
    return `  ${JSON.stringify(name)}: ${text}`
  })
  return `{\n${fields.join(',\n')}\n}\n`
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(vectorFiles())) writeFileSync(join(directory, name), text)
}
