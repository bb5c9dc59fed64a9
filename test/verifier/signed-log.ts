import type { KeyObject } from 'node:crypto'
import { checkpointText } from '../../src/transparency/checkpoint.ts'
import { cosign } from '../../src/transparency/note/cosignature.ts'
import { privateKeyOf, publicBytesOf, signatureTypes } from '../../src/transparency/note/keys.ts'
import { formatNote } from '../../src/transparency/note/note.ts'
import { formatVerifierKey, signNote, verifierKey } from '../../src/transparency/note/verifier.ts'
import { formatProof } from '../../src/transparency/proof-file.ts'
import { type EventRecord, recordBytes } from '../../src/transparency/record.ts'
import { rootOf } from '../../src/transparency/tree/edge.ts'
import { rangesOfInclusion } from '../../src/transparency/tree/ranges.ts'
import { readHashes } from '../../src/transparency/tree/tiles.ts'
import { keptTiles } from '../transparency/kept-tiles.ts'

export const origin = 'licenses.example/ledger'
const privateKey = privateKeyOf(Buffer.alloc(32, 5))
const witnessKey = privateKeyOf(Buffer.alloc(32, 6))
const foreignKey = privateKeyOf(Buffer.alloc(32, 7))
const textOf = (name: string, type: 1 | 4, key: KeyObject) =>
  formatVerifierKey(verifierKey(name, type, publicBytesOf(key)))

export const key = textOf(origin, signatureTypes.ed25519, privateKey)
/** Of the same name, and of somebody else. */
export const otherKey = textOf(origin, signatureTypes.ed25519, foreignKey)
export const witnessName = 'witness.example/w1'
export const witness = textOf(witnessName, signatureTypes.cosignature, witnessKey)
/** When the witness signs. */
export const witnessedAt = '2026-11-21T09:30:00.000Z'

/** The events of two licenses, one after the other, in log order. */
export const eventsOf = (count: number): EventRecord[] =>
  Array.from({ length: count }, (_, at) => ({
    stream: `license-lic_${String(at % 2)}`,
    revision: Math.floor(at / 2),
    id: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
    type: at < 2 ? 'LicenseMinted' : 'DeviceActivated',
    data: { deviceId: `device-${String(at)}`, at: '2026-11-21T09:29:00.000Z' },
    metadata: { actor: 'operator:test' },
  }))

export const bytesOf = (events: readonly EventRecord[]): Uint8Array[] => events.map(recordBytes)

/** A log of records, with everything that a notary publishes of it. */
export function signedLog(records: readonly Uint8Array[], signer: 'own' | 'foreign' = 'own') {
  const { edge, read } = keptTiles(records)
  const size = records.length
  const text = checkpointText({ origin, size, root: rootOf(edge) })
  const by = signer === 'own' ? privateKey : foreignKey
  const note = { text, signatures: [signNote(origin, by, text)] }
  const seconds = Date.parse(witnessedAt) / 1000
  const checkpoint = formatNote(note)
  const cosigned = formatNote({
    text,
    signatures: [...note.signatures, cosign(witnessName, witnessKey, text, seconds)],
  })
  const proofOf = (index: number) => readHashes(rangesOfInclusion(index, size), size, read)
  return {
    size,
    edge,
    read,
    checkpoint,
    cosigned,
    proofOf,
    /** @returns the receipt of a record as it is on disk */
    async receiptOf(index: number, note: string = checkpoint): Promise<string> {
      const record = Buffer.from(records[index] ?? []).toString()
      return JSON.stringify({
        record,
        proof: formatProof({ index, proof: await proofOf(index), checkpoint: note }),
      })
    },
  }
}

/** @returns the finding of a check that has to fail, with the event that it names */
export async function findingOf(check: () => unknown): Promise<{ finding: unknown; event: unknown }> {
  try {
    await check()
  } catch (error) {
    if (!(error instanceof Error && 'finding' in error && 'event' in error)) throw error
    return { finding: error.finding, event: error.event }
  }
  throw new Error('it was proved')
}
