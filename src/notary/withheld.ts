import { z } from 'zod'
import { LicenseEvent } from '../domain/licenses/events.ts'
import { guessableHashOf, revealsKey } from '../domain/licenses/guessable.ts'
import type { LogEntry } from '../domain/recorded.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { EventRecord } from '../transparency/record.ts'

/** Why an event has no receipt, for people. */
export const whyWithheld =
  'its record has the plain hash of an imported key, from which a short key can be computed. Keys are imported with a keyed hash ' +
  'since, and every other event of the license has its receipt'

type EventName = { stream: string; revision: number }

/**
 * Whether the record of an event is not given out, because it tells the hash of an imported key that can be guessed from it. An
 * event of a type with such a hash that this version cannot read is withheld too.
 */
export async function isWithheld(
  ledger: Pick<Ledger, 'readStream'>,
  { stream, revision }: EventName,
): Promise<boolean> {
  let guessable: string | undefined
  for await (const entry of ledger.readStream(stream, revision + 1)) {
    const [event, isFirst] = [licenseEventOf(entry), entry.revision === 0]
    if (isFirst && event) guessable = guessableHashOf(event)
    if (entry.revision === revision)
      return event ? revealsKey(event, guessable) : !entry.readable && mayTell(entry)
    // Of any other license, no event tells such a hash.
    if (isFirst && event && guessable === undefined) return false
  }
  return false
}

/**
 * Which part of an event's record an archive leaves out, because it tells the hash of a key that can be guessed from it: that
 * hash and the salt, or of an event without a salt the whole record.
 */
export type Withheld = 'nothing' | 'key' | 'event'

/**
 * Finds the events to withhold among all those about a license: those of the license itself come first, from its first event on.
 * The id of an event that is withheld whole is a secret too, since with the rest of the event it makes the hash testable against
 * the public tree. So events that name it as their cause are withheld with it.
 */
export function createWithholding(): (entry: LogEntry) => Withheld {
  let guessable: string | undefined
  const ids = new Set<string>()
  return (entry) => {
    const event = licenseEventOf(entry)
    if (event?.type === 'LicenseImported') guessable = guessableHashOf(event)
    const reveals = event !== undefined && revealsKey(event, guessable)
    if (reveals && entry.readable && entry.metadata.salt !== undefined) return 'key'
    if (!(reveals || (entry.readable ? ids.has(entry.metadata.causationId) : mayTell(entry))))
      return 'nothing'
    ids.add(entry.id)
    return 'event'
  }
}

const licenseEventOf = (entry: LogEntry): LicenseEvent | undefined =>
  entry.readable && entry.category === 'license' ? entry.event : undefined

const mayTell = ({ type }: { type: string }): boolean => type === 'LicenseImported' || type === 'KeyMailAsked'

/** Whether a record alone shows that it is withheld. */
export function tellsKey(record: string): boolean {
  const { type, data } = Typed.parse(JSON.parse(record))
  if (type !== 'LicenseImported') return false
  const read = LicenseEvent.safeParse({ type, data })
  return !read.success || guessableHashOf(read.data) !== undefined
}

const Typed = z.object({ type: z.string(), data: z.unknown() }) satisfies z.ZodType<
  Pick<EventRecord, 'type' | 'data'>
>
