import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type ArchiveFiles, checkFiles, type Manifest, readManifest, textOf } from './archive-files.ts'
import { type ArchivedEvent, proveLine } from './archive-line.ts'
import { checkSignature, type Signer, signerOf } from './archive-signature.ts'
import { readJson } from './json.ts'
import { type EventName, eventWords, NotProved, readingOf } from './not-proved.ts'
import { openCheckpoint, type Trust, type TrustedCheckpoint } from './trust.ts'
import { unzip } from './unzip.ts'

/** What an evidence archive proves. */
export type ProvedArchive = {
  licenseId: string
  /**
   * Of the license; null when no event in the archive says it, nor a signature with a given key. A tenant whose key only the
   * log has could sign an archive of another tenant's license, if every event that names its owner is withheld.
   */
  tenantId: string | null
  /** The number of events whose content is proved, and of their streams. */
  events: number
  streams: number
  /** Of the license: how many of its events are proved, and the revision of the last one in the archive. */
  license: { events: number; revision: number }
  /** Proved events of which the hash of the key is left out. */
  keyWithheld: EventName[]
  /** Events of which the whole record is left out: nothing of them is proved. */
  withheld: EventName[]
  signer: Signer
  /** The files that are no events and no proofs. Only a known signer answers for them. */
  otherFiles: string[]
  checkpoint: TrustedCheckpoint
  /** What is in the archive and is not proved, in sentences. */
  notProved: string[]
}

/** The name of a file of proofs that belongs to a file of events. */
const proofsOf = (name: string): string => name.replace(/^events\//, 'proofs/')
const eventsOf = (name: string): string => name.replace(/^proofs\//, 'events/')
const isOfLines = (name: string): boolean => /^(events|proofs)\//.test(name) && name.endsWith('.jsonl')

/**
 * Verifies an evidence archive: its signature, its files, that every event in it stands in the log, and that none is left out of a
 * stream before the last one.
 * @param vendorKeys the signing keys of the vendor, in base64, if the caller knows them; otherwise the log has to say whose key it is
 * @throws NotProved which names the first thing that differs, is missing, was added or stands in another order
 */
export const verifyArchive = (
  files: ArchiveFiles,
  trust: Trust,
  vendorKeys: readonly string[] = [],
): ProvedArchive => readingOf('The archive', () => verify(files, trust, vendorKeys))

function verify(files: ArchiveFiles, trust: Trust, vendorKeys: readonly string[]): ProvedArchive {
  const manifest = readManifest(files)
  checkSignature(files, manifest)
  checkFiles(files, manifest)
  const checkpoint = openCheckpoint(textOf(files, 'proofs/checkpoint'), trust)
  const events = provedEvents(files, manifest, checkpoint)
  const signer = signerOf(manifest, events, vendorKeys)
  checkTenant(manifest, events)
  const ofLicense = events.filter(({ stream }) => stream === `license-${manifest.licenseId}`)
  checkEnd(manifest, ofLicense.length)
  if (signer.known === 'no') checkIsOld(events)
  const proved = events.filter(({ withheld }) => withheld !== 'event')
  const isTenantProved = ofLicense.some(({ data }) => data.tenantId === manifest.tenantId)
  const found = {
    licenseId: manifest.licenseId,
    tenantId: signer.known === 'given' || isTenantProved ? manifest.tenantId : null,
    events: proved.length,
    streams: new Set(proved.map(({ stream }) => stream)).size,
    license: {
      events: ofLicense.filter(({ withheld }) => withheld !== 'event').length,
      revision: ofLicense.length - 1,
    },
    keyWithheld: events.filter(({ withheld }) => withheld === 'key').map(nameOf),
    withheld: events.filter(({ withheld }) => withheld === 'event').map(nameOf),
    signer,
    otherFiles: manifest.files.map(({ name }) => name).filter((name) => !isOfLines(name)),
    checkpoint,
  }
  return { ...found, notProved: notProvedIn(found) }
}

const nameOf = ({ stream, revision, type }: ArchivedEvent): EventName => ({ stream, revision, type })

function provedEvents(
  files: ArchiveFiles,
  { files: listed }: Manifest,
  checkpoint: TrustedCheckpoint,
): ArchivedEvent[] {
  const last = new Map<string, ArchivedEvent>()
  const names = listed.map(({ name }) => name).filter(isOfLines)
  const withoutEvents = names.find((name) => !files.has(eventsOf(name)))
  if (withoutEvents !== undefined)
    throw new NotProved('missing', `The archive lacks ${eventsOf(withoutEvents)}, and has ${withoutEvents}.`)
  return names
    .filter((name) => name.startsWith('events/'))
    .flatMap((name) => pairsOf(files, name))
    .map((pair) => {
      const event = proveLine(pair, checkpoint)
      checkOrder(last.get(event.stream), event)
      last.set(event.stream, event)
      return event
    })
}

/** Each line of a file of events, with the line of its proof. */
function pairsOf(files: ArchiveFiles, name: string): { line: unknown; proof: unknown }[] {
  const events = linesOf(files, name)
  const proofs = linesOf(files, proofsOf(name))
  if (proofs.length > events.length)
    throw new NotProved('missing', `${name} lacks an event at its end: ${proofsOf(name)} has more lines.`)
  return events.map((line, at) => ({ line, proof: proofs[at] ?? null }))
}

function linesOf(files: ArchiveFiles, name: string): unknown[] {
  const [last, ...lines] = textOf(files, name).split('\n').reverse()
  if (last !== '' || lines.length === 0)
    throw new NotProved('malformed', `${name} does not end with a line break. Get the archive again.`)
  return lines.reverse().map((line, at) => readJson(`Line ${String(at + 1)} of ${name}`, line))
}

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

/** Every event of an archive is of one tenant, as far as it names one. @throws NotProved */
function checkTenant({ tenantId }: Manifest, events: readonly ArchivedEvent[]): void {
  const foreign = events.find(({ data }) => typeof data.tenantId === 'string' && data.tenantId !== tenantId)
  if (foreign)
    throw new NotProved(
      'foreign_tenant',
      `${eventWords(nameOf(foreign))} is of the tenant ${String(foreign.data.tenantId)}, and the archive is said to be of ${tenantId}.`,
      nameOf(foreign),
    )
}

/** @throws NotProved when the license has other events than its manifest says */
function checkEnd({ licenseId, revision }: Manifest, found: number): void {
  if (found === revision + 1) return
  const name = { stream: `license-${licenseId}`, revision: Math.min(found, revision + 1) }
  throw found <= revision
    ? new NotProved('missing', `The archive lacks ${eventWords(name)}, at the end of its stream.`, name)
    : new NotProved('added', `The archive has ${eventWords(name)}, which its manifest does not know.`, name)
}

/** Versions that record a salt put the vendor's key into the archive. @throws NotProved when it was taken out */
function checkIsOld(events: readonly ArchivedEvent[]): void {
  const salted = events.find(({ isSalted }) => isSalted)
  if (salted)
    throw new NotProved(
      'missing',
      `The archive lacks the record of the vendor's signing key, which every archive with an event like ${eventWords(nameOf(salted))} has. It was removed.`,
    )
}

function notProvedIn({
  licenseId,
  tenantId,
  withheld,
  signer,
  otherFiles,
}: Omit<ProvedArchive, 'notProved'>): string[] {
  const events = withheld.map(
    (event) =>
      `Withheld, not proved: ${eventWords(event)}. The archive leaves its record out, because it has the hash of an imported key or names an event ` +
      'that has, and so nothing of it is proved: not what it says, and not that there is such an event.',
  )
  if (signer.known !== 'no')
    return tenantId === null
      ? [
          ...events,
          `Not proved: that license-${licenseId} is of ${signer.tenantId}. No event says whose it is.`,
        ]
      : events
  return [
    ...events,
    `Not proved: who made the archive. It is signed with the key ${signer.kid}, of which the log says nothing in this archive. ` +
      'If the vendor has that key, give it with --vendor-key.',
    `Not proved: that the archive is whole. Events of license-${licenseId} after the last one, and all of another stream, may be left out.`,
    `Not proved: ${otherFiles.join(', ')}.`,
  ]
}

/**
 * Reads the files of an archive.
 * @param path of a zip archive, or of the directory into which it was unpacked, which holds nothing else
 * @throws NotProved for a damaged archive, or an error of the file system
 */
export function readArchive(path: string): Map<string, Uint8Array> {
  if (!statSync(path).isDirectory()) return unzip(readWhole('The archive', path))
  return new Map(filesBelow(path, '').map((name) => [name, readWhole(name, join(path, name))]))
}

/** A file of gigabytes cannot be read at once, and no archive has one. @throws NotProved, or an error of the file system */
const readWhole = (what: string, path: string): Uint8Array => readingOf(what, () => readFileSync(path))

function filesBelow(directory: string, prefix: string): string[] {
  const entries = readdirSync(join(directory, prefix), { withFileTypes: true })
  if (entries.length === 0 && prefix !== '')
    throw new NotProved('added', `${prefix} is an empty directory, which no archive has. Remove it.`)
  return entries.flatMap((entry) => {
    const name = `${prefix}${entry.name}`
    if (entry.isDirectory()) return filesBelow(directory, `${name}/`)
    if (entry.isFile()) return [name]
    throw new NotProved('added', `${name} is neither a file nor a directory, as all of an archive is.`)
  })
}
