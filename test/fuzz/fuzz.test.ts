/**
 * Guarantee: every request gets a documented response and never a 5xx, and a refused request changes nothing. This
 * is a short run; `npm run fuzz` sends 100,000 requests.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { startNotary, type TestNotary } from '../harness/notary.ts'
import { wholeVariable } from '../harness/variables.ts'
import { type FuzzedRequest, requests } from './request.ts'

const runs = wholeVariable('KEYLEDGER_FUZZ_RUNS', 500)
/** Progress of a long run. */
const reportEvery = 5000

let notary: TestNotary
let api: TestApi
let tenant: TestTenant
let ids: string[]
beforeAll(async () => {
  api = await openTestApi({ providers: { stripeWebhookSecret: 'whsec_fuzzed' } })
  tenant = await makeTenant(api.ledger)
  const { token } = tenant
  const made = async (path: string, body: object) => (await api.ask('POST', path, { token, body })).body
  await made('/v1/products', {
    name: 'Editor',
    productId: 'editor',
    keyTypes: [{ keyTypeId: 'pro', name: 'Pro' }],
  })
  const minted = (await made('/v1/licenses', { productId: 'editor' })) as { license: { id: string } }
  notary = startNotary(api.ledger)
  await notary.upToDate()
  ids = ['editor', 'pro', minted.license.id, 'lic_00000000000000000000000000', 'stripe', 'gumroad']
})
afterAll(async () => {
  await notary.stop()
  await api.close()
})

test(
  'a request of any shape is answered as described, and changes nothing when it is refused',
  async () => {
    const known = {
      ids,
      tokens: [tenant.token, await tenant.tokenWith('licenses:read'), 'garbage', undefined],
      // It would revoke the token of all other requests.
      except: ['POST /v1/logout'],
    }
    let asked = 0
    const answered = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(requests(api.app.swagger(), known), async (request) => {
        const status = await holds(request)
        answered.set(status, (answered.get(status) ?? 0) + 1)
        asked++
        if (asked % reportEvery === 0) process.stderr.write(`${asked.toLocaleString('en-US')} requests\n`)
      }),
      { numRuns: runs },
    )
    if (runs >= reportEvery)
      process.stderr.write(`answers by status: ${JSON.stringify(Object.fromEntries(answered))}\n`)
    // If all requests failed alike, the test would prove nothing.
    const succeeded = [...answered]
      .filter(([status]) => status < 300)
      .reduce((sum, [, count]) => sum + count, 0)
    expect(succeeded).toBeGreaterThan(asked / 20)
    for (const status of [400, 401, 403, 404]) expect(answered.has(status)).toBe(true)
  },
  60_000 + runs * 50,
)

const earlier = new Set<string>()

async function holds({ method, url, token, raw, headers }: FuzzedRequest): Promise<number> {
  const { ledger } = api.ledger.ports
  const before = await ledger.head()
  const {
    status,
    body,
    headers: answered,
  } = await api.ask(method, url, {
    token,
    headers,
    ...(raw !== undefined && { raw }),
  })
  expect(status).toBeLessThan(500)
  if (status < 400) {
    earlier.add(String(answered['request-id']))
    return status
  }
  expect(body).toHaveProperty('error')
  // A test purchase of an earlier request may continue meanwhile.
  const { entries } = await ledger.readPage(before, 100)
  const own = entries.filter((entry) => !entry.readable || !earlier.has(entry.metadata.requestId))
  expect(own).toStrictEqual([])
  return status
}
