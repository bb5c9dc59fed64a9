/**
 * Guarantee: paging through a list while licenses are minted, imported and revoked returns every license that
 * existed at the beginning exactly once, in order.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { revokeLicense } from '../../src/commands/licenses/licenses.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { importRows, makeProduct, mint } from './samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const Page = z.object({
  items: z.array(z.looseObject({ id: z.string(), createdAt: z.string() })),
  nextCursor: z.string().nullable(),
})
type Item = z.infer<typeof Page>['items'][number]

/** @param between called before each further page */
async function walk(query: string, between: () => Promise<void> = async () => undefined): Promise<Item[]> {
  const seen: Item[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const url: string = `/v1/licenses?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`
    const { body } = await api.ask('GET', url, { token: tenant.token })
    const { items, nextCursor } = Page.parse(body)
    seen.push(...items)
    cursor = nextCursor
    if (cursor !== null) await between()
  }
  return seen
}

const idsOf = (items: readonly Item[]) => items.map(({ id }) => id)
const place = ({ createdAt, id }: Item) => `${createdAt} ${id}`

let made = 0
/** Adds licenses all over the list: now, at the times of others, and in the past. */
async function add(): Promise<void> {
  const { ledger, ask } = api
  if (made % 3 === 0) ledger.clock.advance(1)
  await mint(ask, tenant.token, 'editor')
  const createdAt = new Date(ledger.clock.now().getTime() - (made % 7) * 1000 * (made % 50)).toISOString()
  await importRows(ask, tenant.token, 'editor', [{ licenseKey: `while paging ${made++}`, createdAt }])
}

test.each([2, 7, 100])(
  'paging by %i returns every license once when licenses are added before every page',
  async (limit) => {
    for (let count = 0; count < 20; count++) await add()
    const before = await walk('limit=100')
    const seen = await walk(`limit=${limit}`, add)
    expect(new Set(idsOf(seen)).size).toBe(seen.length)
    const known = new Set(idsOf(seen))
    expect(idsOf(before).filter((id) => !known.has(id))).toStrictEqual([])
    expect(seen.map(place)).toStrictEqual(seen.map(place).toSorted().toReversed())
  },
)

test('concurrent paging returns every license once during concurrent mints', async () => {
  const walking = new AbortController()
  const acknowledged: string[] = []
  const minting = Array.from({ length: 4 }, async () => {
    while (!walking.signal.aborted) {
      acknowledged.push((await mint(api.ask, tenant.token, 'editor')).id)
      if (acknowledged.length % 5 === 0) api.ledger.clock.advance(1)
    }
  })
  const walkers = Array.from({ length: 4 }, async (_, n) => {
    for (let round = 0; round < 3; round++) {
      const before = [...acknowledged]
      const seen = idsOf(await walk(`limit=${20 + n}`))
      const known = new Set(seen)
      expect(known.size).toBe(seen.length)
      expect(before.filter((id) => !known.has(id))).toStrictEqual([])
    }
  })
  await Promise.all(walkers)
  walking.abort()
  await Promise.all(minting)
  expect(acknowledged.length).toBeGreaterThan(20)
})

test('paging filtered by status omits only licenses whose status changes meanwhile', async () => {
  const before = idsOf(await walk('limit=100&status=active'))
  const revoked: string[] = []
  const seen = await walk('limit=10&status=active', async () => {
    const id = before[before.length - 1 - revoked.length * 3]
    if (id === undefined) return
    await revokeLicense(api.ledger.ports, tenant.tenantId, id, null, origin)
    revoked.push(id)
  })
  const known = new Set(idsOf(seen))
  expect(known.size).toBe(seen.length)
  expect(revoked.length).toBeGreaterThan(5)
  expect(before.filter((id) => !known.has(id) && !revoked.includes(id))).toStrictEqual([])
})
