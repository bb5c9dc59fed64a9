import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { LogEntry } from '../domain/recorded.ts'
import { licenseStream, signingStream } from '../domain/streams.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Inclusion, Prover } from '../notary/receipt.ts'
import { readNotaryLog } from '../notary/signing-log.ts'
import type { Withheld } from '../notary/withheld.ts'
import type { Ports } from '../ports.ts'
import { entryOf, openPart, sealedHash } from '../transparency/entry.ts'
import { type EventRecord, recordBytes } from '../transparency/record.ts'
import { leafHash } from '../transparency/tree/edge.ts'
import type { Case } from './case.ts'

/** The proofs of an archive, which all lead to one checkpoint. */
export type ArchiveProofs = {
  checkpoint: string
  /** The public keys of the log, one a line. */
  keys: string
  /** Where the archive ends in the log: with the checkpoint, if it covers all events of the license. */
  through: bigint
  prove: (entries: readonly LogEntry[]) => Promise<(Inclusion | undefined)[]>
}

/** The notary signs once a second. Without it, an archive is not delayed for longer. */
const waitMs = 2000
const pollMs = 100

/**
 * Opens the proofs of the events about a license, and waits for the checkpoint of its last event and of the key that signs the
 * archive, which may have been made for it.
 * @returns undefined when the log was never signed
 */
export async function openProofs(
  { ledger, receipts }: Ports<'ledger' | 'receipts'>,
  { tenantId, licenseId, entry }: Case,
): Promise<ArchiveProofs | undefined> {
  const last = await ledger.eventOf(licenseStream(licenseId), entry.revision)
  const signingKey = await lastPositionOf(ledger, signingStream(tenantId))
  const isCovered = (prover: Prover) =>
    last !== undefined && last.position <= prover.through && signingKey <= prover.through
  let prover = await receipts.open()
  for (let waited = 0; prover && !isCovered(prover) && waited < waitMs; waited += pollMs) {
    await pause(pollMs)
    prover = await receipts.open()
  }
  if (!prover) return undefined
  const { keys } = await readNotaryLog({ ledger })
  const { checkpoint, prove, through } = prover
  return {
    checkpoint,
    keys: `${keys.join('\n')}\n`,
    through: isCovered(prover) ? through : 2n ** 63n,
    prove,
  }
}

async function lastPositionOf(ledger: Pick<Ledger, 'readStream'>, stream: string): Promise<bigint> {
  let last = -1n
  for await (const { position } of ledger.readStream(stream)) last = position
  return last
}

/** The canonical record of an event, which this process has made. */
export const recordIn = (inclusion: Inclusion): EventRecord => Record.parse(JSON.parse(inclusion.record))

const Record = z.object({
  stream: z.string(),
  revision: z.int(),
  id: z.string(),
  type: z.string(),
  data: z.unknown(),
  metadata: z.unknown(),
})

/** A proof as a line of the archive: with the record, or with what takes the place of its withheld part. */
export function proofLine(
  { index, record: text, proof }: Inclusion,
  record: EventRecord,
  withheld: Withheld,
): object {
  const hashes = proof.map((hash) => Buffer.from(hash).toString('base64'))
  switch (withheld) {
    case 'nothing':
      return { index, record: text, proof: hashes }
    case 'key': {
      const open = Buffer.from(recordBytes(openPart(record))).toString()
      return { index, open, sealed: sealedHash(record), proof: hashes }
    }
    case 'event':
      return { index, leaf: Buffer.from(leafHash(entryOf(record))).toString('base64'), proof: hashes }
  }
}
