/**
 * Guarantee: of a license that an earlier version imported with the plain hash of its key, nobody gets what the key can be
 * computed from: no receipt, no record, and no archive that fits the public tree. Each place says why. Of licenses that are
 * imported now, and of any other, everything is proved.
 */
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Role } from '../../src/domain/members/roles.ts'
import { combinableScopes } from '../../src/domain/tokens/events.ts'
import { readNotaryLog } from '../../src/notary/signing-log.ts'
import { tellsKey } from '../../src/notary/withheld.ts'
import { verifyArchive } from '../../src/verifier/archive.ts'
import { trustIn } from '../../src/verifier/trust.ts'
import { unzip } from '../../src/verifier/unzip.ts'
import { clientOf } from '../dashboard/client.ts'
import { makeMember } from '../dashboard/members.ts'
import { wordsOf } from '../dashboard/words.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { commandLicense, eventsIn } from '../harness/ledger.ts'
import { startNotary, type TestNotary } from '../harness/notary.ts'
import { importAsBefore } from '../harness/old-import.ts'
import { appOf, sdkKeyOf } from '../http/apps.ts'
import { importRows, makeProduct, mint } from '../http/samples.ts'

const guessed = '471120'
const email = 'ada@example.com'

let api: TestApi
let tenant: TestTenant
let notary: TestNotary
/** Imported with the plain hash, imported now, imported as before with a key of our own format, minted. */
let licenses: { before: string; now: string; own: string; minted: string }
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { tenantId, token } = tenant
  await makeProduct(api.ask, token, 'editor', { keyTypes: [{ keyTypeId: 'one', name: 'One' }] })
  const place = { tenantId, productId: 'editor', keyTypeId: 'one' }
  const before = await importAsBefore(api.ledger, place, guessed)
  const own = await importAsBefore(api.ledger, place, 'OLD-00000-00000-00000-00000-00000-0')
  const { results } = await importRows(api.ask, token, 'editor', [{ licenseKey: '471121', email }])
  const { id: minted } = await mint(api.ask, token, 'editor', { email })
  licenses = { before, now: results[0]?.id ?? '', own, minted }
  const at = api.ledger.clock.now().toISOString()
  await commandLicense(api.ledger, before, { type: 'LinkCustomer', customerId: 'cus_one', at })
  notary = startNotary(api.ledger)
  await notary.upToDate()
})
afterAll(async () => {
  await notary.stop()
  await api.close()
})

const get = (path: string, token = tenant.token) => api.ask('GET', path, { token })
const why = 'from which a short key can be computed'

test.each(['now', 'own', 'minted'] as const)('a license that is %s has its receipt', async (which) => {
  const { status, body } = await get(`/v1/licenses/${licenses[which]}/receipt`)
  expect({ status, body }).toMatchObject({ status: 200, body: { record: expect.any(String) as string } })
})

test('a license with a plain hash has none, and the answer says why', async () => {
  expect(await get(`/v1/licenses/${licenses.before}/receipt`)).toMatchObject({
    status: 404,
    body: { error: expect.stringContaining(why) as string },
  })
})

test('an app that activates with such a key gets no receipt', async () => {
  const app = appOf(
    api.ask,
    { tenantId: tenant.tenantId, productId: 'editor' },
    await sdkKeyOf(api.ledger, tenant.tenantId),
  )
  const activate = async (license_key: string) =>
    (await app.post('activate', { license_key, instance_name: 'Mac', receipt: true })).body
  expect(await activate(guessed)).toMatchObject({ activated: true, receipt: null })
  expect(await activate('471121')).toMatchObject({ receipt: { record: expect.any(String) as string } })
})

test('pages offer the receipts of its other events, and say why the first one is withheld', async () => {
  const member = clientOf(api.app, '192.0.2.9')
  await member.signIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
  const page = (await member.get(`/dashboard/licenses/${licenses.before}/proofs`)).text
  expect(wordsOf(page)).toContain(why)
  const offered = [...page.matchAll(/receipts\/(\d+)"/g)].map(([, sequence]) => Number(sequence))
  expect(offered).toContain(1)
  expect(offered).not.toContain(0)
  const receipt = (id: string, sequence: number) =>
    member.get(`/dashboard/licenses/${id}/receipts/${sequence}`)
  const withheld = await receipt(licenses.before, 0)
  expect(withheld.status).toBe(404)
  expect(wordsOf(withheld.text)).toContain(why)
  expect((await receipt(licenses.before, 1)).status).toBe(200)
  expect(wordsOf((await member.get(`/dashboard/licenses/${licenses.now}/proofs`)).text)).not.toContain(why)
})

const Line = z.looseObject({ type: z.string(), data: z.looseObject({}) })

async function archiveOf(id: string): Promise<Map<string, Uint8Array>> {
  const headers = { authorization: `Bearer ${tenant.token}` }
  const answer = await api.app.inject({ method: 'GET', url: `/v1/licenses/${id}/evidence`, headers })
  return unzip(answer.rawPayload)
}
const textIn = (files: ReadonlyMap<string, Uint8Array>, name: string) =>
  Buffer.from(files.get(name) ?? []).toString()

/** The leaves that the server publishes to everybody. */
async function publishedLeaves(): Promise<Set<string>> {
  const leaves = new Set<string>()
  for (const width of Array.from({ length: 255 }, (_, at) => at + 1)) {
    const tile = await api.app.inject({ method: 'GET', url: `/v1/transparency/tile/0/000.p/${width}` })
    if (tile.statusCode !== 200) continue
    for (let at = 0; at < tile.rawPayload.length; at += 32) {
      leaves.add(tile.rawPayload.subarray(at, at + 32).toString('base64'))
    }
  }
  return leaves
}

/** Whether the record that a thief of the archive makes with the right key is in the public tree. */
async function isConfirmed(files: ReadonlyMap<string, Uint8Array>, key: string): Promise<boolean> {
  const leaves = await publishedLeaves()
  const [line = ''] = textIn(files, 'events/license-0001.jsonl').split('\n')
  const { position: _, data, ...event } = Line.parse(JSON.parse(line))
  const keyHash = createHash('sha256').update(key).digest('hex')
  const record = canonicalize({ ...event, data: { ...data, keyHash } }) ?? ''
  const leaf = createHash('sha256').update('\0').update(record).digest('base64')
  return leaves.has(leaf)
}

describe('the archive', () => {
  test('of such a license cannot be tested with guesses against the public tree, and says what it withholds', async () => {
    const files = await archiveOf(licenses.before)
    expect(await isConfirmed(files, guessed)).toBe(false)
    const key = (await readNotaryLog(api.ledger.ports)).keys[0] ?? ''
    expect(verifyArchive(files, trustIn([key], []))).toMatchObject({
      withheld: [{ stream: `license-${licenses.before}`, revision: 0, type: 'LicenseImported' }],
    })
    const [first] = await eventsIn(api.ledger.ports.ledger, `license-${licenses.before}`)
    const all = [...files.values()].map((content) => Buffer.from(content).toString('latin1')).join('')
    expect(all).not.toContain(first?.id)
  })

  test('of a license that is imported now proves all of it', async () => {
    const files = await archiveOf(licenses.now)
    const key = (await readNotaryLog(api.ledger.ports)).keys[0] ?? ''
    expect(verifyArchive(files, trustIn([key], []))).toMatchObject({ withheld: [] })
    expect(await isConfirmed(files, '471121')).toBe(false)
  })
})

test('a record of the feed is withheld by what it tells', async () => {
  const recordOf = async (id: string) => {
    const [first] = await eventsIn(api.ledger.ports.ledger, `license-${id}`)
    return JSON.stringify(first?.readable ? first.event : {})
  }
  const told = await Promise.all(Object.values(licenses).map(async (id) => tellsKey(await recordOf(id))))
  expect(told).toStrictEqual([true, false, false, false])
  expect(tellsKey(JSON.stringify({ type: 'LicenseImported', data: { of: 'a later version' } }))).toBe(true)
})

test.each(Role.options)(
  'a member who is %s gets receipts exactly where they see the holder',
  async (role) => {
    const member = clientOf(api.app, `192.0.2.${20 + Role.options.indexOf(role)}`)
    await member.signIn(await makeMember(api.ledger, tenant.tenantId, role))
    const page = await member.get(`/dashboard/licenses/${licenses.minted}`)
    const receipt = await member.get(`/dashboard/licenses/${licenses.minted}/receipts/0`)
    expect(receipt.status === 200).toBe(page.text.includes(email))
    const withheld = await member.get(`/dashboard/licenses/${licenses.before}/receipts/0`)
    expect(withheld.status).toBe(404)
  },
)

test('a token needs licenses:read, for receipts, proved events and archives', async () => {
  const other = combinableScopes.filter((scope) => scope !== 'licenses:read')
  const withoutReading = await tenant.tokenWith(...other)
  const paths = [
    `/v1/licenses/${licenses.minted}/receipt`,
    '/v1/events?proof=true',
    `/v1/licenses/${licenses.minted}/evidence`,
  ]
  const reading = await tenant.tokenWith('licenses:read')
  for (const path of paths) {
    expect((await get(path, reading)).status).toBe(200)
    expect((await get(path, withoutReading)).status).toBe(403)
  }
})
