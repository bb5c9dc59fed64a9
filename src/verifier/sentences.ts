import type { ProvedArchive } from './archive.ts'
import type { Signer } from './archive-signature.ts'
import type { ProvedLog } from './log.ts'
import { eventWords, printable } from './not-proved.ts'
import type { ProvedReceipt } from './receipt.ts'
import type { ProvedServer } from './server.ts'
import type { TrustedCheckpoint } from './trust.ts'

/** A checkpoint in words, with its witnesses. */
function checkpointLines({ origin, size, cosigned }: TrustedCheckpoint): string[] {
  return [
    `Checkpoint: ${String(size)} events of ${origin}, signed by the log.`,
    ...cosigned.map(({ witness, at }) => `Witness: ${witness} saw this log at ${at}.`),
  ]
}

/** The first line when something is not proved. */
const inPart = (notProved: readonly string[]): string[] =>
  notProved.length === 0 ? [] : ['PROVED IN PART. What is not proved stands at the end.']

export const receiptLines = ({ event, checkpoint, notProved }: ProvedReceipt): string[] =>
  [
    ...inPart(notProved),
    `Proved: ${event.type} is ${eventWords({ index: event.index, stream: event.stream, revision: event.revision })}.`,
    `Event id: ${event.id}`,
    ...(event.at === null ? [] : [`The event states that it happened at ${event.at}.`]),
    ...checkpointLines(checkpoint),
    ...notProved,
  ].map(printable)

export const archiveLines = (proved: ProvedArchive): string[] =>
  [
    ...inPart(proved.notProved),
    ...provedLines(proved),
    ...proved.keyWithheld.map(
      (event) => `Withheld: the hash of the key in ${eventWords(event)}. All else of that event is proved.`,
    ),
    ...signerLines(proved),
    ...checkpointLines(proved.checkpoint),
    ...proved.notProved,
  ].map(printable)

function provedLines({ events, streams, licenseId, tenantId, license }: ProvedArchive): string[] {
  const name = `license-${licenseId}${tenantId === null ? '' : ` of ${tenantId}`}`
  const until = String(license.revision)
  return [
    ...(events === 0
      ? []
      : [
          `Proved: ${String(events)} events of ${String(streams)} streams are in the log as they are in the archive, except for their positions.`,
        ]),
    license.events > license.revision
      ? `Proved: ${name} has the revisions 0 to ${until}, without a gap.`
      : license.events > 0
        ? `Proved: of ${name}, ${String(license.events)} of the revisions 0 to ${until}. The others are withheld.`
        : `Nothing of ${name} is proved: all its events are withheld.`,
  ]
}

const known: Record<Signer['known'], string> = {
  given: 'which was given',
  'in the log': 'which the log has as its signing key',
  no: '',
}

function signerLines({ signer, license, otherFiles }: ProvedArchive): string[] {
  if (signer.known === 'no') return []
  return [
    `Signed: by ${signer.tenantId} with the key ${signer.kid}, ${known[signer.known]}.`,
    `It states that the license ended with revision ${String(license.revision)} when the archive was made, that no stream about it is left out, and ` +
      `these files: ${otherFiles.join(', ')}.`,
  ]
}

export const logLines = ({ checkpoint, records, kept }: ProvedLog): string[] => [
  `Proved: the tiles${records ? ' and the records' : ''} are those of the checkpoint.`,
  ...checkpointLines(checkpoint),
  ...(kept ? [`It begins with the ${String(kept.size)} events of the kept checkpoint, unchanged.`] : []),
]

export const serverLines = ({ checkpoint, kept }: ProvedServer): string[] => [
  `Proved: the log of the server begins with the ${String(kept.size)} events of the kept checkpoint, unchanged.`,
  ...checkpointLines(checkpoint),
]
