/**
 * Guarantee: anyone can read the signed checkpoints, the hashes below them and proofs between them; whoever may read a license
 * gets its receipt, and nobody else does.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { addKey, retireKey } from '../../src/notary/signing-log.ts'
import { parseCheckpoint } from '../../src/transparency/checkpoint.ts'
import { entryOf } from '../../src/transparency/entry.ts'
import { parseNote } from '../../src/transparency/note/note.ts'
import { parseVerifierKey, signaturesOf, verifyNote } from '../../src/transparency/note/verifier.ts'
import { parseProof } from '../../src/transparency/proof-file.ts'
import { leafHash, sameHash } from '../../src/transparency/tree/edge.ts'
import { provesConsistency, provesInclusion } from '../../src/transparency/tree/proof.ts'
import { readRecord } from '../../src/verifier/record.ts'
import { makeTenant, openTestApi, type TestApi } from '../harness/api.ts'
import { testCause as cause, startNotary, type TestNotary, testOrigin } from '../harness/notary.ts'
import { makeProduct } from '../http/samples.ts'

let api: TestApi
let notary: TestNotary
let token: string
beforeAll(async () => {
  api = await openTestApi()
  ;({ token } = await makeTenant(api.ledger))
  await makeProduct(api.ask, token, 'editor')
})
afterAll(async () => {
  await notary.stop()
  await api.close()
})

const Minted = z.object({ license: z.object({ id: z.string() }), receiptUrl: z.string() })
async function mint() {
  const { body } = await api.ask('POST', '/v1/licenses', { token, body: { productId: 'editor' } })
  return Minted.parse(body)
}

const Receipt = z.strictObject({ record: z.string(), proof: z.string() })
const Log = z.strictObject({
  origin: z.string(),
  keys: z.array(z.string()),
  predecessors: z.array(z.unknown()),
})

async function keys() {
  const { body } = await api.ask('GET', '/v1/transparency/log')
  return Log.parse(body).keys.map(parseVerifierKey)
}

async function checkpoint() {
  await notary.upToDate()
  const { status, text, headers } = await api.ask('GET', '/v1/transparency/checkpoint')
  expect(status).toBe(200)
  expect(headers['content-type']).toContain('text/plain')
  const note = parseNote(text)
  verifyNote(note, await keys())
  return { note, ...parseCheckpoint(note.text) }
}

test('before the first checkpoint there is nothing to read', async () => {
  const { license } = await mint()
  for (const path of ['checkpoint', 'log', 'consistency?from=1&to=1', 'tile/0/000', 'tile/0/000.p/1']) {
    const { statusCode: status } = await api.app.inject(`/v1/transparency/${path}`)
    expect({ path, status }).toStrictEqual({ path, status: 404 })
  }
  const answer = await api.ask('GET', `/v1/licenses/${license.id}/receipt`, { token })
  expect(answer).toMatchObject({
    status: 503,
    body: { error: 'no checkpoint covers this license yet; try again' },
  })
  expect(answer.headers['retry-after']).toBe('2')
  notary = startNotary(api.ledger)
  await notary.upToDate()
})

test('a checkpoint is signed by the keys of the log, in its name', async () => {
  const { origin, size } = await checkpoint()
  expect(origin).toBe(testOrigin)
  expect(size).toBeGreaterThan(3)
})

test('a later checkpoint is proved to continue an earlier one', async () => {
  const before = await checkpoint()
  await mint()
  const after = await checkpoint()
  expect(after.size).toBeGreaterThan(before.size)
  const path = `/v1/transparency/consistency?from=${before.size}&to=${after.size}`
  const { body } = await api.ask('GET', path)
  const { proof } = z.object({ proof: z.array(z.string()) }).parse(body)
  const hashes = proof.map((hash) => Buffer.from(hash, 'base64'))
  expect(provesConsistency(before, after, hashes)).toBe(true)
  expect(provesConsistency({ ...before, root: after.root }, after, hashes)).toBe(false)
})

test.each([
  ['from=2&to=1', 400],
  ['from=1&to=1000000', 400],
  ['from=0&to=1', 400],
  ['from=1', 400],
])('a proof is refused for %s', async (query, status) => {
  const answer = await api.ask('GET', `/v1/transparency/consistency?${query}`)
  expect(answer.status).toBe(status)
})

describe('a tile', () => {
  test('has the hashes of the leaves, and may be kept for ever', async () => {
    const { size } = await checkpoint()
    const { license } = await mint()
    const answer = await api.app.inject({ url: `/v1/transparency/tile/0/000.p/${size}` })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(answer.rawPayload).toHaveLength(size * 32)
    await notary.upToDate()
    const { record, proof } = await receiptOf(license.id)
    const { index } = parseProof(proof)
    const later = await api.app.inject({ url: `/v1/transparency/tile/0/000.p/${index + 1}` })
    const hash = later.rawPayload.subarray(index * 32)
    expect(sameHash(hash, leafHash(entryOf(readRecord(record))))).toBe(true)
    expect(later.rawPayload.subarray(0, size * 32).equals(answer.rawPayload)).toBe(true)
  })

  test.each([
    '0/000',
    '0/000.p/250',
    '1/000',
    '0/000.p/0',
    '0/0',
    '64/000',
    '0/x000/000',
    '-1/000',
    'entries/000',
    '',
  ])('%s is not there', async (path) => {
    expect((await api.app.inject(`/v1/transparency/tile/${path}`)).statusCode).toBe(404)
  })
})

async function receiptOf(id: string) {
  const { body } = await api.ask('GET', `/v1/licenses/${id}/receipt`, { token })
  return Receipt.parse(body)
}

describe('a receipt', () => {
  test('of a license of this second proves that it was minted', async () => {
    const { license, receiptUrl } = await mint()
    const { pathname } = new URL(receiptUrl)
    expect(pathname).toBe(`/v1/licenses/${license.id}/receipt`)
    const { body } = await api.ask('GET', pathname, { token })
    const { record, proof } = Receipt.parse(body)
    const parsed = parseProof(proof)
    const note = parseNote(parsed.checkpoint)
    verifyNote(note, await keys())
    const tree = parseCheckpoint(note.text)
    expect(provesInclusion(leafHash(entryOf(readRecord(record))), parsed.index, tree, parsed.proof)).toBe(
      true,
    )
    expect(JSON.parse(record)).toMatchObject({
      stream: `license-${license.id}`,
      revision: 0,
      type: 'LicenseMinted',
    })
  })

  test('of an import is named in its answer', async () => {
    const { body } = await api.ask('POST', '/v1/licenses/import', {
      token,
      body: { productId: 'editor', licenses: [{ licenseKey: 'OLD-4711-XKCD-2049' }] },
    })
    const { results } = z
      .object({ results: z.array(z.object({ id: z.string(), receiptUrl: z.string() })) })
      .parse(body)
    const [row] = results
    expect(new URL(row?.receiptUrl ?? '').pathname).toBe(`/v1/licenses/${row?.id}/receipt`)
    expect(JSON.parse((await receiptOf(row?.id ?? '')).record)).toMatchObject({ type: 'LicenseImported' })
  })

  test('needs a token that may read the license', async () => {
    const { license } = await mint()
    const other = await makeTenant(api.ledger)
    const path = `/v1/licenses/${license.id}/receipt`
    expect((await api.ask('GET', path)).status).toBe(401)
    const foreign = await api.ask('GET', path, { token: other.token })
    const absent = await api.ask('GET', '/v1/licenses/lic_01k9m3v5q7e8ra9c1d3f5g7h9j/receipt', {
      token: other.token,
    })
    expect({ status: foreign.status, body: foreign.body }).toStrictEqual({
      status: absent.status,
      body: absent.body,
    })
    expect(foreign.status).toBe(404)
  })
})

test('with a key added, each checkpoint is signed by both, and later by the new one alone', async () => {
  const { ports } = api.ledger
  const [old] = await keys()
  if (!old) throw new Error('there is no key')
  const added = parseVerifierKey(await addKey(ports, cause()))
  await mint()
  const both = await checkpoint()
  expect([old, added].map((key) => signaturesOf(both.note, key).length)).toStrictEqual([1, 1])
  const { body } = await api.ask('GET', '/v1/transparency/log')
  const [first = ''] = Log.parse(body).keys
  await retireKey(ports, first, cause())
  await mint()
  const one = await checkpoint()
  expect([old, added].map((key) => signaturesOf(one.note, key).length)).toStrictEqual([0, 1])
  expect((await keys()).map(({ keyId }) => keyId)).toStrictEqual([added.keyId])
})
