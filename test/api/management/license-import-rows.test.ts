/** Guarantee: an invalid row of an import gets its reason, and affects no other row. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { importRows as importInto, makeProduct } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [
      { name: 'Pro', deviceLimit: 2 },
      { name: 'Year', duration: { count: 1, unit: 'year' }, sellInMultiples: true, maxQuantity: 5 },
    ],
  })
})
afterAll(() => api.close())

const importRows = (licenses: unknown[], { productId = 'editor' } = {}) =>
  importInto(api.ask, tenant.token, productId, licenses)

let keys = 0
const newKey = () => `OLD-SHOP-KEY-${++keys}`

const licenseOf = async (id: string | undefined) =>
  (await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })).body

const validate = async (license_key: string) => {
  const body = { product_id: 'editor', license_key, device_id: 'd' }
  return (await api.ask('POST', '/v1/licenses/validate', { token: tenant.token, body })).body
}

describe('a row of an import', () => {
  const badChecksum = 'ACME-00000-00000-00000-00000-00000-1'
  test.each([
    ['null', null, 'the row must be an object'],
    ['a text', 'OLD-1', 'the row must be an object'],
    ['without a key', {}, 'licenseKey is required'],
    [
      'with an unknown field',
      { licenseKey: 'OLD-000001', seats: 3 },
      'unknown field "seats"; known are licenseKey, keyTypeId, email, name, quantity, expiresAt, status, updatesUntil, createdAt, metadata, devices',
    ],
    [
      'with an invalid email address',
      { licenseKey: 'OLD-000002', email: 'ada' },
      'email must be an email address',
    ],
    [
      'with a key of hyphens',
      { licenseKey: '------ -' },
      'licenseKey is too short; it needs at least 6 letters or digits',
    ],
    [
      'with a key of five letters',
      { licenseKey: 'A-B-C-D-E' },
      'licenseKey is too short; it needs at least 6 letters or digits',
    ],
    [
      'with a wrong check character',
      { licenseKey: badChecksum },
      'licenseKey has the format of keys minted here but a wrong check character; check it for typos',
    ],
    ['with an unknown key type', { licenseKey: 'OLD-000003', keyTypeId: 'absent' }, 'key type not found'],
    [
      'with a quantity above 1 for a key type that is not sold in multiples',
      { licenseKey: 'OLD-000004', quantity: 2 },
      'this key type is not sold in multiples; omit quantity',
    ],
    [
      'with a quantity above the maximum',
      { licenseKey: 'OLD-000005', quantity: 6, keyTypeId: 'year' },
      "quantity is greater than the key type's maxQuantity, or than a meter can hold; choose a smaller one",
    ],
    [
      'with createdAt in the future',
      { licenseKey: 'OLD-000006', createdAt: '2026-03-01T12:00:00.001Z' },
      'createdAt must not be in the future',
    ],
    [
      'with expiresAt before createdAt',
      { licenseKey: 'OLD-000007', createdAt: '2026-02-01T00:00:00Z', expiresAt: '2026-01-01T00:00:00Z' },
      'expiresAt must be after createdAt',
    ],
    [
      'with the status expired and no expiresAt',
      { licenseKey: 'OLD-000008', status: 'expired' },
      'a license with the status expired or fallback needs an expiresAt in the past',
    ],
    [
      'with more devices than seats',
      { licenseKey: 'OLD-000009', devices: ['a', 'b', 'c'].map((deviceId) => ({ deviceId })) },
      'the license has more devices than seats',
    ],
    [
      'with a device without an id',
      { licenseKey: 'OLD-000010', devices: [{ name: 'x' }] },
      expect.stringMatching(/^devices\[0\]\.deviceId is required/),
    ],
    [
      'with an unknown status',
      { licenseKey: 'OLD-000011', status: 'paused' },
      expect.stringMatching(/^status must /),
    ],
    [
      'with NUL in its metadata',
      { licenseKey: 'OLD-000012', metadata: { a: '\0' } },
      expect.stringMatching(/^metadata must /),
    ],
    [
      'with half of a surrogate pair',
      { licenseKey: 'OLD-000013\ud800' },
      expect.stringMatching(/^licenseKey must /),
    ],
  ])('%s is invalid, gets a reason, and affects no other row', async (_, row, error: unknown) => {
    const [before, after] = [newKey(), newKey()]
    const { imported, skipped, results } = await importRows([
      { licenseKey: before },
      row,
      { licenseKey: after },
    ])
    expect({ imported, skipped, results }).toMatchObject({
      imported: 2,
      skipped: 1,
      results: [{ index: 0, status: 'imported' }, {}, { index: 2, status: 'imported' }],
    })
    expect(results[1]).toStrictEqual({ index: 1, status: 'invalid', error })
    expect(await validate(after)).toMatchObject({ status: 'inactive' })
  })

  test('of the maximum size is accepted, and a larger one is invalid', async () => {
    await makeProduct(api.ask, tenant.token, 'large', { keyTypes: [{ name: 'Large', deviceLimit: null }] })
    const devices = (count: number, pad: number) =>
      // No character of an id takes more than three bytes per UTF-16 unit.
      Array.from({ length: count }, (_, n) => ({ deviceId: `${n}`.padEnd(pad, '€'), name: 'n' }))
    const { results } = await importRows(
      [
        { licenseKey: newKey(), devices: devices(500, 160) },
        { licenseKey: newKey(), devices: devices(500, 180) },
        { licenseKey: newKey(), devices: devices(501, 5) },
      ],
      { productId: 'large' },
    )
    expect(results).toMatchObject([
      { status: 'imported' },
      { status: 'invalid', error: 'the row is larger than 256 KiB' },
      { status: 'invalid', error: expect.stringMatching(/^devices must have at most 500 items/) as string },
    ])
    expect(await licenseOf(results[0]?.id)).toMatchObject({ license: { seatsUsed: 500 } })
  })
})
