import { hash } from 'node:crypto'
import type { Origin } from '../commands/origin.ts'
import { signingKeyOf } from '../commands/signing-keys.ts'
import type { Ports } from '../ports.ts'
import { findCase } from './case.ts'
import { filesOf } from './files.ts'
import { type ArchivedFile, jsonFile, zipped } from './zip.ts'

/** What an evidence archive is made with. */
export type EvidencePorts = Ports<
  | 'db'
  | 'deriveId'
  | 'execute'
  | 'ledger'
  | 'now'
  | 'randomBytes'
  | 'receipts'
  | 'secrets'
  | 'signer'
  | 'subjects'
>

export type Evidence = {
  /** The revision of the license's last event in the archive. */
  revision: number
  /** The archive, created as fast as it is read, with one file in memory. An error ends it early. */
  archive: AsyncIterable<Buffer>
}

/**
 * Everything that is known of a license, as a signed zip archive. If nothing is recorded, counted, destroyed
 * or erased in between, its bytes are the same each time.
 * @returns undefined when the tenant has no such license
 * @throws SigningFailed before anything is read
 */
export async function gatherEvidence(
  ports: EvidencePorts,
  tenantId: string,
  licenseId: string,
  origin: Origin,
): Promise<Evidence | undefined> {
  const about = await findCase(ports, tenantId, licenseId)
  if (!about) return undefined
  const key = await signingKeyOf(ports, tenantId, origin)
  await ports.signer.prepare(tenantId, key)
  const { revision } = about.entry
  const sign = async (digest: string) => ({
    kid: key.kid,
    signature: await ports.signer.sign(
      tenantId,
      key,
      `evidence1|${key.kid}|${tenantId}|${licenseId}|${digest}`,
    ),
  })
  const head = { version: 1, tenantId, licenseId, revision, kid: key.kid, publicKey: key.publicKey }
  return { revision, archive: zipped(signed(filesOf(ports, about), head, sign)) }
}

/** The files, then a manifest with the SHA-256 of each, then a signature over the manifest's SHA-256. */
async function* signed(
  files: AsyncIterable<ArchivedFile>,
  head: object,
  sign: (digest: string) => Promise<object>,
): AsyncIterable<ArchivedFile> {
  const listed: { name: string; size: number; sha256: string }[] = []
  for await (const file of files) {
    const { name, content } = file
    listed.push({ name, size: content.length, sha256: hash('sha256', content, 'hex') })
    yield file
  }
  const manifest = jsonFile('manifest.json', { ...head, files: listed })
  yield manifest
  const signature = await sign(hash('sha256', manifest.content, 'hex'))
  yield { name: 'signature.json', content: Buffer.from(`${JSON.stringify(signature)}\n`) }
}
