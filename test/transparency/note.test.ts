/** Guarantee: notes, checkpoints, cosignatures and proofs are those of the C2SP specifications, and nothing else passes. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkpointText, parseCheckpoint } from '../../src/transparency/checkpoint.ts'
import { cosign, cosignedAt } from '../../src/transparency/note/cosignature.ts'
import { privateKeyOf, publicBytesOf, signatureTypes } from '../../src/transparency/note/keys.ts'
import { formatNote, parseNote } from '../../src/transparency/note/note.ts'
import {
  formatVerifierKey,
  parseVerifierKey,
  signNote,
  verifierKey,
  verifyNote,
} from '../../src/transparency/note/verifier.ts'
import { formatProof, parseProof } from '../../src/transparency/proof-file.ts'

/** The example of the specification of signed notes. */
const specified = {
  key: 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
  note: `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`,
}

const logKey = privateKeyOf(Buffer.alloc(32, 7))
const log = verifierKey('log.example/ledger', signatureTypes.ed25519, publicBytesOf(logKey))
const witnessKey = privateKeyOf(Buffer.alloc(32, 9))
const witness = verifierKey('witness.example/w1', signatureTypes.cosignature, publicBytesOf(witnessKey))
const text = checkpointText({ origin: log.name, size: 20_852_163, root: Buffer.alloc(32, 1) })
const signed = parseNote(formatNote({ text, signatures: [signNote(log.name, logKey, text)] }))

describe('a signed note', () => {
  test('of the specification is verified, and formatted as it was', () => {
    const note = parseNote(specified.note)
    expect(() => verifyNote(note, [parseVerifierKey(specified.key)])).not.toThrow()
    expect(formatNote(note)).toBe(specified.note)
    expect(formatVerifierKey(parseVerifierKey(specified.key))).toBe(specified.key)
  })

  test('is rejected with any changed byte of its text or signature', () => {
    const bytes = Buffer.from(specified.note)
    const key = parseVerifierKey(specified.key)
    const changed = fc.tuple(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }))
    fc.assert(
      fc.property(changed, ([at, difference]) => {
        const other = Buffer.from(bytes)
        other[at] = (other[at] ?? 0) ^ difference
        expect(() => verifyNote(parseNote(other.toString()), [key])).toThrow()
      }),
    )
  })

  test('is rejected without a signature of a trusted key', () => {
    const stranger = verifierKey('stranger.example', signatureTypes.ed25519, publicBytesOf(witnessKey))
    expect(() => verifyNote(signed, [stranger])).toThrow('no trusted key')
    expect(() => verifyNote(signed, [stranger, log])).not.toThrow()
  })

  test('with a signature of an unknown key of the same name is verified by the known one', () => {
    const other = signNote(log.name, witnessKey, text)
    expect(() => verifyNote({ text, signatures: [other, ...signed.signatures] }, [log])).not.toThrow()
  })

  test.each([
    ['without signatures', 'text\n'],
    ['without a blank line', `text\n— a ${'A'.repeat(8)}\n`],
    ['with a control character', specified.note.replace('This', '\u0007')],
    ['with a line that is no signature', `${specified.note}x\n`],
    ['without the last newline', specified.note.slice(0, -1)],
    ['with a key name that has a plus', specified.note.replace('/foo', '+foo')],
    ['with base64 of another form', specified.note.replace('QM=', 'QM')],
  ])('%s is no note', (_name, message) => {
    expect(() => parseNote(message)).toThrow()
  })

  test.each([
    ['another id', specified.key.replace('530d903a', '530d903b')],
    ['another type', 'example.com/foo+530d903a+AukyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'],
    ['a missing character', specified.key.slice(0, -1)],
    ['a space in its name', specified.key.replace('/foo', ' foo')],
  ])('a key with %s is refused', (_name, key) => {
    expect(() => parseVerifierKey(key)).toThrow()
  })
})

describe('a checkpoint', () => {
  test('is read as it was written', () => {
    expect(checkpointText(parseCheckpoint(signed.text))).toBe(signed.text)
  })

  test('may have more lines, which are signed and ignored', () => {
    expect(parseCheckpoint(`${text}more\n`)).toEqual(parseCheckpoint(text))
  })

  test.each([
    ['no origin', text.replace(log.name, '')],
    ['a size with a leading zero', text.replace('20852163', '020852163')],
    ['a size that is too large', text.replace('20852163', '9007199254740993')],
    ['a short root', text.replace(/AQE/, '')],
    ['an empty line', `${text}\nmore\n`],
  ])('with %s is refused', (_name, other) => {
    expect(() => parseCheckpoint(other)).toThrow('no checkpoint')
  })
})

describe('a cosignature', () => {
  /** The example of the specification, with the key name and id in its line. */
  const line =
    '— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA=='

  test('of the specification has its time', () => {
    const [signature] = parseNote(`x\n\n${line}\n`).signatures
    expect(Buffer.from(signature?.signature ?? []).readBigUInt64BE()).toBe(1_679_315_147n)
  })

  test('says when the witness saw the checkpoint', () => {
    const seconds = 1_679_315_147
    const note = { text, signatures: [...signed.signatures, cosign(witness.name, witnessKey, text, seconds)] }
    const published = parseNote(formatNote(note))
    expect(cosignedAt(published, witness)).toBe(seconds)
    expect(() => verifyNote(published, [log])).not.toThrow()
    expect(cosignedAt(signed, witness)).toBeUndefined()
  })

  test('of another checkpoint or time is wrong', () => {
    const cosignature = cosign(witness.name, witnessKey, text, 1000)
    const later = Buffer.from(cosignature.signature)
    later.writeBigUInt64BE(2000n)
    const other = text.replace('20852163', '20852164')
    expect(() => cosignedAt({ text: other, signatures: [cosignature] }, witness)).toThrow('wrong')
    const forged = { ...cosignature, signature: later }
    expect(() => cosignedAt({ text, signatures: [forged] }, witness)).toThrow('wrong')
    const short = { ...cosignature, signature: later.subarray(0, 8) }
    expect(() => cosignedAt({ text, signatures: [short] }, witness)).toThrow('wrong')
  })

  test('cannot pass for a signature of the log', () => {
    const cosignature = cosign(log.name, logKey, text, 1000)
    expect(() => verifyNote({ text, signatures: [cosignature] }, [log])).toThrow('no trusted key')
  })
})

describe('a proof file', () => {
  const checkpoint = formatNote(signed)
  const hashes = [Buffer.alloc(32, 2), Buffer.alloc(32, 3)]

  test('has the lines of the specification', () => {
    const written = formatProof({ index: 73_894, proof: hashes, checkpoint, extra: Buffer.from('more') })
    expect(written).toBe(
      `c2sp.org/tlog-proof@v1\nextra bW9yZQ==\nindex 73894\n${hashes.map((hash) => `${hash.toString('base64')}\n`).join('')}\n${checkpoint}`,
    )
    expect(parseProof(written)).toEqual({
      index: 73_894,
      proof: hashes,
      checkpoint,
      extra: Buffer.from('more'),
    })
  })

  test('of a tree with one leaf has no hash', () => {
    expect(parseProof(formatProof({ index: 0, proof: [], checkpoint }))).toEqual({
      index: 0,
      proof: [],
      checkpoint,
    })
  })

  const good = formatProof({ index: 1, proof: hashes, checkpoint })
  test.each([
    ['another version', good.replace('@v1', '@v2')],
    ['no index', good.replace(/index 1\n/, '')],
    ['an index with a leading zero', good.replace('index 1', 'index 01')],
    ['a short hash', good.replace('AgIC', '')],
    ['a hash that is not base64', good.replace('AgIC', '????')],
    ['nothing after the proof', good.split('\n\n')[0] ?? ''],
    ['64 hashes', formatProof({ index: 1, proof: Array<Buffer>(64).fill(Buffer.alloc(32)), checkpoint })],
  ])('with %s is refused', (_name, text) => {
    expect(() => parseProof(text)).toThrow(/proof/)
  })
})
