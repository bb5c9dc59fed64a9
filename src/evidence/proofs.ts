import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { LogEntry } from '../domain/recorded.ts'
import { licenseStream } from '../domain/streams.ts'
import type { Inclusion, Prover } from '../notary/receipt.ts'
import { readNotaryLog } from '../notary/signing-log.ts'
import type { Ports } from '../ports.ts'
import type { EventRecord } from '../transparency/record.ts'
import { leafHash } from '../transparency/tree/hash.ts'
import type { Case } from './case.ts'

/** The proofs of an archive, which all lead to one checkpoint. */
export type ArchiveProofs = {
  checkpoint: string
  /** The public keys of the log, one a line. */
  keys: string
  /** Where the archive ends in the log: with the checkpoint, if it covers all events of the license. */
  through: bigint
  prove: (entries: readonly LogEntry[]) => Promise<(Inclusion | undefined)[]>
  /** Whether the record would tell the hash of an imported key, which may be short enough to guess. */
  tellsKey: (record: EventRecord) => boolean
}

/** The notary signs once a second. Without it, an archive is not delayed for longer. */
const waitMs = 2000
const pollMs = 100

/**
 * Opens the proofs of the events about a license, and waits for the checkpoint of its last event.
 * @returns undefined when the log was never signed
 */
export async function openProofs(
  { ledger, receipts }: Ports<'ledger' | 'receipts'>,
  { licenseId, entry }: Case,
): Promise<ArchiveProofs | undefined> {
  const last = await ledger.eventOf(licenseStream(licenseId), entry.revision)
  const isCovered = (prover: Prover) => last !== undefined && last.position <= prover.through
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
    tellsKey: ({ data }) => entry.license.source === 'import' && hasKeyHash(data),
  }
}

const hasKeyHash = (data: unknown): boolean => typeof data === 'object' && data !== null && 'keyHash' in data

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

/** A proof as a line of the archive: with the record, or when that would tell too much, with its hash. */
export function proofLine({ index, record, proof }: Inclusion, tellsKey: boolean): object {
  const hashes = proof.map((hash) => Buffer.from(hash).toString('base64'))
  if (!tellsKey) return { index, record, proof: hashes }
  return { index, leaf: Buffer.from(leafHash(Buffer.from(record))).toString('base64'), proof: hashes }
}
