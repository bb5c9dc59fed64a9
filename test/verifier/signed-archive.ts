import { createHash, type KeyObject } from 'node:crypto'
import { entryOf, openPart, saltOf, sealedHash } from '../../src/transparency/entry.ts'
import { privateKeyOf, publicBytesOf, signBytes } from '../../src/transparency/note/keys.ts'
import { type EventRecord, recordBytes } from '../../src/transparency/record.ts'
import { leafHash } from '../../src/transparency/tree/edge.ts'
import { signedLog } from './signed-log.ts'

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

/** A signing key of a vendor. */
export function vendorKey(seed: number): { kid: string; publicKey: string; privateKey: KeyObject } {
  const privateKey = privateKeyOf(Buffer.alloc(32, seed))
  const bytes = publicBytesOf(privateKey)
  return { kid: sha256(bytes).slice(0, 16), publicKey: base64(bytes), privateKey }
}
type VendorKey = ReturnType<typeof vendorKey>

const at = '2026-11-21T09:29:00.000Z'
let made = 0

/** An event as the ledger records it now, with a salt, or as it did before. */
export function event(
  [stream, revision, type]: readonly [string, number, string],
  data: object,
  isSalted = true,
): EventRecord {
  made += 1
  const id = `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`
  const metadata = { actor: 'operator:test', schema: 1, ...(isSalted && { salt: sha256(id).slice(0, 32) }) }
  return { stream, revision, id, type, data: { ...data, at }, metadata }
}

/** What an archive withholds of the events of an imported license. */
type Withhold = (event: EventRecord) => boolean

/** The lines of an event and of its proof. */
export type Lines = { line: Record<string, unknown>; proof: Record<string, unknown> | null }

/** A log of events, from which archives are made as the ledger makes them. */
export function archivedLog(events: readonly EventRecord[]) {
  const log = signedLog(events.map(entryOf))
  const leaves = events.map((one) => leafHash(entryOf(one)))
  async function linesOf(stream: string, withhold: Withhold = () => false): Promise<Lines[]> {
    const own = events.flatMap((one, index) => (one.stream === stream ? [{ one, index }] : []))
    return Promise.all(
      own.map(async ({ one, index }) => {
        const proof = (await log.proofOf(index)).map(base64)
        const position = String(index * 100)
        const shown = openPart(one)
        if (!withhold(one)) {
          const record = Buffer.from(recordBytes(one)).toString()
          const line = { ...shown, position, metadata: one.metadata }
          return { line, proof: { index, record, proof } }
        }
        if (saltOf(one) === undefined) {
          const { id: _, ...line } = { ...shown, position }
          return { line, proof: await withheldProof(index) }
        }
        const open = Buffer.from(recordBytes(shown)).toString()
        return { line: { ...shown, position }, proof: { index, open, sealed: sealedHash(one), proof } }
      }),
    )
  }
  /** The proof of an event whose record an archive of an older version withholds. */
  async function withheldProof(index: number): Promise<Lines['proof']> {
    const [leaf, proof] = [leaves[index] ?? Buffer.of(), await log.proofOf(index)]
    return { index, leaf: base64(leaf), proof: proof.map(base64) }
  }
  return { ...log, linesOf, withheldProof }
}

/** What an archive is made of. */
export type Parts = {
  tenantId: string
  licenseId: string
  revision: number
  /** By the name of their file, without number and suffix. */
  lines: Record<string, Lines[]>
  others: Record<string, string>
  checkpoint: string
  signedBy: VendorKey
}

const jsonLines = (values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('')

/** The files of an archive, without its manifest. */
export function filesOf({ lines, others, checkpoint }: Parts): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  for (const [name, content] of Object.entries(others)) files.set(name, Buffer.from(content))
  for (const [name, of] of Object.entries(lines)) {
    files.set(`events/${name}-0001.jsonl`, Buffer.from(jsonLines(of.map(({ line }) => line))))
    files.set(`proofs/${name}-0001.jsonl`, Buffer.from(jsonLines(of.map(({ proof }) => proof))))
  }
  return files.set('proofs/checkpoint', Buffer.from(checkpoint))
}

/** Adds a manifest of all files, and its signature. */
export function signed(
  files: ReadonlyMap<string, Uint8Array>,
  { tenantId, licenseId, revision, signedBy }: Omit<Parts, 'lines' | 'others' | 'checkpoint'>,
): Map<string, Uint8Array> {
  const { kid, publicKey, privateKey } = signedBy
  const named = Array.from(files, ([name, content]) => ({
    name,
    size: content.length,
    sha256: sha256(content),
  }))
  const manifest = JSON.stringify({ version: 1, tenantId, licenseId, revision, kid, publicKey, files: named })
  const text = `evidence1|${kid}|${tenantId}|${licenseId}|${sha256(manifest)}`
  const signature = base64(signBytes(privateKey, Buffer.from(text)))
  return new Map(files)
    .set('manifest.json', Buffer.from(manifest))
    .set('signature.json', Buffer.from(`${JSON.stringify({ kid, signature })}\n`))
}

export const archiveOf = (parts: Parts): Map<string, Uint8Array> => signed(filesOf(parts), parts)
