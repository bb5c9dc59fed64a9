// cspell:ignore lovel
// Guarantee: what is typed becomes a request of the described types, a value that is not valid is refused with what
// is allowed, and secrets come from files alone.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../../src/cli/remote/operations/all.ts'
import { requestOf } from '../../../src/cli/remote/operations/request.ts'
import { fitted, linesOf } from '../../../src/cli/remote/output.ts'
import { CommandMisused } from '../../../src/terminal/exit-codes.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'kl-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

const now = new Date('2026-11-21T09:30:00Z')
const named = (id: string) => {
  const found = operations.find((operation) => operation.id === id)
  if (!found) throw new Error(`there is no operation ${id}`)
  return found
}
const request = (id: string, args: string[], typed: object = {}) =>
  requestOf(named(id), args, typed as Record<string, unknown>, now)

test('fields of a body have their types', async () => {
  const { method, path, body } = await request('mintLicense', [], {
    product: 'editor',
    quantity: '3',
    expiresAt: '30d',
    deviceLimit: 'none',
    metadata: ['order=4711', 'note=a=b'],
    sendKey: true,
  })
  expect({ method, path, body }).toStrictEqual({
    method: 'POST',
    path: '/v1/licenses',
    body: {
      productId: 'editor',
      quantity: 3,
      expiresAt: '2026-12-21T09:30:00.000Z',
      deviceLimit: null,
      metadata: { order: '4711', note: 'a=b' },
      sendKey: true,
    },
  })
})

test('values of entitlements are numbers, true and text, in quotes where it would be another value', async () => {
  const { body } = await request('updateKeyType', ['editor', 'pro'], {
    entitlementValue: [
      'projects=25',
      'export=true',
      'tier=gold',
      'until=2027-11-21',
      'label="7"',
      'no=false',
    ],
  })
  expect(body).toStrictEqual({
    entitlementValues: {
      projects: 25,
      export: true,
      tier: 'gold',
      until: '2027-11-21',
      label: '7',
      no: false,
    },
  })
})

test('parameters of a path are encoded, and those of a query are text', async () => {
  const shown = await request('getLicense', ['../tokens?x'], { asOf: '3' })
  expect(shown).toMatchObject({ path: '/v1/licenses/..%2Ftokens%3Fx', query: { asOf: '3' } })
  const listed = await request('listLicenses', [], { metadata: ['order=4711'], limit: '10' })
  expect(listed.query).toStrictEqual({ 'metadata[order]': '4711', limit: '10' })
})

test('options replace fields of --data', async () => {
  const file = join(directory, 'body.json')
  writeFileSync(file, '{"name":"Pro","deviceLimit":2}')
  const { body } = await request('createKeyType', ['editor'], {
    data: `@${file}`,
    deviceLimit: '5',
    duration: '12mo',
  })
  expect(body).toStrictEqual({ name: 'Pro', deviceLimit: 5, duration: { count: 12, unit: 'month' } })
})

test('an empty text removes a text', async () => {
  expect((await request('updateCustomer', ['cus_1'], { name: '' })).body).toStrictEqual({ name: null })
})

test('a secret is the first line of a file', async () => {
  const file = join(directory, 'secret')
  writeFileSync(file, 'sk_live_1\nother\n')
  const { body } = await request('createProviderEndpoint', ['polar'], { apiKeyFile: file })
  expect(body).toStrictEqual({ apiKey: 'sk_live_1' })
})

test('a file is sent in base64', async () => {
  const file = join(directory, 'logo.png')
  writeFileSync(file, Buffer.from([0x89, 0x50, 0xff]))
  expect((await request('setPortalLogo', [file])).body).toStrictEqual({ data: 'iVD/' })
})

describe('a value that is not valid is refused', () => {
  test.each([
    ['mintLicense', [], {}, '--product must be given'],
    [
      'mintLicense',
      [],
      { product: 'editor', quantity: 'two' },
      '--quantity must be a whole number; it is two',
    ],
    [
      'mintLicense',
      [],
      { product: 'editor', expiresAt: 'soon' },
      '--expires-at must be a time such as 2027-01-31',
    ],
    [
      'mintLicense',
      [],
      { product: 'editor', metadata: ['order'] },
      '--metadata must be name=value; it is order',
    ],
    ['mintLicense', [], { data: '[]' }, '--data must be a JSON object'],
    ['mintLicense', [], { data: '{' }, '--data is not JSON'],
    ['listLicenses', [], { status: 'gone' }, '--status must be one of active, fallback'],
    ['setFreeTier', ['editor', 'maybe'], {}, 'enabled must be true or false; it is maybe'],
    [
      'createKeyType',
      ['editor'],
      { name: 'Pro', duration: '1w' },
      '--duration must be such as 30d, 12mo or 1y',
    ],
    ['createProviderEndpoint', ['polar'], {}, '--api-key-file must be given'],
    ['createProviderEndpoint', ['polar'], { apiKeyFile: '/nowhere' }, '--api-key: cannot read /nowhere'],
  ])('%s %j %j', async (id, args, typed, message) => {
    const refused = request(id, args, typed)
    await expect(refused).rejects.toThrow(CommandMisused)
    await expect(refused).rejects.toThrow(message)
  })
})

describe('tables', () => {
  const rows = [
    ['LICENSE', 'HOLDER', 'STATUS'],
    ['lic_01m7zhfd2meq3b7dznv5m6kq7s', 'ada.lovelace@example.com', 'active'],
  ]

  test('columns are cut to the width of the terminal, except for the first', () => {
    const [, cut = []] = fitted(rows, 50)
    expect(cut).toStrictEqual(['lic_01m7zhfd2meq3b7dznv5m6kq7s', 'ada.lovel…', 'active'])
    expect(cut.join('  ').length).toBe(50)
    expect(fitted(rows, 20)[1]?.[0]).toBe('lic_01m7zhfd2meq3b7dznv5m6kq7s')
    expect(fitted(rows, undefined)).toStrictEqual(rows)
  })

  test('a list has its columns, and a resource its fields, without characters that control a terminal', () => {
    const item = { productId: 'editor', name: 'Ed\u001b[2Jitor\n', keyPrefix: null }
    expect(linesOf(named('listProducts'), { items: [item], nextCursor: null }, undefined)).toStrictEqual([
      'PRODUCT  NAME        PREFIX  CREATED',
      'editor   Ed[2Jitor   -       -',
    ])
    expect(linesOf(named('listProducts'), { items: [], nextCursor: null }, undefined)).toStrictEqual([
      'Nothing found.',
    ])
    expect(
      linesOf(named('mintLicense'), { license: { id: 'lic_1' }, licenseKey: 'ACME-1' }, undefined),
    ).toStrictEqual(['id: lic_1', 'licenseKey: ACME-1'])
  })
})
