import { z } from 'zod'
import { forgerSeed } from './alter-files.ts'
import { respelled } from './alter-text.ts'
import type { Genuine } from './genuine.ts'
import { checkpointOf, keysOf, signatureLine } from './keys.ts'
import type { Random } from './random.ts'
import { canonical, EventRecord, entryOf, openOf } from './record.ts'
import { leafOf, treeOf } from './tree.ts'
import { otherValue, valuesIn } from './values.ts'
import { base64Proof, parsed } from './work.ts'

const Receipt = z.looseObject({ record: z.string(), proof: z.string() })
type Receipt = z.infer<typeof Receipt>

type Alter = (receipt: Receipt, genuine: Genuine, random: Random) => string

const written = (receipt: object): string => JSON.stringify(receipt)

/** What a receipt proves is its record at its index: anything else of them is forged. */
const alterations: readonly Alter[] = [
  // Another record with the same proof.
  (receipt, genuine, random) => {
    const { from, to } = random.of(valuesIn(receipt.record))
    const record = `${receipt.record.slice(0, from)}${otherValue(receipt.record.slice(from, to), genuine, random)}${receipt.record.slice(to)}`
    return written({ ...receipt, record })
  },
  (receipt, genuine, random) => written({ ...receipt, record: canonical(random.of(genuine.records)) }),
  (receipt, _, random) => written({ ...receipt, record: random.of(respelled).of(receipt.record) }),
  // The entry or the open part in the place of the record.
  (receipt) => {
    const record = parsed(EventRecord, receipt.record)
    return written({ ...receipt, record: record && entryOf(record) })
  },
  (receipt) => {
    const record = parsed(EventRecord, receipt.record)
    return written({ ...receipt, record: record && openOf(record) })
  },
  // Another proof.
  (receipt, genuine, random) =>
    written({ ...receipt, proof: Receipt.parse(JSON.parse(random.of(genuine.receipts))).proof }),
  (receipt, _, random) => written({ ...receipt, proof: bentProof(receipt.proof, random) }),
  (receipt, genuine, random) => written({ ...receipt, proof: ownProof(receipt, genuine, random) }),
  (receipt, genuine) =>
    written({ ...receipt, proof: receipt.proof.replace(/(\n\n)[\s\S]*$/, `$1${genuine.kept[0] ?? ''}`) }),
  // Another text of the JSON, and members that no receipt has.
  (receipt, _, random) => random.of(respelled).of(written(receipt)),
  (receipt) => written({ ...receipt, tenantId: 'tenant-forged', type: 'LicenseRevoked' }),
  (receipt, _, random) =>
    written({
      ...receipt,
      [random.of(['record', 'proof'])]: random.of([null, 1, [], {}, '', [receipt.record]]),
    }),
  (receipt) => written([receipt]),
  (receipt) => written({ proof: receipt.proof }),
]

/** The lines of a tlog-proof: the index, the hashes, the checkpoint. */
function bentProof(proof: string, random: Random): string {
  const keys = keysOf(forgerSeed)
  const hashes = proof.split('\n').filter((line) => /^[A-Za-z0-9+/]{43}=$/.test(line))
  const hash = random.of(hashes)
  return random.of([
    proof.replace(/index (\d+)/, (_, index: string) => `index ${Number(index) + 1}`),
    proof.replace(/index (\d+)/, 'index -$1'),
    proof.replace(/index (\d+)/, 'index 0$1'),
    proof.replace(/index (\d+)/, 'index $1.0'),
    proof.replace(/index (\d+)/, 'index 9007199254740993'),
    proof.replace(/index (\d+)/, 'index 1e999'),
    proof.replace(/index (\d+)\n/, ''),
    proof.replace(`${hash}\n`, ''),
    proof.replace(hash, `${hash}\n${hash}`),
    proof.replace(hash, hash.slice(0, -1)),
    proof.replace(hash, Buffer.alloc(32).toString('base64')),
    proof.replace(hash, ` ${hash}`),
    proof.replace('index', 'extra Zm9yZ2Vk\nindex'),
    proof.replace('@v1', '@v2'),
    proof.replaceAll('\n', '\r\n'),
    proof.replace('\n\n', '\n'),
    proof.slice(0, -10),
    `${proof}${proof}`,
    `${proof}${signatureLine('licenses.example.com', keys, 'forged\n')}`,
    `\ufeff${proof}`,
    '',
  ])
}

/** The record in a log of the forger. */
function ownProof({ record }: Receipt, { checkpoint }: Genuine, random: Random): string {
  const [origin = ''] = checkpoint.split('\n')
  const known = parsed(EventRecord, record)
  const tree = treeOf([leafOf('forged'), leafOf(known ? entryOf(known) : record)])
  const own = checkpointOf(origin, 2, tree.root(), keysOf(forgerSeed))
  const signatures = checkpoint.split('\n').slice(4).join('\n')
  const note = random.of([own, `${own}${signatures}`, own.replace(/\u2014.*\n/, signatures)])
  return `c2sp.org/tlog-proof@v1\nindex 1\n${base64Proof(tree, 1).join('\n')}\n\n${note}`
}

/** @returns the text of an altered receipt */
export function forgeReceipt(genuine: Genuine, random: Random): string {
  const receipt = Receipt.parse(JSON.parse(random.of(genuine.receipts)))
  return random.of(alterations)(receipt, genuine, random)
}

/** Whether a text has the record and the proof of a genuine receipt, whatever else it has. */
export function isGenuineReceipt(text: string, { receipts }: Genuine): boolean {
  const given = Receipt.safeParse(JSON.parse(text)).data
  return receipts.some((receipt) => {
    const { record, proof } = Receipt.parse(JSON.parse(receipt))
    return given?.record === record && withoutForeign(given.proof) === withoutForeign(proof)
  })
}

/** A proof without the last line, when that is a signature of a key that nobody trusts. */
const withoutForeign = (proof: string): string =>
  proof.endsWith(signatureLine('licenses.example.com', keysOf(forgerSeed), 'forged\n'))
    ? proof.slice(0, -signatureLine('licenses.example.com', keysOf(forgerSeed), 'forged\n').length)
    : proof
