/**
 * Guarantee: the lists of an API are read to their end, slowly when it says so; a download that is interrupted
 * continues with the next page, and what it brought is what an import reads from a file.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { download, isComplete } from '../../src/import/api/download.ts'
import type { ApiChoice } from '../../src/import/api/lists.ts'
import { type Api, getPage, ImportUnavailable, retryAfterMs } from '../../src/import/api/request.ts'
import { openExport } from '../../src/import/export.ts'
import type { SourceName } from '../../src/import/foreign.ts'
import { ImportProblem } from '../../src/import/problem.ts'
import { sourceOf } from '../../src/import/sources/sources.ts'
import { temporaryDirectory } from '../harness/ledger.ts'
import { type Answered, type Asked, type StandIn, startStandIn } from '../harness/stand-in.ts'

let server: StandIn
let answer: (asked: Asked) => Answered
let pauses: number[]
beforeAll(async () => {
  server = await startStandIn((asked) => answer(asked))
})
afterAll(() => server.close())
beforeEach(() => {
  server.asked.length = 0
  server.health = 'well'
  pauses = []
})

const pause = async (ms: number) => void pauses.push(ms)
const apiOf = (name: string): Api => ({
  name,
  baseUrl: server.url,
  apiKey: 'secret',
  accept: 'application/json',
  pause,
})
const page = (body: unknown): Answered => ({ status: 200, body })

describe('a page', () => {
  test('is asked for again after 429, 5xx and a broken connection', async () => {
    const answers: Answered[] = [
      { status: 429, body: {}, headers: { 'retry-after': '7' } },
      { status: 503, body: {} },
      page({ fine: true }),
    ]
    answer = () => answers.shift() ?? page({})
    expect(await getPage(apiOf('keygen'), '/v1/x')).toStrictEqual({ fine: true })
    expect(pauses).toStrictEqual([7000, expect.any(Number)])
    expect(server.asked.map(({ key }) => key)).toStrictEqual(['secret', 'secret', 'secret'])
  })

  test('that never comes ends the download, which can be continued', async () => {
    server.health = 'cut'
    await expect(getPage(apiOf('keygen'), '/v1/x')).rejects.toThrow(ImportUnavailable)
    expect(pauses).toHaveLength(9)
  })

  test.each([
    [401, 'keygen refuses the API key (401)'],
    [403, 'keygen refuses the API key (403)'],
    [404, 'keygen does not know the account'],
    [400, 'keygen refuses the request (400)'],
  ])('that is refused with %i is not asked for again', async (status, message) => {
    answer = () => ({ status, body: {} })
    await expect(getPage(apiOf('keygen'), '/v1/x')).rejects.toThrow(message)
    expect(server.asked).toHaveLength(1)
  })

  test('at another address never gets the key', async () => {
    await expect(getPage(apiOf('keygen'), 'https://elsewhere.example/x')).rejects.toThrow(ImportProblem)
    expect(server.asked).toHaveLength(0)
  })

  test.each([
    ['12', 12_000],
    ['100000', 60_000],
    ['Sun, 01 Mar 2026 12:00:05 GMT', 5000],
    ['Sun, 01 Mar 2026 11:00:05 GMT', 0],
    ['soon', undefined],
  ])('with Retry-After %s waits %s ms', (value, ms) => {
    const now = Date.parse('2026-03-01T12:00:00Z')
    expect(retryAfterMs(new Headers({ 'retry-after': value }), now)).toBe(ms)
  })
})

const choice: ApiChoice = { account: 'acme', licenseEntitlements: true }
const numbered = (count: number) => Array.from({ length: count }, (_, index) => index)

/** 250 licenses on three pages, each with a machine. */
const keygen = (asked: Asked): Answered => {
  const number = Number(asked.query.get('page[number]'))
  const resources = (all: unknown[]) => page({ data: all.slice((number - 1) * 100, number * 100) })
  const path = asked.path.replace('/v1/accounts/acme/', '')
  if (path === 'policies')
    return page({
      data: [{ id: 'p1', type: 'policies', attributes: { name: 'Pro', maxMachines: 2 } }],
      links: { next: null },
    })
  if (path === 'policies/p1/entitlements')
    return page({ data: [{ id: 'e1', type: 'entitlements', attributes: { code: 'SSO' } }] })
  if (path === 'users') return page({ data: [user] })
  if (path === 'licenses') return resources(numbered(250).map(license))
  if (path === 'machines') return resources(numbered(250).map(machine))
  if (path === 'components') return resources(numbered(250).map(component))
  if (path === 'groups') return page({ data: [{ id: 'g1', type: 'groups', attributes: { name: 'ACME' } }] })
  if (path === 'groups/g1/owners') return page({ data: [owner] })
  if (path === 'licenses/l3/users') return page({ data: [user] })
  const id = /^licenses\/(.+)\/entitlements$/.exec(path)?.[1]
  return page({
    data: id === 'l7' ? [{ id: 'e2', type: 'entitlements', attributes: { code: 'EXPORT' } }] : [],
  })
}

const license = (number: number) => ({
  id: `l${number}`,
  type: 'licenses',
  attributes: { key: `KEY-${number}-1234`, expiry: null, maxMachines: 2, created: '2025-01-01T00:00:00Z' },
  relationships: {
    policy: { data: { type: 'policies', id: 'p1' } },
    group: { data: number === 1 ? { type: 'groups', id: 'g1' } : null },
    users: { meta: { count: number === 3 ? 1 : 0 } },
  },
})

const user = { id: 'u1', type: 'users', attributes: { email: 'ada@example.com' } }

const owner = {
  id: 'o1',
  type: 'group-owners',
  relationships: {
    group: { data: { type: 'groups', id: 'g1' } },
    user: { data: { type: 'users', id: 'u1' } },
  },
}

const machine = (number: number) => ({
  id: `m${number}`,
  type: 'machines',
  attributes: { fingerprint: `fp-${number}` },
  relationships: { license: { data: { type: 'licenses', id: `l${number}` } } },
})

const component = (number: number) => ({
  id: `c${number}`,
  type: 'components',
  attributes: { fingerprint: `mac-${number}`, name: 'MAC' },
  relationships: { machine: { data: { type: 'machines', id: `m${number}` } } },
})

async function fetchInto(
  directory: string,
  name: SourceName,
  onPage: (list: string, page: number) => void = () => undefined,
) {
  const { api: lists } = sourceOf(name, { columns: new Map() })
  if (!lists) throw new Error('no API')
  await download({ api: apiOf(name), lists, choice, directory, onPage })
}

async function licensesIn(directory: string, name: SourceName) {
  const exported = await openExport(
    sourceOf(name, { columns: new Map() }),
    directory,
    join(temporaryDirectory(), 'work'),
  )
  const licenses = []
  for await (const found of exported.licenses()) licenses.push(found)
  exported.close()
  return licenses
}

class Killed extends Error {}

describe('a download', () => {
  test('brings every page of every list, for its owner only', async () => {
    answer = keygen
    const directory = join(temporaryDirectory(), 'keygen')
    await fetchInto(directory, 'keygen')
    expect(isComplete(directory)).toBe(true)
    for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).mode & 0o077).toBe(0)
    const licenses = await licensesIn(directory, 'keygen')
    expect(licenses).toHaveLength(250)
    expect(licenses.filter((found) => 'devices' in found && found.devices.length === 1)).toHaveLength(250)
    expect(licenses.find(({ externalId }) => externalId === 'l7')).toMatchObject({
      entitlements: ['SSO', 'EXPORT'],
      devices: [{ machine: 'fp-7', components: [{ name: 'MAC', value: 'mac-7' }] }],
    })
    const administrators = [{ email: 'ada@example.com', name: null, role: 'administrator' }]
    expect(licenses.find(({ externalId }) => externalId === 'l1')).toMatchObject({
      organization: { externalId: 'g1', name: 'ACME', people: administrators },
    })
    expect(licenses.find(({ externalId }) => externalId === 'l3')).toMatchObject({
      organization: { externalId: 'l3', people: [{ email: 'ada@example.com', name: null, role: 'member' }] },
    })
    const asked = server.asked.map(({ path }) => path).filter((path) => path.endsWith('/users'))
    expect(asked).toStrictEqual(['/v1/accounts/acme/users', '/v1/accounts/acme/licenses/l3/users'])
    server.asked.length = 0
    await fetchInto(directory, 'keygen')
    expect(server.asked).toHaveLength(0)
  })

  test('that is killed after any page continues with the next one', async () => {
    answer = keygen
    const whole = join(temporaryDirectory(), 'whole')
    await fetchInto(whole, 'keygen')
    const asked = server.asked.length
    server.asked.length = 0
    const directory = join(temporaryDirectory(), 'killed')
    let kills = 0
    while (!isComplete(directory)) {
      let pages = 0
      // Killed after the page was written and before it was noted.
      const kill = () => {
        if (++pages > 1 && kills < 20) throw new Killed()
      }
      await fetchInto(directory, 'keygen', kill).catch((error: unknown) => {
        if (!(error instanceof Killed)) throw error
        kills++
      })
    }
    expect(kills).toBe(20)
    // The page that was not noted is asked for again.
    expect(server.asked).toHaveLength(asked + kills)
    for (const name of readdirSync(whole)) {
      expect(readFileSync(join(directory, name), 'utf8')).toBe(readFileSync(join(whole, name), 'utf8'))
    }
  })

  test('of Lemon Squeezy ends with the last page, and asks for one store', async () => {
    answer = ({ path, query }) => {
      const number = Number(query.get('page[number]'))
      const data =
        path === '/v1/license-keys'
          ? [{ type: 'license-keys', id: String(number), attributes: { key: `KEY-${number}-12345` } }]
          : []
      return page({
        data,
        meta: { page: { currentPage: number, lastPage: path === '/v1/license-keys' ? 3 : 1 } },
      })
    }
    const directory = join(temporaryDirectory(), 'ls')
    await fetchInto(directory, 'lemonsqueezy')
    expect(await licensesIn(directory, 'lemonsqueezy')).toHaveLength(3)
    expect(
      server.asked.filter(({ query }) => query.get('filter[store_id]') === 'acme').map(({ path }) => path),
    ).toStrictEqual(['/v1/products', ...numbered(3).map(() => '/v1/license-keys'), '/v1/customers'])
  })

  test('of Gumroad follows the keys of its pages', async () => {
    const sale = (id: string) => ({ id, license_key: `KEY-${id}-12345`, created_at: '2025-01-05T19:38:56Z' })
    answer = ({ query }) =>
      query.get('page_key') === 'two'
        ? page({ success: true, sales: [sale('b')] })
        : page({
            success: true,
            sales: [sale('a')],
            next_page_key: 'two',
            next_page_url: '/v2/sales?page_key=two',
          })
    const directory = join(temporaryDirectory(), 'gumroad')
    await fetchInto(directory, 'gumroad')
    expect(
      (await licensesIn(directory, 'gumroad')).map(({ externalId }) => externalId).toSorted(),
    ).toStrictEqual(['a', 'b'])
  })

  test('of Cryptlex ends with the first page that is not full', async () => {
    answer = ({ path, query }) => {
      const number = Number(query.get('page'))
      if (path === '/v3/organizations')
        return page([{ id: 'o1', name: 'ACME', email: 'office@acme.example' }])
      if (path === '/v3/users') return page([{ id: 'u1', email: 'ada@example.com', organizationId: 'o1' }])
      const all = path === '/v3/licenses' ? numbered(150) : []
      return page(
        all
          .slice((number - 1) * 100, number * 100)
          .map((id) => ({ id: `c${id}`, key: `KEY-${id}-12345`, organizationId: id === 7 ? 'o1' : null })),
      )
    }
    const directory = join(temporaryDirectory(), 'cryptlex')
    await fetchInto(directory, 'cryptlex')
    const licenses = await licensesIn(directory, 'cryptlex')
    expect(licenses).toHaveLength(150)
    expect(licenses.filter((found) => 'organization' in found && found.organization)).toMatchObject([
      { externalId: 'c7', organization: { name: 'ACME', people: [{ email: 'ada@example.com' }] } },
    ])
  })

  test('of Paddle follows its pages on the same server', async () => {
    answer = ({ path, query }) => {
      const isFirst = query.get('after') === null
      const data =
        path === '/subscriptions'
          ? [
              {
                id: isFirst ? 'sub_1' : 'sub_2',
                status: 'active',
                custom_data: { license_key: `KEY-${isFirst}-12345` },
                created_at: '2025-01-05T19:38:56Z',
              },
            ]
          : []
      const next = `https://api.paddle.com${path}?after=x`
      return page({
        data,
        meta: { pagination: { per_page: 200, next, has_more: isFirst && path === '/subscriptions' } },
      })
    }
    const directory = join(temporaryDirectory(), 'paddle')
    await fetchInto(directory, 'paddle')
    expect(await licensesIn(directory, 'paddle')).toHaveLength(2)
  })

  test('in an unknown form is refused, not taken for an empty list', async () => {
    answer = () => page({ error: 'maintenance' })
    const directory = join(temporaryDirectory(), 'unknown')
    await expect(fetchInto(directory, 'gumroad')).rejects.toThrow(
      'gumroad answered with a page in an unknown form.',
    )
    expect(existsSync(join(directory, 'sales.jsonl'))).toBe(false)
  })
})
