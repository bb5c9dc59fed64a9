/** Guarantee: Go's implementation, which the Go checksum database uses, accepts what ours makes and rejects the rest. */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { checkpointText } from '../../src/transparency/checkpoint.ts'
import { entryOf } from '../../src/transparency/entry.ts'
import { cosign } from '../../src/transparency/note/cosignature.ts'
import { privateKeyOf, publicBytesOf, signatureTypes } from '../../src/transparency/note/keys.ts'
import { formatNote } from '../../src/transparency/note/note.ts'
import { formatVerifierKey, signNote, verifierKey } from '../../src/transparency/note/verifier.ts'
import { recordBytes } from '../../src/transparency/record.ts'
import { rootOf } from '../../src/transparency/tree/edge.ts'
import { rangesOfConsistency, rangesOfInclusion } from '../../src/transparency/tree/ranges.ts'
import { readHashes } from '../../src/transparency/tree/tiles.ts'
import { goProgram } from '../harness/go.ts'
import { keptTiles } from './kept-tiles.ts'

const run = goProgram(fileURLToPath(new URL('./go/verify.go', import.meta.url)))
if (!run) process.stderr.write('Go is not installed: its check of checkpoints and proofs is skipped\n')

const Output = z.object({
  Text: z.string(),
  Error: z.string(),
  Signers: z.array(z.string()),
  Inclusion: z.array(z.boolean()),
  Consistency: z.array(z.boolean()),
  Entries: z.array(z.string()),
})
const ask = (input: object) => Output.parse(JSON.parse(run?.(JSON.stringify(input)) ?? '{}'))

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const name = 'licenses.example/ledger'
const privateKey = privateKeyOf(Buffer.alloc(32, 5))
const key = formatVerifierKey(verifierKey(name, signatureTypes.ed25519, publicBytesOf(privateKey)))
const recordsOf = (count: number) => Array.from({ length: count }, (_, at) => Buffer.from(`record ${at}`))

function signedCheckpoint(size: number, root: Uint8Array): string {
  const text = checkpointText({ origin: name, size, root })
  return formatNote({ text, signatures: [signNote(name, privateKey, text)] })
}

test.runIf(run)('checkpoints and proofs of trees of many sizes', async () => {
  const sizes = [1, 2, 3, 7, 8, 255, 256, 257, 700]
  const records = recordsOf(700)
  const trees = sizes.map((size) => ({ size, ...keptTiles(records.slice(0, size)) }))
  const inclusion = trees.flatMap(({ size, edge, read }) =>
    [0, Math.floor(size / 2), size - 1].map(async (index) => ({
      Record: base64(records[index] ?? Buffer.of()),
      Index: index,
      Size: size,
      Root: base64(rootOf(edge)),
      Proof: (await readHashes(rangesOfInclusion(index, size), size, read)).map(base64),
    })),
  )
  const consistency = trees.flatMap((tree) =>
    trees
      .filter(({ size }) => size <= tree.size)
      .map(async (old) => ({
        OldSize: old.size,
        OldRoot: base64(rootOf(old.edge)),
        Size: tree.size,
        Root: base64(rootOf(tree.edge)),
        Proof: (await readHashes(rangesOfConsistency(old.size, tree.size), tree.size, tree.read)).map(base64),
      })),
  )
  const good = { Inclusion: await Promise.all(inclusion), Consistency: await Promise.all(consistency) }
  const wrong = {
    Inclusion: good.Inclusion.map((proof) => ({ ...proof, Record: base64(Buffer.from('rewritten')) })),
    Consistency: good.Consistency.map((proof) => ({ ...proof, OldRoot: base64(Buffer.alloc(32)) })),
  }
  const checkpoint = signedCheckpoint(700, rootOf(keptTiles(records).edge))

  const accepted = ask({ Key: key, Checkpoint: checkpoint, ...good })
  expect(accepted).toMatchObject({ Error: '', Text: checkpoint.split('\n\n')[0]?.concat('\n') })
  expect(accepted.Inclusion).toEqual(good.Inclusion.map(() => true))
  expect(accepted.Consistency).toEqual(good.Consistency.map(() => true))

  const rejected = ask({ Key: key, Checkpoint: checkpoint.replace('\n700\n', '\n701\n'), ...wrong })
  expect(rejected.Error).not.toBe('')
  expect(rejected.Inclusion).toEqual(wrong.Inclusion.map(() => false))
  expect(rejected.Consistency).toEqual(wrong.Consistency.map(() => false))
})

test.runIf(run)('the entries of events with and without a salt', () => {
  const events = ['', 'ab'.repeat(32)].flatMap((keyHash) =>
    [{}, { salt: '0f'.repeat(16) }].map((metadata) => ({
      stream: 'license-lic_1',
      revision: 4,
      id: '0f4f3c2e-7d4b-4a3e-9a52-0e9f8b6f2a10',
      type: 'LicenseImported',
      data: { name: 'é <&> "x"', deviceLimit: 3, ...(keyHash !== '' && { keyHash }) },
      metadata: { schema: 1, ...metadata },
    })),
  )
  const given = {
    Key: key,
    Checkpoint: signedCheckpoint(1, Buffer.alloc(32)),
    Inclusion: [],
    Consistency: [],
  }
  const { Entries } = ask({
    ...given,
    Events: events.map((event) => Buffer.from(recordBytes(event)).toString()),
  })
  expect(Entries).toStrictEqual(events.map((event) => Buffer.from(entryOf(event)).toString()))
})

test.runIf(run)('a checkpoint that a witness has cosigned', () => {
  const witnessName = 'witness.example/w1'
  const witnessKey = privateKeyOf(Buffer.alloc(32, 6))
  const witness = verifierKey(witnessName, signatureTypes.cosignature, publicBytesOf(witnessKey))
  const text = checkpointText({ origin: name, size: 3, root: rootOf(keptTiles(recordsOf(3)).edge) })
  const signatures = [signNote(name, privateKey, text), cosign(witnessName, witnessKey, text, 1_763_717_400)]
  const cosigned = formatNote({ text, signatures })
  const given = { Key: key, Witness: formatVerifierKey(witness), Inclusion: [], Consistency: [] }

  expect(ask({ ...given, Checkpoint: cosigned })).toMatchObject({ Error: '', Signers: [name, witnessName] })
  const other = formatNote({
    text,
    signatures: [signNote(name, privateKey, text), cosign(witnessName, witnessKey, `${text}x\n`, 1)],
  })
  expect(ask({ ...given, Checkpoint: other }).Error).toContain('invalid signature')
})
