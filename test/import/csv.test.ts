/**
 * Guarantee: a CSV file of any system is imported with the columns that it has; a line that cannot be taken affects no
 * other and is reported, and the keys go on working.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Imports, openImports } from './imports.ts'

let imports: Imports
beforeAll(async () => {
  imports = await openImports()
})
afterAll(() => imports.close())

const head = 'licenseKey,externalId,plan,email,name,createdAt,expiresAt,status,seats,entitlements,devices'
const file = (...lines: string[]) => imports.exported([head, ...lines].join('\r\n'))

const validate = async (token: string, license_key: string) =>
  (
    await imports.api.ask('POST', '/v1/licenses/validate', {
      token,
      body: { product_id: 'editor', license_key },
    })
  ).body

test('a license comes with its terms, its state and its devices, and its key goes on working', async () => {
  const vendor = await imports.vendor()
  const path = file(
    'OLD-1111,a,Pro,ada@example.com,Ada,2024-01-02,2027-01-02,active,3,"SSO, Export",laptop phone',
    'OLD-2222,b,Pro,,,2024-01-02,never,suspended,,"SSO, Export",',
    'OLD-3333,c,Team,,,2024-01-02,2025-01-02,expired,unlimited,,',
    'OLD-4444,d,Team,,,2024-01-02,,revoked,,,',
  )
  const { tally } = await imports.run(vendor, 'csv', path, { apply: true })
  expect(tally).toStrictEqual({
    licenses: 4,
    imported: 4,
    alreadyThere: 0,
    leftOut: 0,
    otherProducts: 0,
    devices: 2,
    identified: 0,
    byStatus: { active: 1, suspended: 1, expired: 1, revoked: 1 },
    reasons: [],
    notes: [],
    organizations: { imported: 0, alreadyThere: 0, leftOut: 0, people: 0, reasons: [], notes: [] },
  })
  const none = { expiresAt: null, devices: [] }
  expect(await imports.stored(vendor)).toStrictEqual([
    {
      externalId: 'a',
      keyTypeId: 'pro-export-sso',
      deviceLimit: 3,
      expiresAt: '2027-01-02',
      status: 'active',
      devices: ['laptop', 'phone'],
    },
    { ...none, externalId: 'b', keyTypeId: 'pro-export-sso', deviceLimit: 1, status: 'suspended' },
    {
      ...none,
      externalId: 'c',
      keyTypeId: 'team',
      deviceLimit: null,
      expiresAt: '2025-01-02',
      status: 'active',
    },
    { ...none, externalId: 'd', keyTypeId: 'team', deviceLimit: 1, status: 'revoked' },
  ])
  expect(await validate(vendor.token, 'old 1111')).toMatchObject({
    valid: true,
    entitlements: ['export', 'sso'],
  })
  expect(await validate(vendor.token, 'OLD-2222')).toMatchObject({ valid: false, status: 'inactive' })
  expect(await validate(vendor.token, 'OLD-4444')).toMatchObject({ valid: false, status: 'revoked' })
})

test('values of entitlements come over, and each combination of them becomes a key type', async () => {
  const vendor = await imports.vendor()
  const values = [
    '"{""Projects"": 25, ""tier"": ""gold, plus""}"',
    '"{""tier"": ""gold, plus"", ""projects"": 25}"',
    '"{""projects"": 50}"',
    '',
  ]
  const lines = values.map((value, index) => `OLD-${index}111,${index},Pro,2031-01-01,projects;tier,${value}`)
  const path = imports.exported(
    ['licenseKey,externalId,plan,updatesUntil,entitlements,entitlementValues', ...lines].join('\n'),
  )
  const { tally, report } = await imports.run(vendor, 'csv', path, { apply: true })
  expect({ report, ...tally }).toMatchObject({ report: [], imported: 4 })
  expect(await imports.run(vendor, 'csv', path)).toMatchObject({ tally: { alreadyThere: 4 } })
  const keyTypes = (await imports.stored(vendor)).map(({ keyTypeId }) => keyTypeId)
  expect(new Set(keyTypes).size).toBe(3)
  expect(keyTypes).toStrictEqual([
    keyTypes[0],
    keyTypes[0],
    expect.stringMatching(/^pro-[0-9a-f]{8}$/),
    'pro-projects-tier',
  ])
  expect(await validate(vendor.token, 'OLD-1111')).toMatchObject({
    entitlements: ['projects', 'tier'],
    entitlement_values: { projects: 25, tier: 'gold, plus' },
    updates_until: Date.parse('2031-01-01') / 1000,
  })
  expect(await validate(vendor.token, 'OLD-2111')).toMatchObject({ entitlement_values: { projects: 50 } })
  const product = await imports.api.ledger.ports.findProduct(vendor.tenantId, 'editor')
  expect(product?.keyTypes.map(({ name }) => name)).toContain('Pro + projects: 25 + tier: gold, plus')
})

test('a value names an entitlement that the list leaves out', async () => {
  const vendor = await imports.vendor()
  const path = imports.exported('licenseKey,entitlementValues\nOLD-1111,"{""projects"": 25}"\n')
  await imports.run(vendor, 'csv', path, { apply: true })
  expect(await validate(vendor.token, 'OLD-1111')).toMatchObject({
    entitlements: ['projects'],
    entitlement_values: { projects: 25 },
  })
})

test('a key type that exists with other values is not used unless the operator says so', async () => {
  const keyTypes = [
    { name: 'Pro', keyTypeId: 'pro', entitlements: ['a'], entitlementValues: { a: 1 }, deviceLimit: 1 },
  ]
  const vendor = await imports.vendor('unlimited', { keyTypes })
  const path = imports.exported('licenseKey,plan\nOLD-1111,Pro\n')
  await expect(imports.run(vendor, 'csv', path, { apply: true })).rejects.toThrow('(a: 1 instead of none)')
})

test('a dry run tells what a run would do and changes nothing', async () => {
  const vendor = await imports.vendor()
  const path = file('OLD-1111,a,Pro,,,,,,,,', 'OLD-2222,b,Pro,,,,,,,,', 'OLD-33,c,Pro,,,,,,,,')
  const dry = await imports.run(vendor, 'csv', path)
  expect(await imports.stored(vendor)).toStrictEqual([])
  const product = await imports.api.ledger.ports.findProduct(vendor.tenantId, 'editor')
  expect(product?.keyTypes.map(({ keyTypeId }) => keyTypeId)).toStrictEqual(['default'])
  const wet = await imports.run(vendor, 'csv', path, { apply: true })
  expect(wet.tally).toStrictEqual(dry.tally)
  expect(wet.tally).toMatchObject({ imported: 2, leftOut: 1 })
  const again = await imports.run(vendor, 'csv', path)
  expect(again.tally).toMatchObject({ imported: 0, alreadyThere: 2, leftOut: 1 })
})

test('a license that was imported before is left as it is', async () => {
  const vendor = await imports.vendor()
  await imports.run(vendor, 'csv', file('OLD-1111,a,,,,,,active,,,'), { apply: true })
  const { tally } = await imports.run(vendor, 'csv', file('OLD-1111,a,,,,,,revoked,,,laptop'), {
    apply: true,
  })
  expect(tally).toMatchObject({ imported: 0, alreadyThere: 1, leftOut: 0 })
  expect(await imports.stored(vendor)).toMatchObject([{ status: 'active', devices: [] }])
})

test('other columns become metadata, and columns with other names are named', async () => {
  const vendor = await imports.vendor()
  const path = imports.exported('\uFEFFSerial;Order No;Notes\nOLD-1111;47;"two\nlines; ""quoted"""\n')
  const columns = new Map([['Serial', 'licenseKey']] as const)
  await imports.run(vendor, 'csv', path, { apply: true, columns })
  const { rows } = await imports.api.ledger.db.query('select metadata from licenses where tenant_id = $1', [
    vendor.tenantId,
  ])
  expect(rows).toStrictEqual([
    { metadata: { importedFrom: 'csv', 'Order No': '47', Notes: 'two\nlines; "quoted"' } },
  ])
})

test('usual names of columns are found, unless the column is there under its own name', async () => {
  const vendor = await imports.vendor()
  const path = imports.exported('key,licenseKey,max devices\nA4,OLD-1111,3\n')
  await imports.run(vendor, 'csv', path, { apply: true })
  await imports.run(vendor, 'csv', imports.exported('Serial\nOLD-2222\n'), { apply: true })
  const { rows } = await imports.api.ledger.db.query(
    "select metadata, device_limit as seats from licenses where tenant_id = $1 order by metadata ->> 'key'",
    [vendor.tenantId],
  )
  expect(rows).toStrictEqual([
    { metadata: { importedFrom: 'csv', key: 'A4' }, seats: 3 },
    { metadata: { importedFrom: 'csv' }, seats: expect.anything() as number },
  ])
})

describe('a license that cannot be taken', () => {
  test.each([
    ['OLD-1,a,,,,,,,,,', 'licenseKey is too short; it needs at least 6 letters or digits'],
    [
      ',a,,,,,,,,,',
      "The line has no licenseKey. If the column has another name: --column 'Name=licenseKey'.",
    ],
    [`${'K'.repeat(513)},a,,,,,,,,,`, 'Its key has 513 characters; keys can have 512.'],
    ['OLD-1111,a,,,,,,paused,,,', 'The status paused is not active, suspended, expired, revoked, fallback.'],
    [
      'OLD-1111,a,,,,2024-02-30,,,,,',
      'createdAt, expiresAt and updatesUntil must be dates such as 2026-11-21 or 2026-11-21T09:30:00Z.',
    ],
    ['OLD-1111,a,,,,,,,,,,false', 'The line has more cells than the first line has names.'],
    ['OLD-1111,a,,,,,,,0,,', 'seats and quantity must be whole numbers from 1; seats may be unlimited.'],
    [
      'OLD-1111,a,,,,,2030-01-01,expired,,,',
      'a license with the status expired or fallback needs an expiresAt in the past',
    ],
    ['OLD-1111,a,,,,2024-01-01,2023-01-01,,,,', 'expiresAt must be after createdAt'],
    ['OLD-1111,a,,,,,,,,,,more', 'The line has more cells than the first line has names.'],
  ])('%s', async (line, reason) => {
    const vendor = await imports.vendor()
    const path = file(line, 'OLD-9999,good,,,,,,,,,')
    const dry = await imports.run(vendor, 'csv', path)
    const { tally, report } = await imports.run(vendor, 'csv', path, { apply: true })
    expect(dry.tally).toStrictEqual(tally)
    expect(tally).toMatchObject({ imported: 1, leftOut: 1 })
    expect(report).toMatchObject([{ outcome: 'left_out', reason }])
    expect(report[0]?.from).toMatch(/^export-\d+\.csv:2$/)
  })

  test('because its key appears twice', async () => {
    const vendor = await imports.vendor()
    const path = file('OLD-1111,a,,,,,,,,,', 'old 1111,b,,,,,,,,,')
    const { tally, report } = await imports.run(vendor, 'csv', path, { apply: true })
    expect(tally).toMatchObject({ imported: 1, leftOut: 1 })
    expect(report[0]?.reason).toMatch(/^The same key as in export-\d+\.csv:2\.$/)
  })

  test('in the order of the file, which the examples of each reason have too', async () => {
    const vendor = await imports.vendor()
    const lines = Array.from({ length: 40 }, (_, n) => `OLD-${n}000,${n},,,,,,lost,,,`)
    const path = file(...lines, 'OLD-1111,last,,nobody,,,,,,,')
    const { tally, report } = await imports.run(vendor, 'csv', path, { apply: true })
    const lineOf = (from: string | undefined) => Number(from?.split(':')[1])
    expect(report.map(({ from }) => lineOf(from))).toStrictEqual(
      report.map(({ from }) => lineOf(from)).toSorted((one, other) => one - other),
    )
    expect(tally).toMatchObject({ imported: 1, alreadyThere: 0, leftOut: 40 })
    const [lost] = tally.reasons
    expect(lost?.examples.map(lineOf)).toStrictEqual([2, 3, 4])
  })

  test('because another license has its key', async () => {
    const vendor = await imports.vendor()
    await imports.run(vendor, 'csv', file('OLD-1111,a,,,,,,,,,'), { apply: true })
    const path = file('OLD-1111,other,,,,,,,,,')
    const { tally, report } = await imports.run(vendor, 'csv', path, { apply: true })
    expect(tally).toMatchObject({ imported: 0, alreadyThere: 0, leftOut: 1 })
    expect(report[0]?.reason).toMatch(/^The license lic_\w+ already has its key\.$/)
  })

  test('because its devices are more than the plan allows; the others are taken', async () => {
    const vendor = await imports.vendor('free')
    const devices = (number: number) =>
      Array.from({ length: 60 }, (_, index) => `d${number}-${index}`).join(' ')
    const path = file(
      `OLD-1111,a,,,,,,,unlimited,,${devices(1)}`,
      `OLD-2222,b,,,,,,,unlimited,,${devices(2)}`,
      'OLD-3333,c,,,,,,,,,',
    )
    const { tally, report } = await imports.run(vendor, 'csv', path, { apply: true })
    expect(tally).toMatchObject({ imported: 2, leftOut: 1, devices: 60 })
    expect(report).toMatchObject([{ outcome: 'left_out', reason: expect.stringMatching(/plan/) as string }])
    const again = await imports.run(vendor, 'csv', path, { apply: true })
    expect(again.tally).toMatchObject({ imported: 0, alreadyThere: 2, leftOut: 1 })
  })
})

test('what does not fit is left out of a license, so that its key goes on working', async () => {
  const vendor = await imports.vendor()
  const path = file('OLD-1111,a,,nobody at home,,,,,1,,laptop phone')
  const { tally, report } = await imports.run(vendor, 'csv', path, { apply: true })
  expect(tally).toMatchObject({ imported: 1, devices: 1 })
  expect(report).toMatchObject([
    { outcome: 'taken_in_part', reason: '1 of 2 devices are left out, the ones seen longest ago: 1 fit.' },
    { outcome: 'taken_in_part', reason: 'Its holder is left out: the email address is not valid.' },
  ])
})

describe('key types', () => {
  test('named by the operator are used for a plan', async () => {
    const vendor = await imports.vendor()
    const path = file('OLD-1111,a,Pro,,,,,,,sso,')
    await imports.run(vendor, 'csv', path, { apply: true, mapped: { Pro: 'default' } })
    expect(await imports.stored(vendor)).toMatchObject([{ keyTypeId: 'default' }])
  })

  test('that exist with other entitlements are not used unless the operator says so', async () => {
    const keyTypes = [{ name: 'Pro', entitlements: ['basic'] }]
    const vendor = await imports.vendor('unlimited', { keyTypes })
    const path = file('OLD-1111,a,Pro,,,,,,,,')
    await expect(imports.run(vendor, 'csv', path, { apply: true })).rejects.toThrow(
      'The product has a key type pro with other entitlements (basic instead of none). To use it all the same: --map Pro=pro',
    )
    expect(await imports.stored(vendor)).toStrictEqual([])
    await imports.run(vendor, 'csv', path, { apply: true, mapped: { Pro: 'pro' } })
    expect(await imports.stored(vendor)).toMatchObject([{ keyTypeId: 'pro' }])
  })
})

test('licenses of products that are not asked for are left alone', async () => {
  const vendor = await imports.vendor()
  const path = imports.exported('licenseKey,product\nOLD-1111,one\nOLD-2222,two\nOLD-3333,\n')
  const { tally, job } = await imports.run(vendor, 'csv', path, { apply: true, products: { one: 'editor' } })
  expect(tally).toMatchObject({ imported: 1, otherProducts: 2, leftOut: 0 })
  expect(job.targets.others).toStrictEqual(
    new Map([
      ['two', 1],
      ['no product', 1],
    ]),
  )
})

test.each([
  ['an empty file', ''],
  ['a quotation mark that is not closed', 'licenseKey\n"OLD-1111\nOLD-2222\n'],
])('%s is refused as a whole', async (_, text) => {
  const vendor = await imports.vendor()
  await expect(imports.run(vendor, 'csv', imports.exported(text))).rejects.toThrow(/is empty|is not closed/)
})
