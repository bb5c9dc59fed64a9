import type { ProvedArchive } from './archive.ts'
import type { ProvedLog } from './log.ts'
import { eventWords } from './not-proved.ts'
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

export const receiptLines = ({ event, checkpoint }: ProvedReceipt): string[] => [
  `Proved: ${event.type} is ${eventWords({ index: event.index, stream: event.stream, revision: event.revision })}.`,
  `Event id: ${event.id}`,
  ...(event.at === null ? [] : [`The event states that it happened at ${event.at}.`]),
  ...checkpointLines(checkpoint),
]

export const archiveLines = ({
  tenantId,
  licenseId,
  events,
  withheld,
  revisions,
  checkpoint,
}: ProvedArchive): string[] => [
  `Proved: ${String(events)} events about the license ${licenseId} of ${tenantId} are in the log as they are in the archive.`,
  `The license has the revisions 0 to ${String(revisions - 1)} without a gap.`,
  ...withheld.map(
    (event) =>
      `Not proved: the content of ${eventWords(event)}. Only its place is, because its record has the hash of an imported key.`,
  ),
  ...checkpointLines(checkpoint),
]

export const logLines = ({ checkpoint, records, kept }: ProvedLog): string[] => [
  `Proved: the tiles${records ? ' and the records' : ''} are those of the checkpoint.`,
  ...checkpointLines(checkpoint),
  ...(kept ? [`It begins with the ${String(kept.size)} events of the kept checkpoint, unchanged.`] : []),
]

export const serverLines = ({ checkpoint, kept }: ProvedServer): string[] => [
  `Proved: the log of the server begins with the ${String(kept.size)} events of the kept checkpoint, unchanged.`,
  ...checkpointLines(checkpoint),
]
