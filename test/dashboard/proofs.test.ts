/**
 * Guarantee: pages say which checkpoint covers each event of a license, and hand out its receipt, to members of its workspace
 * alone.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseProof } from '../../src/transparency/proof-file.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { startNotary, testOrigin } from '../harness/notary.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember } from './members.ts'
import { wordsOf } from './words.ts'

let api: TestApi
let tenant: TestTenant
let member: Client
let stranger: Client
let id: string
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const other = await makeTenant(api.ledger)
  member = clientOf(api.app, '192.0.2.1')
  await member.signIn(await makeMember(api.ledger, tenant.tenantId, 'auditor'))
  stranger = clientOf(api.app, '192.0.2.2')
  await stranger.signIn(await makeMember(api.ledger, other.tenantId, 'owner'))
  await makeProduct(api.ask, tenant.token, 'editor')
  ;({ id } = await mint(api.ask, tenant.token, 'editor'))
})
afterAll(() => api.close())

const words = async (path: string) => wordsOf((await member.get(path)).text)

test('without a signed log, pages say so', async () => {
  expect(await words(`/dashboard/licenses/${id}`)).toContain('not yet in a checkpoint')
  expect(await words('/dashboard/system/proof')).toContain('Nothing is signed yet')
  expect((await member.get(`/dashboard/licenses/${id}/receipts/0`)).status).toBe(503)
})

test('each event names its checkpoint and has a receipt', async () => {
  await api.ask('POST', `/v1/licenses/${id}/suspend`, { token: tenant.token, body: { reason: 'unpaid' } })
  const notary = startNotary(api.ledger)
  await notary.upToDate()
  await notary.stop()
  expect(await words(`/dashboard/licenses/${id}`)).toMatch(/Proved in checkpoint \d+, signed/)
  const page = await words(`/dashboard/licenses/${id}/proofs`)
  expect(page.match(/Proved in checkpoint \d+, signed/g)).toHaveLength(2)
  const older = await words(`/dashboard/licenses/${id}/proofs?upTo=0`)
  expect(older.match(/Proved in checkpoint \d+, signed/g)).toHaveLength(1)
  for (const sequence of [0, 1]) {
    const answer = await member.get(`/dashboard/licenses/${id}/receipts/${sequence}`)
    const { record, proof } = JSON.parse(answer.text) as { record: string; proof: string }
    expect(JSON.parse(record)).toMatchObject({ stream: `license-${id}`, revision: sequence })
    expect(parseProof(proof).checkpoint).toContain(testOrigin)
  }
  const log = await words('/dashboard/system/proof')
  expect(log).toContain(`Name ${testOrigin}`)
  expect(log).toContain('keyledger verify server')
})

test.each(['proofs', 'receipts/0'])(
  '%s of another workspace is not found, like an unknown one',
  async (of) => {
    const foreign = await stranger.get(`/dashboard/licenses/${id}/${of}`)
    const unknown = await stranger.get(`/dashboard/licenses/lic_01k9m3v5q7e8ra9c1d3f5g7h9j/${of}`)
    expect([foreign.status, unknown.status]).toStrictEqual([404, 404])
    expect(wordsOf(foreign.text)).toBe(wordsOf(unknown.text))
  },
)

test.each(['99', '-1', 'x', '1.5'])('there is no receipt of event %s', async (sequence) => {
  expect((await member.get(`/dashboard/licenses/${id}/receipts/${sequence}`)).status).toBe(404)
})
