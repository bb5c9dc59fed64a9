/** Guarantee: with `proof=true`, each event of the feed proves itself, and no page ever holds a record of another tenant. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { readNotaryLog } from '../../../src/notary/signing-log.ts'
import { verifyReceipt } from '../../../src/verifier/receipt.ts'
import { trustIn } from '../../../src/verifier/trust.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { startNotary, type TestNotary } from '../../harness/notary.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let notary: TestNotary
let tenants: { tenant: TestTenant; licenses: string[] }[]
beforeAll(async () => {
  api = await openTestApi()
  tenants = await Promise.all(
    [0, 1].map(async () => ({ tenant: await makeTenant(api.ledger), licenses: [] as string[] })),
  )
  for (const { tenant } of tenants) await makeProduct(api.ask, tenant.token, 'editor')
  // Their events stand side by side in the log.
  for (let round = 0; round < 8; round++) {
    for (const { tenant, licenses } of tenants) {
      const { id } = await mint(api.ask, tenant.token, 'editor')
      licenses.push(id)
      await suspend(id, tenant.token)
    }
  }
  notary = startNotary(api.ledger)
  await notary.upToDate()
})
afterAll(async () => {
  await notary.stop()
  await api.close()
})

const suspend = (id: string, token: string) =>
  api.ask('POST', `/v1/licenses/${id}/suspend`, { token, body: {} })

const Feed = z.object({
  items: z.array(
    z.looseObject({
      event: z.string(),
      license_id: z.string(),
      record: z.string().nullable().optional(),
      proof: z.string().nullable().optional(),
    }),
  ),
  nextCursor: z.string().nullable(),
})

async function readAll(token: string, query: string) {
  const items: z.infer<typeof Feed>['items'] = []
  let after = ''
  for (;;) {
    const { body } = await api.ask('GET', `/v1/events?limit=5&${query}${after}`, { token })
    const page = Feed.parse(body)
    items.push(...page.items)
    if (page.nextCursor === null) return items
    after = `&after=${page.nextCursor}`
  }
}

const Record = z.looseObject({ stream: z.string(), data: z.looseObject({}) })

test('every event is proved, and each record is of a license of the tenant that asks', async () => {
  const { keys } = await readNotaryLog(api.ledger.ports)
  const trust = trustIn(keys, [])
  for (const { tenant, licenses } of tenants) {
    const items = await readAll(tenant.token, 'proof=true')
    // Each license was issued and suspended.
    expect(items).toHaveLength(16)
    for (const { license_id: license, record, proof } of items) {
      const { event } = verifyReceipt(JSON.stringify({ record, proof }), trust)
      expect(event.stream).toBe(`license-${license}`)
      expect(licenses).toContain(license)
    }
    const others = tenants.filter((one) => one.tenant !== tenant).flatMap((one) => one.licenses)
    const text = JSON.stringify(items)
    for (const other of others) expect(text).not.toContain(other)
  }
})

test('of one license, and a license of another tenant has none', async () => {
  const [own, other] = tenants
  const [license = ''] = own?.licenses ?? []
  const items = await readAll(own?.tenant.token ?? '', `proof=true&license=${license}`)
  expect(items.map(({ record }) => Record.parse(JSON.parse(record ?? '')).stream)).toStrictEqual([
    `license-${license}`,
    `license-${license}`,
  ])
  expect(await readAll(other?.tenant.token ?? '', `proof=true&license=${license}`)).toStrictEqual([])
})

test('an event that no checkpoint covers has neither, and without the parameter none has', async () => {
  const [own] = tenants
  const token = own?.tenant.token ?? ''
  await notary.stop()
  const { id } = await mint(api.ask, token, 'editor')
  await suspend(id, token)
  const items = await readAll(token, 'proof=true')
  expect(items.at(-1)).toMatchObject({ license_id: id, record: null, proof: null })
  expect(items.at(-3)?.proof).toContain('c2sp.org/tlog-proof@v1')
  const plain = await readAll(token, 'proof=false')
  expect(plain.some((item) => 'record' in item || 'proof' in item)).toBe(false)
  expect((await api.ask('GET', '/v1/events?proof=maybe', { token })).status).toBe(400)
  notary = startNotary(api.ledger)
})
