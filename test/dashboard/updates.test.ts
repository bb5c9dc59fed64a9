/**
 * Guarantee: the period of updates and the releases of a product are set on pages by the same rules as through the API, and
 * the page of a license and the portal's words say until when builds are covered.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let client: Client
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Pro', keyTypeId: 'pro' }] })
  client = clientOf(api.app)
  await client.signIn(await makeMember(api.ledger, tenant.tenantId, 'admin'))
})
afterAll(() => api.close())

const get = async (path: string) => (await api.ask('GET', `/v1/${path}`, { token: tenant.token })).body
const Updates = z.object({ license: z.looseObject({ updatesUntil: z.string().optional() }) })
const updatesOf = async (id: string) => Updates.parse(await get(`licenses/${id}`)).license.updatesUntil

describe('the period of a key type', () => {
  const path = '/dashboard/products/editor/key-types/pro/edit'
  const keyTypes = () => get('products/editor/key-types')

  test('is set, shown and removed on its page', async () => {
    const fields = { ...fieldsOf(await client.get(path)), updatesCount: '18', updatesUnit: 'month' }
    expect((await client.post(path, fields)).status).toBe(303)
    expect(await keyTypes()).toMatchObject({ keyTypes: [{ updates: { count: 18, unit: 'month' } }] })
    expect(wordsOf(await client.get('/dashboard/products/editor'))).toContain('Updates 18 months')
    expect(fieldsOf(await client.get(path))).toMatchObject({ updatesCount: '18', updatesUnit: 'month' })
    await client.post(path, { ...fieldsOf(await client.get(path)), updatesCount: '' })
    expect(JSON.stringify(await keyTypes())).not.toContain('updates')
  })
})

describe('the end of the updates of a license', () => {
  test('is set when it is minted, shown on its page, and changed or removed', async () => {
    const form = fieldsOf(await client.get('/dashboard/new-license?product=editor'))
    expect((await client.post('/dashboard/licenses', { ...form, updatesOn: '2027-11-21' })).status).toBe(200)
    const { items } = z
      .looseObject({ items: z.array(z.looseObject({ id: z.string() })) })
      .parse(await get('licenses?product=editor'))
    const id = items[0]?.id ?? ''
    expect(await updatesOf(id)).toBe('2027-11-21T23:59:59.000Z')
    expect(wordsOf(await client.get(`/dashboard/licenses/${id}`))).toContain(
      'Updates until 21 Nov 2027, 23:59 UTC',
    )
    const edit = `/dashboard/licenses/${id}/change/edit`
    const change = async (fields: object) =>
      client.post(edit, { ...fieldsOf(await client.get(edit)), ...fields })
    await change({ email: 'ada@example.com' })
    expect(await updatesOf(id)).toBe('2027-11-21T23:59:59.000Z')
    expect(wordsOf(await change({ updates: 'day' }))).toContain('Enter a day as 2027-11-21.')
    await change({ updates: 'day', updatesOn: '2028-02-29' })
    expect(await updatesOf(id)).toBe('2028-02-29T23:59:59.000Z')
    await change({ updates: 'never' })
    expect(await updatesOf(id)).toBeUndefined()
    const words = wordsOf(await client.get(`/dashboard/licenses/${id}`))
    expect(words).toContain('Updates until')
    expect(words).toContain('every build')
  })

  test('is not spoken of for a license without one', async () => {
    const { id } = await mint(api.ask, tenant.token, 'editor')
    expect(wordsOf(await client.get(`/dashboard/licenses/${id}`))).not.toContain('Updates until')
  })
})

describe('the releases of a product', () => {
  const path = '/dashboard/products/editor/releases'
  const save = async (releases: string) =>
    client.post(path, { ...fieldsOf(await client.get(path)), releases })

  test('are edited as lines, and shown on its page', async () => {
    const lines = [
      '3.4.1 2026-11-21T09:30:00Z stable https://acme.example/3.4.1',
      '',
      '4.0-beta 2026-12-01 beta',
      '3.4.0 2026-11-01T01:00:00+01:00',
    ]
    expect((await save(lines.join('\r\n'))).status).toBe(303)
    expect(await get('products/editor/releases')).toStrictEqual({
      releases: [
        { version: '4.0-beta', builtAt: '2026-12-01T00:00:00.000Z', channel: 'beta', url: null },
        {
          version: '3.4.1',
          builtAt: '2026-11-21T09:30:00.000Z',
          channel: 'stable',
          url: 'https://acme.example/3.4.1',
        },
        { version: '3.4.0', builtAt: '2026-11-01T00:00:00.000Z', channel: 'stable', url: null },
      ],
    })
    const kept = fieldsOf(await client.get(path)).releases ?? ''
    expect(kept.split('\n')).toStrictEqual([
      '4.0-beta 2026-12-01 beta',
      '3.4.1 2026-11-21T09:30:00Z stable https://acme.example/3.4.1',
      '3.4.0 2026-11-01 stable',
    ])
    expect(wordsOf(await client.get('/dashboard/products/editor'))).toContain('4.0-beta')
  })

  test.each([
    ['3.4.1', 'Line 1 is no release'],
    ['3.4.1 2026-11-21\n3.5 soon', 'Line 2 is no release'],
    ['3.4.1 2026-11-21 http://acme.example/', 'Line 1 is no release'],
    ['3.4.1 2026-11-21 stable beta', 'Line 1 is no release'],
    ['1 2026-11-21\n1 2026-11-22', 'There are two releases 1 on the channel stable.'],
  ])('that cannot be read are shown again, with what is wrong: %s', async (lines, words) => {
    const before = await get('products/editor/releases')
    const seen = await save(lines)
    expect(wordsOf(seen)).toContain(words)
    expect(fieldsOf(seen).releases).toBe(lines)
    expect(await get('products/editor/releases')).toStrictEqual(before)
  })

  test('do not replace a change that the member has not seen', async () => {
    const fields = fieldsOf(await client.get(path))
    api.ledger.clock.advance(1000)
    const theirs = [{ version: '9', builtAt: '2026-12-24T00:00:00.000Z' }]
    await api.ask('PUT', '/v1/products/editor/releases', { token: tenant.token, body: { releases: theirs } })
    const seen = await client.post(path, { ...fields, releases: '8 2026-12-23' })
    expect(wordsOf(seen)).toContain('changed since you opened this page')
    expect(await get('products/editor/releases')).toMatchObject({ releases: [{ version: '9' }] })
  })

  test('with a space in a version are left to the API', async () => {
    const theirs = [{ version: '9 (gold)', builtAt: '2026-12-24T00:00:00.000Z' }]
    await api.ask('PUT', '/v1/products/editor/releases', { token: tenant.token, body: { releases: theirs } })
    expect(wordsOf(await client.get(path))).toContain('Change it over the API')
  })
})
