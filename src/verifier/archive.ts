import { type ArchiveFiles, type Manifest, readManifest, textOf } from './archive-files.ts'
import { type ArchivedEvent, proveLine } from './archive-line.ts'
import { type EventName, eventWords, NotProved, readingOf } from './not-proved.ts'
import { openCheckpoint, type Trust, type TrustedCheckpoint } from './trust.ts'

/** What an evidence archive proves. */
export type ProvedArchive = {
  tenantId: string
  licenseId: string
  /** The number of events whose content is proved. */
  events: number
  /** Events whose place is proved, and whose content is not: it has the hash of an imported key. */
  withheld: EventName[]
  /** The license's events, as far as the archive reaches. */
  revisions: number
  checkpoint: TrustedCheckpoint
}

/** The name of a file of proofs that belongs to a file of events. */
const proofsOf = (name: string): string => name.replace(/^events\//, 'proofs/')

/**
 * Verifies the proofs of an evidence archive: every event in it stands in the log, and no event is left out of a stream.
 * @throws NotProved which names the first event that differs, is missing, was added or stands in another order
 */
export function verifyArchive(files: ArchiveFiles, trust: Trust): ProvedArchive {
  const manifest = readManifest(files)
  const checkpoint = openCheckpoint(textOf(files, 'proofs/checkpoint'), trust)
  const streams = new Map<string, ArchivedEvent>()
  const withheld: EventName[] = []
  let events = 0
  for (const { name } of manifest.files) {
    if (!name.startsWith('events/')) continue
    for (const [line, proof] of pairsOf(files, name)) {
      const event = proveLine(line, proof, checkpoint)
      checkOrder(streams.get(event.stream), event)
      streams.set(event.stream, event)
      if (event.isWithheld) withheld.push(nameOf(event))
      else events += 1
    }
  }
  const last = streams.get(`license-${manifest.licenseId}`)
  checkEnd(manifest, last)
  const { tenantId, licenseId, revision } = manifest
  return { tenantId, licenseId, events, withheld, revisions: revision + 1, checkpoint }
}

const nameOf = ({ stream, revision, type }: ArchivedEvent): EventName => ({ stream, revision, type })

/** Each line of a file of events, with the line of its proof. */
function pairsOf(files: ArchiveFiles, name: string): [unknown, unknown][] {
  const events = linesOf(files, name)
  const proofs = linesOf(files, proofsOf(name))
  if (proofs.length > events.length)
    throw new NotProved('missing', `${name} lacks an event at its end: ${proofsOf(name)} has more lines.`)
  return events.map((line, at) => [line, proofs[at] ?? null])
}

const linesOf = (files: ArchiveFiles, name: string): unknown[] =>
  textOf(files, name)
    .split('\n')
    .filter((line) => line !== '')
    .map((line, at) => readingOf(`Line ${String(at + 1)} of ${name}`, (): unknown => JSON.parse(line)))

/** Revisions of a stream have no gap, and stand in the log in their order. @throws NotProved */
function checkOrder(before: ArchivedEvent | undefined, event: ArchivedEvent): void {
  const expected = before ? before.revision + 1 : 0
  if (event.revision > expected) {
    const name = { stream: event.stream, revision: expected }
    throw new NotProved('missing', `The archive lacks ${eventWords(name)}. It was removed.`, name)
  }
  if (event.revision < expected || (before && event.index <= before.index))
    throw new NotProved(
      'order',
      `${eventWords(nameOf(event))} stands in another order than in the log.`,
      nameOf(event),
    )
}

function checkEnd({ licenseId, revision }: Manifest, last: ArchivedEvent | undefined): void {
  const found = last ? last.revision + 1 : 0
  if (found === revision + 1) return
  const name = { stream: `license-${licenseId}`, revision: Math.min(found, revision + 1) }
  throw found <= revision
    ? new NotProved('missing', `The archive lacks ${eventWords(name)}, at the end of its stream.`, name)
    : new NotProved('added', `The archive has ${eventWords(name)}, which its manifest does not know.`, name)
}
