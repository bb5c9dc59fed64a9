/**
 * Guarantee: an export of licenses as CSV, with their keys added, is imported into a product with the same key types, and exported
 * again with the same text in every column that an import sets.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { askApproveRepeat } from '../harness/gate.ts'
import { parseCsv } from '../http/parse-csv.ts'
import { type Imports, openImports, type Vendor } from './imports.ts'
import { customersOf } from './organizations.ts'

let imports: Imports
beforeAll(async () => {
  imports = await openImports()
})
afterAll(() => imports.close())

const product = {
  keyTypes: [
    {
      name: 'Pro',
      keyTypeId: 'pro',
      deviceLimit: 2,
      sellInMultiples: true,
      entitlements: ['export', 'projects', 'tier'],
      entitlementValues: { projects: 25, tier: 'gold, "plus"' },
      updates: { count: 1, unit: 'year' },
    },
    {
      name: 'Yearly',
      keyTypeId: 'yearly',
      duration: { count: 1, unit: 'year' },
      onExpiry: 'fallback',
      graceSeconds: 10 * 86_400,
      entitlements: ['export', 'sso'],
      fallbackEntitlements: ['export'],
      seatPolicy: 'floating',
      floatingSeats: { seatSeconds: 600, overdraft: { share: 0.5 }, scope: 'device' },
    },
  ],
}

const moment = (from: string, to: string) =>
  fc.date({ min: new Date(from), max: new Date(to), noInvalidDate: true }).map((date) => date.toISOString())

const texts = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...',"\n=+-@\'a {}\\ ') }))

/** A license, and what is changed of it. */
const anyLicense = fc.record({
  row: fc.record(
    {
      keyTypeId: fc.constantFrom('pro', 'yearly'),
      email: fc.constantFrom('ada@example.com', '+1@example.com', "'+1@example.com", "o'hara@example.com"),
      quantity: fc.constantFrom(1, 1, 3),
      expiresAt: fc.option(moment('2021-01-01', '2029-01-01')),
      updatesUntil: fc.option(moment('2021-01-01', '2029-01-01')),
      createdAt: moment('2020-01-01', '2026-02-01'),
      status: fc.constant('revoked'),
      metadata: fc.dictionary(
        fc.string({ minLength: 1, unit: fc.constantFrom(...'=+-"a1 ,') }).filter((key) => key.trim() === key),
        texts,
        { maxKeys: 3, noNullPrototype: true },
      ),
    },
    { requiredKeys: ['keyTypeId', 'createdAt'] },
  ),
  deviceLimit: fc.constantFrom(undefined, undefined, null, 7),
  suspended: fc.constantFrom(false, false, true),
})

const Results = z.object({ results: z.array(z.object({ index: z.int(), id: z.string().optional() })) })

let keys = 0
/** Makes licenses, and leaves out those that the API refuses. @returns the key of each, by its id */
async function make(
  { token }: Vendor,
  licenses: readonly { row: object; deviceLimit: number | null | undefined; suspended: boolean }[],
): Promise<Map<string, string>> {
  const { ask } = imports.api
  const rows = licenses.map(({ row }) => ({ ...row, licenseKey: `OLD-KEY-${++keys}` }))
  const { body } = await ask('POST', '/v1/licenses/import', {
    token,
    body: { productId: 'editor', licenses: rows },
  })
  const made = new Map<string, string>()
  for (const { index, id } of Results.parse(body).results) {
    if (id === undefined) continue
    made.set(id, rows[index]?.licenseKey ?? '')
    const { deviceLimit, suspended = false } = licenses[index] ?? {}
    if (deviceLimit !== undefined) await ask('PATCH', `/v1/licenses/${id}`, { token, body: { deviceLimit } })
    if (suspended) await ask('POST', `/v1/licenses/${id}/suspend`, { token, body: {} })
  }
  return made
}

const exported = async (vendor: Vendor) =>
  (await askApproveRepeat(imports.api, vendor, 'GET', '/v1/licenses/export?format=csv')).text

const kept = [
  'productId',
  'keyTypeId',
  'status',
  'quantity',
  'deviceLimit',
  'entitlements',
  'entitlementValues',
  'expiresAt',
  'updatesUntil',
  'email',
  'createdAt',
  'floatingSeats',
] as const

const Metadata = z.record(z.string(), z.string())

/** What an import keeps of each license, by the id that it has in the first export. */
function keptOf(csv: string, ids: 'own' | 'imported'): Map<string, Record<string, string>> {
  const [head = [], ...lines] = parseCsv(csv)
  return new Map(
    lines.map((cells) => {
      const row = Object.fromEntries(head.map((name, index) => [name, cells[index] ?? '']))
      const { importedFrom, externalId = '', ...metadata } = Metadata.parse(JSON.parse(row.metadata ?? ''))
      if (ids === 'imported') expect(importedFrom).toBe('csv')
      const columns = Object.fromEntries(kept.map((name) => [name, row[name] ?? 'no column']))
      return [
        ids === 'own' ? (row.id ?? '') : externalId,
        { ...columns, metadata: JSON.stringify(metadata) },
      ] as const
    }),
  )
}

const quoted = (cells: readonly string[]) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')

function withKeys(csv: string, licenseKeys: ReadonlyMap<string, string>): string {
  const [head = [], ...lines] = parseCsv(csv)
  const added = lines.map((cells) => [...cells, licenseKeys.get(cells[0] ?? '') ?? ''])
  return [[...head, 'licenseKey'], ...added].map((cells) => `${quoted(cells)}\r\n`).join('')
}

test('export, import and export give the same text', () =>
  fc.assert(
    fc.asyncProperty(fc.array(anyLicense, { minLength: 15, maxLength: 25 }), async (licenses) => {
      const from = await imports.vendor('unlimited', product)
      const made = await make(from, licenses)
      fc.pre(made.size > 5)
      const first = await exported(from)
      const to = await imports.vendor('unlimited', product)
      const path = imports.exported(withKeys(first, made))
      const { tally } = await imports.run(to, 'csv', path, { apply: true })
      expect(tally).toMatchObject({ imported: made.size, leftOut: 0, notes: [] })
      expect(keptOf(await exported(to), 'imported')).toStrictEqual(keptOf(first, 'own'))
    }),
    { numRuns: 5, endOnFailure: true },
  ))

/** The organizations of licenses, as columns that are added to their export: names, administrators and members. */
async function withOrganizations(vendor: Vendor, csv: string): Promise<string[][]> {
  const organizations = new Map(
    (await customersOf(imports, vendor)).map((customer) => [customer.id, customer]),
  )
  const [head = [], ...lines] = parseCsv(csv)
  const column = head.indexOf('customerId')
  const cells = lines.map((line) => {
    const { name, people } = organizations.get(line[column] ?? '') ?? {}
    const addresses = (role: string) =>
      people?.flatMap((person) => (person.endsWith(` ${role}`) ? person.slice(0, -role.length - 1) : []))
    return people
      ? [name ?? '', addresses('administrator')?.join(' ') ?? '', addresses('member')?.join(' ') ?? '']
      : ['', '', '']
  })
  return [['organization', 'administrators', 'members'], ...cells]
}

const beside = (csv: string, columns: readonly string[][]): string =>
  parseCsv(csv)
    .map((cells, index) => `${quoted([...cells, ...(columns[index] ?? [])])}\r\n`)
    .join('')

test('organizations and their people come over with an export, and are the same in the next one', async () => {
  const source = [
    'licenseKey,organization,administrators,members,createdAt',
    'OLD-ORG-1,ACME,ada@example.com bob@example.com,carl@example.com,2024-01-04',
    'OLD-ORG-2,ACME,,,2024-01-03',
    'OLD-ORG-3,Globex,ada@example.com,,2024-01-02',
    'OLD-ORG-4,,,,2024-01-01',
  ]
  const from = await imports.vendor()
  await imports.run(from, 'csv', imports.exported(source.join('\n')), { apply: true })
  const first = await exported(from)
  const organizations = await withOrganizations(from, first)
  expect(organizations.map(([name]) => name)).toStrictEqual(['organization', 'ACME', 'ACME', 'Globex', ''])
  const [, ...lines] = parseCsv(first)
  const licenseKeys = new Map(lines.map(([id = ''], index) => [id, `OLD-ORG-${index + 1}`]))
  const to = await imports.vendor()
  const path = imports.exported(withKeys(beside(first, organizations), licenseKeys))
  const { tally } = await imports.run(to, 'csv', path, { apply: true })
  expect(tally).toMatchObject({
    imported: 4,
    notes: [],
    organizations: { imported: 2, people: 4, notes: [] },
  })
  const second = await exported(to)
  expect(await withOrganizations(to, second)).toStrictEqual(organizations)
  const withoutIds = (of: Map<string, Record<string, string>>) => [...of.values()]
  expect(withoutIds(keptOf(second, 'imported'))).toStrictEqual(withoutIds(keptOf(first, 'own')))
})

test('a key type that the product does not have is named, and nothing is imported', async () => {
  const from = await imports.vendor('unlimited', product)
  const made = await make(from, [{ row: { keyTypeId: 'pro' }, deviceLimit: undefined, suspended: false }])
  const to = await imports.vendor()
  const path = imports.exported(withKeys(await exported(from), made))
  await expect(imports.run(to, 'csv', path, { apply: true })).rejects.toThrow(
    'The product has no key type pro. Create it, or name another one with --map.',
  )
  expect(await imports.stored(to)).toStrictEqual([])
})

test('a term that waits for the first activation begins with the creation, and the report says so', async () => {
  const waiting = {
    keyTypes: [
      { name: 'Pro', keyTypeId: 'pro', duration: { count: 1, unit: 'month' }, startsAt: 'first_activation' },
    ],
  }
  const from = await imports.vendor('unlimited', waiting)
  const { body } = await imports.api.ask('POST', '/v1/licenses', {
    token: from.token,
    body: { productId: 'editor' },
  })
  const { license } = z.object({ license: z.object({ id: z.string() }) }).parse(body)
  const to = await imports.vendor('unlimited', waiting)
  const path = imports.exported(withKeys(await exported(from), new Map([[license.id, 'OLD-WAITING']])))
  const { report } = await imports.run(to, 'csv', path, { apply: true })
  expect(report).toMatchObject([
    { reason: 'Its term has not begun yet; here it counts from its creation.', outcome: 'taken_in_part' },
  ])
  const at = imports.api.ledger.clock.now()
  at.setUTCMonth(at.getUTCMonth() + 1)
  expect(await imports.stored(to)).toMatchObject([{ expiresAt: at.toISOString().slice(0, 10) }])
})

test('metadata that is no JSON is reported with its line', async () => {
  const vendor = await imports.vendor()
  const path = imports.exported('licenseKey,displayKey,keyTypeId,metadata\nOLD-1111,…1,default,{\n')
  const { report } = await imports.run(vendor, 'csv', path, { apply: true })
  expect(report).toMatchObject([{ reason: 'Its metadata is not the JSON of an export.' }])
})
