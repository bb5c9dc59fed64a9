import { z } from 'zod'
import { forgerSeed } from './alter-files.ts'
import { respelled } from './alter-text.ts'
import { isSignedBy, type Keys, keysOf, kidOf, sha256, signedBy } from './keys.ts'
import type { Random } from './random.ts'
import { canonical, shownOf } from './record.ts'
import {
  type Altered,
  base64Proof,
  Line,
  pairedNames,
  pairsIn,
  parsed,
  placesIn,
  recordAt,
  setPairs,
  sizeIn,
  treeAt,
  type Work,
} from './work.ts'

/** What the forger does about the manifest and its signature. */
export const finishes = [
  'leave both',
  'rebuild the manifest',
  'sign',
  'sign under the kid of the vendor',
  'sign under the key of the vendor',
  'sign without the stream of signing keys',
  'sign with another key in the stream of signing keys',
  'sign as another tenant',
  'sign another license',
  'bend the manifest',
  'bend the signature',
] as const
export type Finish = (typeof finishes)[number]

const Manifest = z.looseObject({
  tenantId: z.string(),
  licenseId: z.string(),
  revision: z.number(),
  kid: z.string(),
  publicKey: z.string(),
})
type Manifest = z.infer<typeof Manifest>

const words = ['manifest', 'signature', 'sign', 'key']

/** Rebuilds and signs what the forger can. */
export function finish(work: Work, how: Finish, random: Random): Altered {
  const before = parsed(Manifest, work.files.get('manifest.json')?.toString() ?? '')
  const forger = keysOf(forgerSeed)
  if (how === 'leave both' || !before) return { verdict: 'same', touched: [...words, 'README'] }
  switch (how) {
    case 'rebuild the manifest': {
      const manifest = work.files.get('manifest.json')
      seal(work, before)
      return manifest && work.files.get('manifest.json')?.equals(manifest)
        ? { verdict: 'same', touched: words }
        : { verdict: 'refused', touched: words }
    }
    case 'sign':
      signAs(work, endOf(work, before), forger)
      return { verdict: 'partly', touched: words }
    case 'sign under the kid of the vendor':
      signAs(work, endOf(work, before), forger, before.kid)
      return { verdict: 'refused', touched: words }
    case 'sign under the key of the vendor':
      signUnder(work, { ...endOf(work, before), revision: before.revision + 1 }, forger)
      return { verdict: 'refused', touched: words }
    case 'sign without the stream of signing keys':
      dropSigners(work)
      signAs(work, endOf(work, before), forger)
      return { verdict: 'partly', touched: [...words, 'signing-'] }
    case 'sign with another key in the stream of signing keys':
      putSigner(work, before.tenantId, forger, random)
      signAs(work, endOf(work, before), forger)
      return { verdict: 'refused', touched: [...words, 'signing-'] }
    case 'sign as another tenant':
      return signAsTenant(work, before)
    case 'sign another license':
      return signAnother(work, before, random)
    case 'bend the manifest':
      return bendManifest(work, endOf(work, before), random)
    case 'bend the signature':
      return bendSignature(work, before, random)
  }
}

/** The manifest with the revision with which the license ends now. */
function endOf(work: Work, manifest: Manifest): Manifest {
  const own = placesIn(work).filter(({ line }) => line.stream === `license-${manifest.licenseId}`)
  return { ...manifest, revision: own.at(-1)?.line.revision ?? manifest.revision }
}

/** Writes a manifest that lists the files as they are. */
function seal(work: Work, manifest: Manifest): string {
  const { version, tenantId, licenseId, revision, kid, publicKey } = manifest
  const files = [...work.files]
    .filter(([name]) => name !== 'manifest.json' && name !== 'signature.json')
    .map(([name, content]) => ({ name, size: content.length, sha256: sha256(content).toString('hex') }))
  const text = `${JSON.stringify({ version, tenantId, licenseId, revision, kid, publicKey, files }, null, 2)}\n`
  putLast(work, 'manifest.json', text)
  return text
}

function putLast({ files }: Work, name: string, text: string): void {
  files.delete(name)
  files.set(name, Buffer.from(text))
}

const signedText = ({ kid, tenantId, licenseId }: Manifest, manifest: string): string =>
  `evidence1|${kid}|${tenantId}|${licenseId}|${sha256(Buffer.from(manifest)).toString('hex')}`

const signAs = (work: Work, manifest: Manifest, keys: Keys, kid = kidOf(keys.publicKey)): void =>
  signUnder(work, { ...manifest, kid, publicKey: keys.publicKey.toString('base64') }, keys)

function signUnder(work: Work, manifest: Manifest, keys: Keys, text = seal(work, manifest)): void {
  putLast(work, 'manifest.json', text)
  const signature = signedBy(keys, signedText(manifest, text)).toString('base64')
  putLast(work, 'signature.json', `${JSON.stringify({ kid: manifest.kid, signature })}\n`)
}

const signerNames = (work: Work): string[] =>
  pairedNames(work).filter((name) =>
    pairsIn(work, name).some(({ event }) => parsed(Line, event)?.stream.startsWith('signing-')),
  )

const dropSigners = (work: Work): void => {
  for (const name of signerNames(work)) setPairs(work, name, [])
}

/** An invented event that publishes the forger's key, with a proof of another event, or as withheld. */
function putSigner(work: Work, tenantId: string, { publicKey }: Keys, random: Random): void {
  const tree = treeAt(work.genuine, sizeIn(work))
  const index = tree.leaves.length - 1
  const at = '2026-03-01T12:00:00.000Z'
  const kid = kidOf(publicKey)
  const record = {
    stream: `signing-${tenantId}`,
    revision: random.below(2),
    id: '00000000-0000-4000-8000-000000000001',
    type: 'SigningKeyPublished',
    data: {
      tenantId,
      kid,
      publicKey: publicKey.toString('base64'),
      secretName: 'signing-key.2',
      signsFrom: at,
      at,
    },
    metadata: { schema: 1, actor: 'system:test', at },
  }
  const proof = base64Proof(tree, index)
  const shown = shownOf(record, '1')
  const pair = random.of([
    { event: shown, proof: { index, record: canonical(record), proof } },
    {
      event: { ...shown, id: undefined },
      proof: { index, leaf: tree.leaves[index]?.toString('base64'), proof },
    },
  ])
  const own = { event: JSON.stringify(pair.event), proof: JSON.stringify(pair.proof) }
  const [name = 'events/signing-0001.jsonl'] = signerNames(work)
  setPairs(work, name, record.revision === 0 ? [own] : [...pairsIn(work, name), own])
}

/** The archive as that of a tenant of the same log, whose signing key the forger has, and the log has it as published. */
function signAsTenant(work: Work, before: Manifest): Altered {
  const { hostile } = work.genuine
  const [index, record] = recordAt(work.genuine, `signing-${hostile.tenantId}`, 0) ?? []
  if (index === undefined || !record) throw new Error('the other tenant has no key')
  dropSigners(work)
  setPairs(work, 'events/signing-0001.jsonl', [
    {
      event: JSON.stringify(shownOf(record, '1')),
      proof: JSON.stringify({
        index,
        record: canonical(record),
        proof: base64Proof(treeAt(work.genuine, sizeIn(work)), index),
      }),
    },
  ])
  signAs(work, { ...endOf(work, before), tenantId: hostile.tenantId }, keysOf(hostile.seed))
  return { verdict: 'partly', touched: [...words, hostile.tenantId, 'tenant', 'signing-'] }
}

/** Other ids in the manifest: another license of the tenant, another tenant, another revision. */
function signAnother(work: Work, before: Manifest, random: Random): Altered {
  const others = work.genuine.records.flatMap(({ data }) => {
    const found = parsed(z.object({ licenseId: z.string(), tenantId: z.string() }), JSON.stringify(data))
    return found && found.licenseId !== before.licenseId ? [found] : []
  })
  const other = random.of(others)
  const manifest = random.of([
    { ...before, licenseId: other.licenseId },
    { ...before, licenseId: 'lic_absent' },
    { ...before, revision: before.revision + 1 },
    { ...before, revision: before.revision - 1 },
    { ...before, revision: 2 ** 53 },
    { ...before, licenseId: '__proto__' },
    { ...before, licenseId: `${before.licenseId}|` },
    { ...before, tenantId: '' },
    { ...before, licenseId: `${before.licenseId}\n` },
  ])
  if (random.below(2) === 0) dropSigners(work)
  signAs(work, manifest, keysOf(forgerSeed))
  // Lines of another license may be in it by then, and end with this revision.
  return { verdict: 'partly', touched: [...words, 'license-', 'tenant'] }
}

function bendManifest(work: Work, before: Manifest, random: Random): Altered {
  const keys = keysOf(forgerSeed)
  if (random.below(2) === 0) dropSigners(work)
  const manifest = { ...before, kid: kidOf(keys.publicKey), publicKey: keys.publicKey.toString('base64') }
  const text = seal(work, manifest)
  const bends: readonly { same: boolean; of: (text: string) => string }[] = [
    ...respelled,
    { same: false, of: (json) => json.replace('"version": 1', '"version": 2') },
    { same: false, of: (json) => json.replace('"version": 1', '"version": "1"') },
    { same: false, of: (json) => json.replace('"version": 1,', '') },
    { same: false, of: (json) => json.replace(/"revision": (\d+)/, '"revision": "$1"') },
    { same: false, of: (json) => json.replace(/"revision": \d+/, '"revision": 1e999') },
    { same: false, of: (json) => json.replace(/"size": (\d+)/, '"size": $1.5') },
    { same: false, of: (json) => json.replace(/"size": (\d+)/, '"size": "$1"') },
    { same: false, of: (json) => json.replace(/"size": (\d+)/, '"size": 1$1') },
    {
      same: false,
      of: (json) =>
        json.replace(/"sha256": "([0-9a-f]+)"/, (_, hex: string) => `"sha256": "${hex.toUpperCase()}"`),
    },
    { same: false, of: (json) => json.replace(/"sha256": "..../, '"sha256": "0000') },
    { same: false, of: (json) => json.replace(/("files": \[\s*)(\{[^}]*\})/, '$1$2, $2') },
    { same: false, of: (json) => json.replace(/("files": \[\s*)\{[^}]*\},/, '$1') },
    {
      same: false,
      of: (json) =>
        json.replace(
          /("files": \[\s*)/,
          '$1{"name": "absent.json", "size": 0, "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}, ',
        ),
    },
    {
      same: false,
      of: (json) =>
        json.replace(
          /("files": \[\s*)/,
          '$1{"name": "manifest.json", "size": 0, "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}, ',
        ),
    },
    { same: false, of: (json) => json.replace(/"files": \[[^\]]*\]/, '"files": []') },
    { same: false, of: (json) => json.replace(/"files": \[[^\]]*\]/, '"files": {}') },
    { same: false, of: (json) => json.replace(/"publicKey": "([^"]*)="/, '"publicKey": "$1"') },
    {
      same: false,
      of: (json) =>
        json.replace(/"publicKey": "[^"]*"/, `"publicKey": "${Buffer.alloc(31).toString('base64')}"`),
    },
    { same: false, of: (json) => json.replace(/"kid": "[^"]*"/, '"kid": "\\ud800"') },
    { same: false, of: (json) => json.replace(/"licenseId": "/, '"licenseId": "\\ud800') },
    { same: false, of: (json) => json.replace(/"tenantId": "/, '"tenantId": "a|') },
  ]
  const { same, of } = random.of(bends)
  const bent = of(text)
  signUnder(work, manifest, keys, bent)
  return {
    verdict: same || bent === text ? 'partly' : 'refused',
    touched: [...words, 'README', ...work.files.keys()],
  }
}

/** Signatures that are none, and other texts of a true one. */
function bendSignature(work: Work, { kid }: Manifest, random: Random): Altered {
  const before = work.files.get('signature.json')?.toString() ?? ''
  const [, signature = ''] = /"signature":"([^"]*)"/.exec(before) ?? []
  const bytes = Buffer.from(signature, 'base64')
  const written = (other: string): string => JSON.stringify({ kid, signature: other })
  const bends: readonly { same: boolean; text: string }[] = [
    ...respelled.map(({ same, of }) => ({ same, text: of(before) })),
    { same: false, text: written('') },
    { same: false, text: written(Buffer.alloc(64).toString('base64')) },
    { same: false, text: written(Buffer.concat([Buffer.of(1), Buffer.alloc(63)]).toString('base64')) },
    { same: false, text: written(bytes.subarray(0, 63).toString('base64')) },
    { same: false, text: written(Buffer.concat([bytes, Buffer.of(0)]).toString('base64')) },
    { same: false, text: written(plusOrder(bytes).toString('base64')) },
    { same: false, text: written(bytes.toString('hex')) },
    { same: false, text: written(bytes.toString('base64url')) },
    { same: false, text: written(`${signature}\\n`) },
    { same: false, text: written(signature.replaceAll('=', '')) },
    { same: false, text: JSON.stringify({ kid: 'ffffffffffffffff', signature }) },
    { same: false, text: JSON.stringify({ signature }) },
    { same: false, text: JSON.stringify({ kid, signature: [signature] }) },
  ]
  const { same, text } = random.of(bends)
  putLast(work, 'signature.json', text)
  return { verdict: same || text === before.trim() || text === before ? 'same' : 'refused', touched: words }
}

/** The same signature with the order of the group added to its scalar (RFC 8032, section 5.1.7, forbids it). */
function plusOrder(signature: Buffer): Buffer {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  const scalar = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex') || '0'}`) + order
  const bytes = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').reverse()
  return Buffer.concat([signature.subarray(0, 32), bytes.subarray(0, 32)])
}

/** Whether the signature of the archive is that of the key in its manifest. */
export function isSigned({ files }: Work): boolean {
  const text = files.get('manifest.json')?.toString() ?? ''
  const manifest = parsed(Manifest, text)
  const signature = parsed(z.object({ signature: z.string() }), files.get('signature.json')?.toString() ?? '')
  if (!manifest || !signature) return false
  const key = Buffer.from(manifest.publicKey, 'base64')
  return (
    key.length === 32 &&
    isSignedBy(key, signedText(manifest, text), Buffer.from(signature.signature, 'base64'))
  )
}
