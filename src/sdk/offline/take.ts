import type { OfflineFacts } from './facts.ts'
import { type FileRefusal, type Given, readFile, readHeld, readWithdrawn } from './read.ts'

/**
 * Takes a text that was carried to the device: the answer to its last request, or a list of withdrawn files.
 * @param now Unix seconds by the clock of the device
 */
export function take(
  token: string,
  facts: OfflineFacts,
  given: Given,
  now: number,
): { facts: OfflineFacts } | { reason: FileRefusal } {
  const list = readWithdrawn(token, given)
  if (list.ok) {
    const held = facts.withdrawn === undefined ? undefined : readWithdrawn(facts.withdrawn, given)
    if (held?.ok && held.list.serial > list.list.serial) return { reason: 'outdated' }
    return { facts: { ...facts, withdrawn: token, seen: Math.max(facts.seen, list.list.issuedAt) } }
  }
  const own = facts.file?.token === token ? readHeld(facts, given) : undefined
  if (own) return own.lease.serial > facts.released ? { facts } : { reason: 'outdated' }
  const read = readFile(token, facts, given, now)
  if (!read.ok) return { reason: read.reason }
  const { lease, nonce, licenseKeyHash } = read.file
  // A newer file begins anew, so that a clock that was once wrong by years does not end every file after it.
  const seen = Math.max(lease.issuedAt, now)
  return { facts: { ...facts, file: { token, nonce, licenseKeyHash }, asked: undefined, seen } }
}
