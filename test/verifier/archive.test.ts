/**
 * Guarantee: what is said to be proved is proved. A forger who has everything but the keys of the log and of the vendor
 * is found, and what was forged is named.
 */
import { describe, expect, test } from 'vitest'
import { verifyArchive } from '../../src/verifier/archive.ts'
import { type ArchiveFiles, textOf } from '../../src/verifier/archive-files.ts'
import { archiveLines } from '../../src/verifier/sentences.ts'
import { trustIn } from '../../src/verifier/trust.ts'
import {
  acmeKey,
  forgerKey,
  hasKey,
  keyHash,
  log,
  newParts,
  oldParts,
  otherVendorKey,
  partsOf,
} from './archive-samples.ts'
import { archiveOf, filesOf, type Lines, type Parts, signed } from './signed-archive.ts'
import { findingOf, key, otherKey, signedLog } from './signed-log.ts'

const trust = trustIn([key], [])
const verify = (files: ArchiveFiles) => verifyArchive(files, trust)
const find = async (parts: Parts | Promise<Parts>) => findingOf(async () => verify(archiveOf(await parts)))
/** The same archive with lines changed. */
const changing = (parts: Parts, file: string, change: (lines: Lines[]) => Lines[]): Parts => ({
  ...parts,
  lines: { ...parts.lines, [file]: change(parts.lines[file] ?? []) },
})
const forgerySigned = (parts: Parts): Parts => {
  const { signing: _, ...lines } = parts.lines
  return { ...parts, lines, signedBy: forgerKey }
}

describe('an honest archive', () => {
  test('is proved as a whole, with the end of its streams and its other files', async () => {
    const proved = verify(archiveOf(await newParts()))
    expect(proved).toMatchObject({ tenantId: 'acme', events: 6, streams: 3, notProved: [] })
    expect(proved.signer).toStrictEqual({ tenantId: 'acme', kid: acmeKey.kid, known: 'in the log' })
    expect(archiveLines(proved)).toStrictEqual([
      'Proved: 6 events of 3 streams are in the log as they are in the archive, except for their positions.',
      'Proved: license-new of acme has the revisions 0 to 2, without a gap.',
      `Signed: by acme with the key ${acmeKey.kid}, which the log has as its signing key.`,
      'It states that the license ended with revision 2 when the archive was made, that no stream about it is left out, and these ' +
        'files: README.txt, license.json, proofs/keys.txt, proofs/checkpoint.',
      'Checkpoint: 16 events of licenses.example/ledger, signed by the log.',
    ])
  })

  test('of an imported key is proved except for the hash of the key', async () => {
    const proved = verify(archiveOf(await partsOf('import')))
    const name = { stream: 'license-import', revision: 0, type: 'LicenseImported' }
    expect(proved).toMatchObject({ keyWithheld: [name], withheld: [], notProved: [] })
    expect([...archiveOf(await partsOf('import')).values()].join('')).not.toContain(keyHash)
  })

  test('of an older version is proved, and what it cannot prove is said', async () => {
    const files = archiveOf(await oldParts())
    const { notProved, ...proved } = verify(files)
    expect(proved).toMatchObject({ tenantId: 'acme', events: 2, signer: { known: 'no' } })
    expect(notProved.join('\n')).toMatch(
      /who made the archive[\s\S]*is whole[\s\S]*README\.txt, license\.json/,
    )
    expect(verifyArchive(files, trust, [acmeKey.publicKey])).toMatchObject({
      notProved: [],
      signer: { known: 'given' },
    })
  })

  test('of a withheld import is said to be of nobody, although a tenant of the log signed it', async () => {
    const parts = await partsOf('before')
    const signing = await log.linesOf('signing-other')
    const proved = verify(
      archiveOf({
        ...parts,
        tenantId: 'other',
        signedBy: otherVendorKey,
        lines: { ...parts.lines, signing },
      }),
    )
    expect(proved).toMatchObject({ tenantId: null, signer: { tenantId: 'other', known: 'in the log' } })
    expect(archiveLines(proved)).toContain(
      'Not proved: that license-before is of other. No event says whose it is.',
    )
  })

  test('of an older version whose record is withheld says that nothing of that event is proved', async () => {
    const proved = verifyArchive(archiveOf(await oldParts('before')), trust, [acmeKey.publicKey])
    expect(proved.withheld.map(({ revision }) => revision)).toStrictEqual([0, 2])
    expect(proved.license).toStrictEqual({ events: 1, revision: 2 })
    const lines = archiveLines(proved)
    expect(lines[0]).toMatch(/^PROVED IN PART/)
    expect(lines).toContain(
      'Proved: of license-before of acme, 1 of the revisions 0 to 2. The others are withheld.',
    )
    expect(lines.at(-1)).toMatch(/^Withheld, not proved: license-before, revision 2 \(KeyMailAsked\)/)
  })
})

describe('a forged manifest is found:', () => {
  /** With the manifest changed, and not signed again. */
  const edited = async (from: string, to: string) => {
    const files = archiveOf(await newParts())
    return files.set('manifest.json', Buffer.from(textOf(files, 'manifest.json').replace(from, to)))
  }
  const findIn = (files: ArchiveFiles) => findingOf(() => verify(files))

  test('its tenant, end or files were changed', async () => {
    for (const [from, to] of [
      ['"acme"', '"other"'],
      ['"revision":2', '"revision":1'],
      ['license.json', 'licence.json'],
    ] as const)
      expect(await findIn(await edited(from, to))).toMatchObject({ finding: 'wrong_signature' })
  })

  test('its signature is missing, damaged, or of another archive', async () => {
    const files = archiveOf(await newParts())
    const other = archiveOf(await partsOf('import')).get('signature.json') ?? Buffer.of()
    expect(await findIn(new Map(files).set('signature.json', other))).toMatchObject({
      finding: 'wrong_signature',
    })
    const damaged = Buffer.from(textOf(files, 'signature.json').replace('"kid"', '"kit"'))
    expect(await findIn(new Map(files).set('signature.json', damaged))).toMatchObject({
      finding: 'malformed',
    })
    files.delete('signature.json')
    expect(await findIn(files)).toMatchObject({ finding: 'missing' })
  })

  test('a forger signed it, with and without the record of the real key', async () => {
    const parts = await newParts()
    expect(await find({ ...parts, signedBy: forgerKey })).toMatchObject({ finding: 'foreign_key' })
    expect(await find({ ...parts, signedBy: otherVendorKey })).toMatchObject({ finding: 'foreign_key' })
    expect(() => verify(archiveOf(forgerySigned(parts)))).toThrow(
      "lacks the record of the vendor's signing key",
    )
  })

  test('a forger signed one of an older version: then who signed it, its end and its files are not proved', async () => {
    const { lines, ...parts } = await oldParts()
    const cut = { ...parts, lines: { license: lines.license?.slice(0, 1) ?? [] }, revision: 0 }
    const proved = verify(
      archiveOf({ ...cut, others: { 'license.json': '{"forged":1}' }, signedBy: forgerKey }),
    )
    expect(proved.notProved).toHaveLength(3)
    expect(archiveLines(proved).join('\n')).not.toMatch(/Signed:|ended with/)
    expect(() =>
      verifyArchive(archiveOf({ ...cut, signedBy: forgerKey }), trust, [acmeKey.publicKey]),
    ).toThrow('none of the given keys')
  })

  test('it says another tenant: of a proved license, and with the key of that tenant', async () => {
    const other = { tenantId: 'other', signedBy: otherVendorKey }
    const signing = await log.linesOf('signing-other')
    const parts = await newParts()
    expect(await find({ ...parts, ...other, lines: { ...parts.lines, signing } })).toMatchObject({
      finding: 'foreign_tenant',
    })
    expect(await find({ ...(await oldParts()), ...other })).toMatchObject({ finding: 'foreign_tenant' })
  })

  test('a file is named twice, or has a name that none has', async () => {
    const parts = await oldParts()
    for (const name of [
      'Events/license-0001.jsonl',
      '../license.json',
      'events/../x.json',
      'LICENSE.json',
      'a\u202e.json',
      '/etc/passwd',
      'license.json ',
    ])
      expect(await find({ ...parts, others: { [name]: '' } }), name).toMatchObject({ finding: 'added' })
    const files = archiveOf(parts)
    const manifest = textOf(files, 'manifest.json').replace(
      '"files":[',
      '"files":[{"name":"x.json","size":0,"sha256":""},',
    )
    expect(await findIn(files.set('manifest.json', Buffer.from(manifest)))).toMatchObject({
      finding: 'wrong_signature',
    })
    const twice = manifest.replace('"revision"', '"revision":7,"revision"')
    expect(() => verify(files.set('manifest.json', Buffer.from(twice)))).toThrow('the member revision twice')
  })
})

describe('a forged event is found:', () => {
  test('the last one was replaced by an invented one whose record is said to be withheld', async () => {
    const proof = await log.withheldProof(13)
    const invented = (type: string) => (lines: Lines[]) => {
      const { id: _, ...line } = lines.at(-1)?.line ?? {}
      return lines.with(-1, { line: { ...line, type, data: { forged: true } }, proof })
    }
    const type = 'KeyMailAsked'
    expect(await find(changing(await oldParts(), 'license', invented('DeviceActivated')))).toMatchObject({
      finding: 'missing',
    })
    const ofNew = forgerySigned(changing(await newParts(), 'license', invented(type)))
    expect(await find(ofNew)).toMatchObject({ finding: 'missing' })
    const proved = verify(archiveOf(forgerySigned(changing(await oldParts(), 'license', invented(type)))))
    expect(proved).toMatchObject({ events: 1, withheld: [{ stream: 'license-old', revision: 1, type }] })
    expect(proved.notProved[0]).toMatch(/^Withheld, not proved: license-old, revision 1 \(KeyMailAsked\)/)
  })

  test('an invented license is not said to be proved', async () => {
    const [real] = await log.linesOf('license-before', hasKey)
    const line = { ...real?.line, stream: 'license-invented', data: { tenantId: 'acme' } }
    const parts = { ...(await oldParts()), licenseId: 'invented', revision: 0, signedBy: forgerKey }
    const lines = { license: [{ line, proof: real?.proof ?? null }] }
    const said = archiveLines(verify(archiveOf({ ...parts, lines })))
    expect(said).toContain('Nothing of license-invented is proved: all its events are withheld.')
    expect(said.filter((sentence) => sentence.startsWith('Proved'))).toStrictEqual([])
  })

  test('the stream, revision or type of one whose key is withheld was changed', async () => {
    for (const change of [
      { type: 'KeyMailAsked' },
      { stream: 'license-new' },
      { data: { deviceLimit: 99 } },
      { id: 'x' },
    ]) {
      const forged = changing(await partsOf('import'), 'license', ([first, ...rest]) => {
        const open = JSON.stringify({ ...JSON.parse(String(first?.proof?.open)), ...change }) as string
        return [{ line: { ...first?.line, ...change }, proof: { ...first?.proof, open } }, ...rest]
      })
      expect((await find(forged)).finding, JSON.stringify(change)).toBe('differs')
    }
  })

  test('another content, with and without its record', async () => {
    const change = (text: string) => text.replaceAll('device-1', 'device-9')
    const event = { stream: 'license-new', revision: 1, type: 'DeviceActivated' }
    const line = changing(await newParts(), 'license', (lines) =>
      lines.map((one) => ({ ...one, line: JSON.parse(change(JSON.stringify(one.line))) as Lines['line'] })),
    )
    expect(await find(line)).toStrictEqual({ finding: 'differs', event })
    const both = changing(
      await newParts(),
      'license',
      (lines) => JSON.parse(change(JSON.stringify(lines))) as Lines[],
    )
    expect(await find(both)).toStrictEqual({ finding: 'differs', event: { ...event, index: 8 } })
  })

  test('removed at the beginning, in the middle or at the end, or added', async () => {
    const parts = await newParts()
    const event = (revision: number) => ({ stream: 'license-new', revision })
    for (const revision of [0, 1, 2])
      expect(await find(changing(parts, 'license', (lines) => lines.toSpliced(revision, 1)))).toStrictEqual({
        finding: 'missing',
        event: event(revision),
      })
    const added = changing(parts, 'license', (lines) => [
      ...lines,
      { line: { ...lines[2]?.line, revision: 3 }, proof: null },
    ])
    expect(await find(added)).toMatchObject({ finding: 'not_covered', event: event(3) })
    const more = await find({ ...parts, revision: 1 })
    expect(more).toMatchObject({ finding: 'added', event: event(2) })
  })

  test('events in another order, with and without their proofs', async () => {
    const parts = await newParts()
    const swapped = changing(parts, 'license', (lines) => [...lines.slice(0, 1), ...lines.slice(1).reverse()])
    expect((await find(swapped)).finding).toBe('missing')
    const crossed = changing(parts, 'license', (lines) =>
      lines.map(({ line }, at) => ({ line, proof: lines[[0, 2, 1][at] ?? 0]?.proof ?? null })),
    )
    expect((await find(crossed)).finding).toBe('order')
  })

  test('a member of a line given twice, of which programs show different ones', async () => {
    const parts = await oldParts()
    const files = filesOf(parts)
    const text = textOf(files, 'events/license-0001.jsonl').replace(
      '"revision":1',
      '"revision":7,"revision":1',
    )
    files.set('events/license-0001.jsonl', Buffer.from(text))
    expect(() => verify(signed(files, parts))).toThrow(
      'Line 2 of events/license-0001.jsonl has the member revision twice',
    )
  })

  test('of another tenant', async () => {
    const parts = await oldParts()
    const sale = await log.linesOf('license-foreign')
    expect(await find({ ...parts, lines: { ...parts.lines, sale } })).toMatchObject({
      finding: 'foreign_tenant',
    })
  })

  test('half a surrogate pair, a number that is none, and a nesting without end', async () => {
    const parts = await newParts()
    for (const value of ['"\\ud800"', '1e999', `${'['.repeat(50_000)}${']'.repeat(50_000)}`]) {
      const forged = changing(parts, 'license', ([first, ...rest]) => {
        const record = String(first?.proof?.record).replace('"acme"', value)
        return [{ line: first?.line ?? {}, proof: { ...first?.proof, record } }, ...rest]
      })
      expect((await find(forged)).finding, value.slice(0, 9)).toBe('malformed')
    }
  })

  test('names with line breaks do not begin a line of their own', async () => {
    const licenseId = 'x\nProved: everything\u202e'
    const [real] = await log.linesOf('license-before', hasKey)
    const line = { ...real?.line, stream: `license-${licenseId}` }
    const lines = { license: [{ line, proof: real?.proof ?? null }] }
    const parts = { ...(await oldParts()), licenseId, revision: 0, lines, signedBy: forgerKey }
    expect(archiveLines(verify(archiveOf(parts))).join('')).not.toMatch(/[\n\u202e]/)
  })
})

describe('a forged file is found:', () => {
  test('a changed, missing or added one', async () => {
    const archive = archiveOf(await newParts())
    const change = async (name: string, content: string | undefined) => {
      const files = new Map(archive)
      if (content === undefined) files.delete(name)
      else files.set(name, Buffer.from(content))
      return (await findingOf(() => verify(files))).finding
    }
    expect(await change('events/license-0001.jsonl', '{}\n')).toBe('differs')
    expect(await change('license.json', '{"forged":true}')).toBe('differs')
    expect(await change('proofs/license-0001.jsonl', undefined)).toBe('missing')
    expect(await change('README.txt', undefined)).toBe('missing')
    for (const name of [
      'events/sale-0002.jsonl',
      'Events/license-0001.jsonl',
      'LICENSE.JSON',
      'extra.html',
      '../x',
      'ä.json',
    ])
      expect(await change(name, '{}\n'), name).toBe('added')
  })

  test('a stream without its events, or without its proofs', async () => {
    for (const name of ['events/sale-0001.jsonl', 'proofs/sale-0001.jsonl']) {
      const parts = await newParts()
      const files = filesOf(parts)
      files.delete(name)
      expect(await findingOf(() => verify(signed(files, parts)))).toMatchObject({ finding: 'missing' })
    }
  })

  test('bytes that are not UTF-8', async () => {
    const parts = await newParts()
    const files = filesOf(parts)
    files.set('events/license-0001.jsonl', Buffer.from([0x22, 0xff, 0x22, 0x0a]))
    expect(() => verify(signed(files, parts))).toThrow('events/license-0001.jsonl is not UTF-8')
  })

  test('another checkpoint: of another size or signer, and none', async () => {
    const parts = await newParts()
    const older = signedLog(Array.from({ length: 15 }, (_, at) => Buffer.from(String(at)))).checkpoint
    expect((await find({ ...parts, checkpoint: older })).finding).toBe('differs')
    const { finding } = await findingOf(() => verifyArchive(archiveOf(parts), trustIn([otherKey], [])))
    expect(finding).toBe('foreign_key')
    const files = filesOf(parts)
    files.delete('proofs/checkpoint')
    expect((await findingOf(() => verify(signed(files, parts)))).finding).toBe('missing')
  })

  test('the events of another archive', async () => {
    const parts = await newParts()
    const license = await log.linesOf('license-foreign')
    expect((await find({ ...parts, lines: { ...parts.lines, license } })).finding).toBe('foreign_tenant')
    const old = await log.linesOf('license-old')
    expect((await find({ ...parts, lines: { ...parts.lines, license: old } })).finding).toBe('missing')
  })
})
