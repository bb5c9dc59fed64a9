import type { LogEntry } from '../domain/recorded.ts'
import type { Withheld } from '../notary/withheld.ts'
import { lineOf, lineOfRecord } from './events.ts'
import { type ArchiveProofs, proofLine, recordIn } from './proofs.ts'
import { type ArchivedFile, batchesOf, lineFile, lineFiles } from './zip.ts'

/**
 * Files of events, and beside each a file with a proof of each line; null for an event that the checkpoint does not cover.
 * @param withheldOf which part of an event's record is left out
 * @param proofs undefined when the log was never signed: then there are events only
 */
export async function* eventFiles(
  name: string,
  entries: AsyncIterable<LogEntry>,
  withheldOf: (entry: LogEntry) => Withheld,
  proofs: ArchiveProofs | undefined,
): AsyncIterable<ArchivedFile> {
  if (!proofs) {
    yield* lineFiles(`events/${name}`, linesOf(entries, withheldOf))
    return
  }
  let number = 0
  for await (const batch of batchesOf(before(entries, proofs.through))) {
    const proved = await proofs.prove(batch)
    const lines = batch.map((entry, at) => {
      const inclusion = proved[at]
      const withheld = withheldOf(entry)
      if (!inclusion) return { line: lineOf(entry, withheld), proof: null }
      const record = recordIn(inclusion)
      return { line: lineOfRecord(entry, record, withheld), proof: proofLine(inclusion, record, withheld) }
    })
    number += 1
    yield lineFile(
      `events/${name}`,
      number,
      lines.map(({ line }) => line),
    )
    yield lineFile(
      `proofs/${name}`,
      number,
      lines.map(({ proof }) => proof),
    )
  }
}

async function* linesOf(
  entries: AsyncIterable<LogEntry>,
  withheldOf: (entry: LogEntry) => Withheld,
): AsyncIterable<object> {
  for await (const entry of entries) yield lineOf(entry, withheldOf(entry))
}

async function* before(entries: AsyncIterable<LogEntry>, through: bigint): AsyncIterable<LogEntry> {
  for await (const entry of entries) if (entry.position <= through) yield entry
}
