/** Guarantee: every event of an archive is proved, none is left out, and the first one that is wrong is named. */
import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { zipped } from '../../src/evidence/zip.ts'
import { leafHash } from '../../src/transparency/tree/hash.ts'
import { verifyArchive } from '../../src/verifier/archive.ts'
import { trustIn } from '../../src/verifier/trust.ts'
import { unzip } from '../../src/verifier/unzip.ts'
import { bytesOf, eventsOf, findingOf, key, otherKey, signedLog } from './signed-log.ts'

const events = eventsOf(40)
const records = bytesOf(events)
const log = signedLog(records)
const trust = trustIn([key], [])

/** The lines of the first license, and their proofs. */
const own = events.flatMap((event, index) => (event.stream === 'license-lic_0' ? [{ event, index }] : []))
const lineOf = ({ event, index }: (typeof own)[number]) => ({ ...event, position: String(index * 100) })
const proofOf = async ({ index }: (typeof own)[number]) => ({
  index,
  record: Buffer.from(records[index] ?? []).toString(),
  proof: (await log.proofOf(index)).map((bytes) => Buffer.from(bytes).toString('base64')),
})

type Parts = { lines: object[]; proofs: (object | null)[]; revision: number; checkpoint: string }
const whole = async (): Promise<Parts> => ({
  lines: own.map(lineOf),
  proofs: await Promise.all(own.map(proofOf)),
  revision: own.length - 1,
  checkpoint: log.checkpoint,
})

const jsonLines = (values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('')

function archiveOf({ lines, proofs, revision, checkpoint }: Parts): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>([
    ['events/license-0001.jsonl', Buffer.from(jsonLines(lines))],
    ['proofs/license-0001.jsonl', Buffer.from(jsonLines(proofs))],
    ['proofs/checkpoint', Buffer.from(checkpoint)],
  ])
  const named = Array.from(files, ([name, content]) => ({ name, sha256: hash('sha256', content, 'hex') }))
  const manifest = { tenantId: 'acme', licenseId: 'lic_0', revision, files: named }
  return files.set('manifest.json', Buffer.from(JSON.stringify(manifest)))
}

const find = async (change: (parts: Parts) => Parts) => {
  const parts = change(await whole())
  return findingOf(() => verifyArchive(archiveOf(parts), trust))
}
const named = (revision: number) => ({ stream: 'license-lic_0', revision, type: 'DeviceActivated' })

test('an unchanged archive is proved', async () => {
  expect(verifyArchive(archiveOf(await whole()), trust)).toMatchObject({
    tenantId: 'acme',
    licenseId: 'lic_0',
    events: 20,
    revisions: 20,
    withheld: [],
    checkpoint: { size: 40 },
  })
})

describe('it finds', () => {
  test('a changed line, also where the record is right', async () => {
    const found = await find((parts) => ({
      ...parts,
      lines: parts.lines.with(5, { ...parts.lines[5], data: { deviceId: 'other' } }),
    }))
    expect(found).toStrictEqual({ finding: 'differs', event: named(5) })
  })

  test('a line and a record that were changed together', async () => {
    const other = (text: string) => text.replace('device-10', 'device-99')
    const found = await find((parts) => ({
      ...parts,
      lines: JSON.parse(other(JSON.stringify(parts.lines))) as object[],
      proofs: JSON.parse(other(JSON.stringify(parts.proofs))) as object[],
    }))
    expect(found).toStrictEqual({ finding: 'differs', event: { ...named(5), index: 10 } })
  })

  test('a removed event, in the middle and at the end', async () => {
    const without = (at: number) => (parts: Parts) => ({
      ...parts,
      lines: parts.lines.toSpliced(at, 1),
      proofs: parts.proofs.toSpliced(at, 1),
    })
    const { type: _, ...fifth } = named(5)
    expect(await find(without(5))).toStrictEqual({ finding: 'missing', event: fifth })
    expect(await find(without(19))).toStrictEqual({ finding: 'missing', event: { ...fifth, revision: 19 } })
    const none = await find((parts) => ({ ...parts, lines: [], proofs: [], revision: -1 }))
    expect(none.finding).toBe('malformed')
    const lineOnly = await find((parts) => ({ ...parts, lines: parts.lines.slice(0, -1) }))
    expect(lineOnly.finding).toBe('missing')
  })

  test('an added event', async () => {
    const found = await find((parts) => ({
      ...parts,
      lines: [...parts.lines, { ...parts.lines[19], revision: 20 }],
    }))
    expect(found).toStrictEqual({ finding: 'not_covered', event: named(20) })
  })

  test('events in another order, with and without their proofs', async () => {
    const swapped = <T>(all: readonly T[]) => all.toSpliced(5, 2, ...all.slice(5, 7).toReversed())
    const both = await find((parts) => ({
      ...parts,
      lines: swapped(parts.lines),
      proofs: swapped(parts.proofs),
    }))
    expect(both.finding).toBe('missing')
    const one = await find((parts) => ({ ...parts, lines: swapped(parts.lines) }))
    expect(one).toStrictEqual({ finding: 'order', event: named(6) })
  })

  test('a checkpoint of another size or signer, and a missing one', async () => {
    const older = signedLog(records.slice(0, 39)).checkpoint
    expect((await find((parts) => ({ ...parts, checkpoint: older }))).finding).toBe('differs')
    const archive = archiveOf(await whole())
    const { finding } = await findingOf(() => verifyArchive(archive, trustIn([otherKey], [])))
    expect(finding).toBe('foreign_key')
    archive.delete('proofs/checkpoint')
    expect((await findingOf(() => verifyArchive(archive, trust))).finding).toBe('missing')
  })

  test('a file that differs from the manifest, is missing or was added', async () => {
    const archive = archiveOf(await whole())
    const change = async (name: string, content: Uint8Array | undefined) => {
      const files = new Map(archive)
      if (content) files.set(name, content)
      else files.delete(name)
      return (await findingOf(() => verifyArchive(files, trust))).finding
    }
    expect(await change('events/license-0001.jsonl', Buffer.from('{}\n'))).toBe('differs')
    expect(await change('proofs/license-0001.jsonl', undefined)).toBe('missing')
    expect(await change('events/sale-0001.jsonl', Buffer.from('{}\n'))).toBe('added')
    expect(await change('manifest.json', Buffer.from('nonsense'))).toBe('malformed')
  })
})

test('of an imported key, the place is proved and the content is said not to be', async () => {
  const imported = events.map((event, at) => (at === 0 ? { ...event, type: 'LicenseImported' } : event))
  const importedLog = signedLog(bytesOf(imported))
  const parts = await whole()
  const index = 0
  const proof = (await importedLog.proofOf(index)).map((bytes) => Buffer.from(bytes).toString('base64'))
  const leaf = Buffer.from(leafHash(bytesOf(imported)[0] ?? Buffer.of())).toString('base64')
  const withheld = { index, leaf, proof }
  const proofs = await Promise.all(
    own.slice(1).map(async (one) => ({
      ...(await proofOf(one)),
      proof: (await importedLog.proofOf(one.index)).map((bytes) => Buffer.from(bytes).toString('base64')),
    })),
  )
  const lines = parts.lines.with(0, { ...parts.lines[0], type: 'LicenseImported' })
  const archive = { ...parts, lines, proofs: [withheld, ...proofs], checkpoint: importedLog.checkpoint }
  const name = { stream: 'license-lic_0', revision: 0, type: 'LicenseImported' }
  expect(verifyArchive(archiveOf(archive), trust)).toMatchObject({ events: 19, withheld: [name] })

  const elsewhere = { ...archive, proofs: [{ ...withheld, index: 1 }, ...proofs] }
  expect((await findingOf(() => verifyArchive(archiveOf(elsewhere), trust))).finding).toBe('differs')
  const other = { ...archive, lines: parts.lines }
  expect((await findingOf(() => verifyArchive(archiveOf(other), trust))).finding).toBe('missing')
})

describe('a zip archive', () => {
  const packed = async () => {
    async function* files() {
      for (const [name, content] of archiveOf(await whole())) yield { name, content: Buffer.from(content) }
    }
    const chunks: Buffer[] = []
    for await (const chunk of zipped(files())) chunks.push(chunk)
    return Buffer.concat(chunks)
  }

  test('is read as it was made', async () => {
    expect(unzip(await packed())).toEqual(archiveOf(await whole()))
  })

  test('that is cut, or no archive, is refused', async () => {
    const zip = await packed()
    for (const bytes of [zip.subarray(0, -30), zip.subarray(100), Buffer.from('no archive'), Buffer.of()])
      expect((await findingOf(() => unzip(bytes))).finding).toBe('malformed')
  })
})
