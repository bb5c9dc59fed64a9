/** Guarantee: concurrent validates share a query, and each gets the same response as it would alone. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newToken } from '../../../src/credentials/token.ts'
import { cycling } from '../../credentials/bytes.ts'
import { makeTenant, openTestApi, type TestApi } from '../../harness/api.ts'
import { makeProduct, mint } from '../../http/samples.ts'

type Question = { token: string; product_id: string; license_key: string; device_id: string }

let api: TestApi
let questions: Question[]
const alone = new Map<Question, Answer>()

beforeAll(async () => {
  api = await openTestApi()
  const tokens = [newToken('pat', cycling([1, 2, 3])).token]
  const keys = ['a key of nobody']
  for (const entitlement of ['export', 'sync']) {
    const tenant = await makeTenant(api.ledger)
    const token = await tenant.tokenWith('licenses:runtime')
    tokens.push(token)
    // Both tenants have products of the same names with other entitlements.
    for (const product of ['editor', 'player']) {
      const keyTypes = [{ name: 'Standard', entitlements: [`${product}-${entitlement}`] }]
      await makeProduct(api.ask, tenant.token, product, { keyTypes })
      const { licenseKey } = await mint(api.ask, tenant.token, product, { keyTypeId: 'standard' })
      const body = { product_id: product, license_key: licenseKey, device_id: 'laptop', name: 'Laptop' }
      expect((await api.ask('POST', '/v1/licenses/activate', { token, body })).status).toBe(200)
      keys.push(licenseKey)
    }
  }
  questions = tokens.flatMap((token) =>
    ['editor', 'player', 'nothing'].flatMap((product_id) =>
      keys.flatMap((license_key) =>
        ['laptop', 'phone'].map((device_id) => ({ token, product_id, license_key, device_id })),
      ),
    ),
  )
  for (const question of questions) alone.set(question, await ask(question))
})
afterAll(() => api.close())

type Answer = { status: number; body: unknown }

async function ask({ token, ...body }: Question): Promise<Answer> {
  const answered = await api.ask('POST', '/v1/licenses/validate', { token, body })
  return { status: answered.status, body: answered.body }
}

test('a license is valid only for its own tenant, product and device', () => {
  const good = [...alone.values()].filter(({ body }) => JSON.stringify(body).includes('"valid":true'))
  expect(good).toHaveLength(4)
  expect(new Set(good.map(({ body }) => JSON.stringify(body))).size).toBe(4)
  expect(new Set([...alone.values()].map(({ status }) => status))).toStrictEqual(new Set([200, 401, 404]))
})

test('concurrent validates in any order get the same responses as single ones', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { minLength: 2, maxLength: 24 }), async (picks) => {
      const asked = picks.flatMap((pick) => questions[pick % questions.length] ?? [])
      const together = await Promise.all(asked.map(ask))
      expect(together).toStrictEqual(asked.map((question) => alone.get(question)))
    }),
    { numRuns: 40 },
  ))
