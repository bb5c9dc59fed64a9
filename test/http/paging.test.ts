/** Guarantee: paging by cursor returns everything once, newest first, and a cursor works only in its own list. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { revokeLicense } from '../../src/commands/licenses/licenses.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { makeProduct, mint } from './samples.ts'

const Page = z.strictObject({
  items: z.array(z.looseObject({ id: z.string().optional(), productId: z.string(), createdAt: z.string() })),
  nextCursor: z.string().nullable(),
})

let api: TestApi
let tenant: TestTenant
const minted: string[] = []
const revoked: string[] = []

beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const keyTypes = [{ name: 'Short', duration: { count: 1, unit: 'day' } }, { name: 'Long' }]
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes })
  await makeProduct(api.ask, tenant.token, 'player', { keyTypes })
  // Thirty licenses at ten times, so that three of each time differ only in their ids.
  for (let n = 0; n < 30; n++) {
    if (n % 3 === 0) api.ledger.clock.advance(1000)
    const keyTypeId = n % 2 === 0 ? 'short' : 'long'
    const { id } = await mint(api.ask, tenant.token, n < 20 ? 'editor' : 'player', { keyTypeId })
    minted.push(id)
  }
  for (const id of minted.slice(0, 4)) {
    await revokeLicense(api.ledger.ports, tenant.tenantId, id, null, origin)
    revoked.push(id)
  }
})
afterAll(() => api.close())

async function page(url: string, token = tenant.token) {
  const { status, body } = await api.ask('GET', url, { token })
  expect({ url, status }).toStrictEqual({ url, status: 200 })
  return Page.parse(body)
}

async function walk(path: string): Promise<string[]> {
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const next: z.infer<typeof Page> = await page(cursor === '' ? path : `${path}&cursor=${cursor}`)
    seen.push(...next.items.map(({ id, productId }) => id ?? productId))
    cursor = next.nextCursor
  }
  return seen
}

const newestFirst = (ids: readonly string[]) => [...ids].reverse()

describe('a list of licenses', () => {
  // Ids increase with their creation, so of two at the same time the later one is greater.
  test.each([1, 2, 3, 7, 30, 100])(
    'in pages of %i contains every license once, newest first',
    async (limit) => {
      expect(await walk(`/v1/licenses?limit=${limit}`)).toStrictEqual(newestFirst(minted))
    },
  )

  test('has 25 entries per page by default, and no cursor after the last', async () => {
    const first = await page('/v1/licenses')
    expect(first.items).toHaveLength(25)
    const last = await page(`/v1/licenses?cursor=${first.nextCursor}`)
    expect(last.items).toHaveLength(5)
    expect(last.nextCursor).toBeNull()
    expect((await page('/v1/licenses?limit=30')).nextCursor).toBeNull()
  })

  test('is not affected by concurrent mints', async () => {
    const first = await page('/v1/licenses?limit=10')
    const added = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'long' })
    const second = await page(`/v1/licenses?limit=10&cursor=${first.nextCursor}`)
    expect(second.items.map(({ id }) => id)).toStrictEqual(newestFirst(minted).slice(10, 20))
    minted.push(added.id)
  })

  test('can be filtered by product and by the current status', async () => {
    const players = newestFirst(minted.slice(20, 30))
    expect(await walk('/v1/licenses?limit=4&product=player')).toStrictEqual(players)
    expect(await walk('/v1/licenses?limit=3&status=revoked')).toStrictEqual(newestFirst(revoked))
    expect(await walk('/v1/licenses?limit=3&status=expired')).toStrictEqual([])
    api.ledger.clock.advance(86_400_000)
    const short = minted.filter((id, n) => n < 30 && n % 2 === 0 && !revoked.includes(id))
    expect(await walk('/v1/licenses?limit=3&status=expired')).toStrictEqual(newestFirst(short))
    const long = minted.filter((id) => !short.includes(id) && !revoked.includes(id))
    expect(await walk('/v1/licenses?limit=3&status=active')).toStrictEqual(newestFirst(long))
    const both = newestFirst(short.filter((id) => players.includes(id)))
    expect(await walk('/v1/licenses?limit=2&product=player&status=expired')).toStrictEqual(both)
    expect(await walk('/v1/licenses?limit=2&product=absent')).toStrictEqual([])
  })
})

test('a list of products contains every product once, newest first, with equal times in order of id', async () => {
  const own = await makeTenant(api.ledger)
  for (const id of ['b', 'a', 'c']) await makeProduct(api.ask, own.token, id)
  api.ledger.clock.advance(1)
  await makeProduct(api.ask, own.token, 'newest')
  const first = await page('/v1/products?limit=2', own.token)
  const second = await page(`/v1/products?limit=2&cursor=${first.nextCursor}`, own.token)
  const ids = [...first.items, ...second.items].map(({ productId }) => productId)
  expect(ids).toStrictEqual(['newest', 'c', 'b', 'a'])
  expect(second.nextCursor).toBeNull()
})

describe('a cursor', () => {
  const malformed = {
    status: 400,
    body: { error: 'this cursor does not belong to this list; start again without it' },
  }
  const asked = async (url: string, token = tenant.token) => {
    const { status, body } = await api.ask('GET', url, { token })
    return { status, body }
  }
  const cursorOf = async (url: string) => (await page(url)).nextCursor ?? ''

  test('that was tampered with at any position is rejected', async () => {
    const cursor = await cursorOf('/v1/licenses?limit=1')
    for (let at = 0; at < cursor.length - 1; at += 7) {
      const other = cursor[at] === 'A' ? 'B' : 'A'
      const tampered = cursor.slice(0, at) + other + cursor.slice(at + 1)
      expect(await asked(`/v1/licenses?cursor=${tampered}`)).toStrictEqual(malformed)
    }
    for (const invented of ['a', 'abc', 'x'.repeat(900), cursor.slice(0, -4), `${cursor}AAAA`]) {
      expect(await asked(`/v1/licenses?cursor=${invented}`)).toStrictEqual(malformed)
    }
  })

  test('works only with its own filters', async () => {
    const cursor = await cursorOf('/v1/licenses?limit=1')
    for (const filter of ['status=active', 'product=editor', 'product=editor&status=active']) {
      expect(await asked(`/v1/licenses?${filter}&cursor=${cursor}`)).toStrictEqual(malformed)
    }
    const ofEditor = await cursorOf('/v1/licenses?limit=1&product=editor')
    expect(await asked(`/v1/licenses?cursor=${ofEditor}`)).toStrictEqual(malformed)
    expect(await asked(`/v1/licenses?product=player&cursor=${ofEditor}`)).toStrictEqual(malformed)
    expect(await asked(`/v1/licenses?product=editor&limit=9&cursor=${ofEditor}`)).toMatchObject({
      status: 200,
    })
  })

  test('works only in its own list', async () => {
    expect(await asked(`/v1/products?cursor=${await cursorOf('/v1/licenses?limit=1')}`)).toStrictEqual(
      malformed,
    )
    expect(await asked(`/v1/licenses?cursor=${await cursorOf('/v1/products?limit=1')}`)).toStrictEqual(
      malformed,
    )
  })

  test('works only for its own tenant', async () => {
    const other = await makeTenant(api.ledger)
    const cursor = await cursorOf('/v1/licenses?limit=1')
    expect(await asked(`/v1/licenses?cursor=${cursor}`, other.token)).toStrictEqual(malformed)
  })
})

test.each([
  'limit=0',
  'limit=101',
  'limit=-1',
  'limit=1.5',
  'limit=ten',
  'limit=',
  'limit=1&limit=2',
  'page=2',
  'cursor=',
])('a list with %s returns 400', async (query) => {
  for (const path of ['/v1/licenses', '/v1/products']) {
    const { status, body } = await api.ask('GET', `${path}?${query}`, { token: tenant.token })
    expect({ status, body }).toStrictEqual({ status: 400, body: { error: expect.any(String) as string } })
  }
})

test.each(['status=ended', 'status=', 'product=A', 'product=%00'])(
  'a list of licenses with %s returns 400',
  async (query) => {
    const { status } = await api.ask('GET', `/v1/licenses?${query}`, { token: tenant.token })
    expect(status).toBe(400)
  },
)
