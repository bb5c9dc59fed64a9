/**
 * Guarantee: what each system exports, in the form in which it does, becomes the licenses that `recorded` says; all of
 * them can be imported, and their keys go on working.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { openExport } from '../../src/import/export.ts'
import type { ForeignLicense, SourceName, Unusable } from '../../src/import/foreign.ts'
import { sourceOf } from '../../src/import/sources/sources.ts'
import { temporaryDirectory } from '../harness/ledger.ts'
import { appOf, sdkKeyOf } from '../http/apps.ts'
import { type Imports, openImports } from './imports.ts'

let imports: Imports
beforeAll(async () => {
  imports = await openImports()
})
afterAll(() => imports.close())

const recorded = (name: string) => fileURLToPath(new URL(`recorded/${name}`, import.meta.url))

const exports = [
  ['keygen', 'keygen'],
  ['keygen', 'keygen-groups'],
  ['lemonsqueezy', 'lemonsqueezy'],
  ['gumroad', 'gumroad'],
  ['gumroad', 'gumroad-csv'],
  ['cryptlex', 'cryptlex'],
  ['cryptlex', 'cryptlex-organizations'],
  ['paddle', 'paddle'],
  ['paddle', 'paddle-billing'],
] as const satisfies [SourceName, string][]

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const Expected = z.object({ policies: z.array(z.unknown()), licenses: z.array(z.unknown()) })

test.each(exports)('the export of %s in %s becomes what is recorded', async (name, directory) => {
  const source = sourceOf(name, { columns: new Map() })
  const exported = await openExport(source, recorded(directory), temporaryDirectory())
  try {
    const licenses: (ForeignLicense | Unusable)[] = []
    for await (const license of exported.licenses()) licenses.push(license)
    const { policies } = exported
    const sorted = licenses.toSorted((one, other) =>
      (one.externalId ?? '') < (other.externalId ?? '') ? -1 : 1,
    )
    const text = readFileSync(`${recorded(directory)}.expected.json`, 'utf8')
    expect(JSON.parse(JSON.stringify({ policies, licenses: sorted }))).toStrictEqual(
      Expected.parse(JSON.parse(text)),
    )
  } finally {
    exported.close()
  }
})

async function importRecorded(name: SourceName, directory: string) {
  const vendor = await imports.vendor()
  const dry = await imports.run(vendor, name, recorded(directory))
  const { tally, report } = await imports.run(vendor, name, recorded(directory), { apply: true })
  expect(dry.tally).toStrictEqual(tally)
  const validate = async (license_key: string, device_id?: string) =>
    (
      await imports.api.ask('POST', '/v1/licenses/validate', {
        token: vendor.token,
        body: { product_id: 'editor', license_key, ...(device_id !== undefined && { device_id }) },
      })
    ).body
  return { vendor, tally, report, validate, stored: await imports.stored(vendor) }
}

describe('licenses of Keygen', () => {
  test('keep their key, machines, entitlements and state', async () => {
    const { tally, report, stored, validate } = await importRecorded('keygen', 'keygen')
    expect(tally).toMatchObject({ licenses: 5, imported: 4, leftOut: 1, devices: 4, identified: 2 })
    expect(report.map(({ outcome, reason }) => [outcome, reason])).toStrictEqual(
      expect.arrayContaining([
        ['taken_in_part', 'Its limit of 100 uses is left out: licenses are limited by devices alone.'],
        ['taken_in_part', '1 of 2 devices are left out, the ones seen longest ago: 1 fit.'],
        [
          'taken_in_part',
          'Components of its devices that are left out: 1. ' +
            'A component needs a name and 16 to 128 of A-Z a-z 0-9 + / = _ -, and a device has at most 8.',
        ],
        ['left_out', 'Its key has 949 characters; keys can have 512.'],
      ]),
    )
    expect(stored.map(({ keyTypeId, status, devices }) => [keyTypeId, status, devices])).toStrictEqual([
      ['pro', 'active', ['4d:Eq:UV:D3:XZ:tL:WN:Bz', '9c:0a:77:1f:20:44:e1:b2', sha256('grace')]],
      ['pro-feature-sso', 'suspended', []],
      ['trial', 'active', ['77:aa:77:aa:77:aa:77:aa']],
      ['pro', 'suspended', []],
    ])
    expect(await validate('B8A5F1-7A31B6-22AC94-0DE5E1-7F6D1C-V3', '4d:Eq:UV:D3:XZ:tL:WN:Bz')).toMatchObject({
      valid: true,
      entitlements: ['feature_export'],
    })
    expect(await validate('1C44AB-90AA7E-0F3E22-71D9B3-5A8C0F-V3')).toMatchObject({
      valid: false,
      status: 'expired',
    })
  })

  test('keep the seats of machines whose app says the same fingerprints and components here', async () => {
    const { vendor, stored } = await importRecorded('keygen', 'keygen')
    expect(stored[0]?.devices).toHaveLength(3)
    const sdkKey = await sdkKeyOf(imports.api.ledger, vendor.tenantId)
    const app = appOf(imports.api.ask, { tenantId: vendor.tenantId, productId: 'editor' }, sdkKey)
    const license_key = 'B8A5F1-7A31B6-22AC94-0DE5E1-7F6D1C-V3'
    const instanceFor = async (instance_name: string, said: object) => {
      const { status, body } = await app.post('activate', { license_key, instance_name, ...said })
      expect(status).toBe(200)
      return z.object({ instance_id: z.string() }).parse(body).instance_id
    }
    const device = {
      board: sha256('board one'),
      disk_serial: sha256('a new disk'),
      mac: sha256('mac one'),
    }
    const ofLaptop = await instanceFor('Another name', { device })
    const ofWorkstation = await instanceFor('A third name', { machine_hash: sha256('grace') })
    const { rows } = await imports.api.ledger.db.query<{ device_id: string; instance_id: string }>(
      'select device_id, instance_id from devices where license_id in (select license_id from licenses where tenant_id = $1)',
      [vendor.tenantId],
    )
    const deviceOf = new Map(rows.map((row) => [row.instance_id, row.device_id]))
    expect([ofLaptop, ofWorkstation].map((id) => deviceOf.get(id))).toStrictEqual([
      '4d:Eq:UV:D3:XZ:tL:WN:Bz',
      sha256('grace'),
    ])
    expect((await imports.stored(vendor))[0]?.devices).toHaveLength(3)
  })

  test('with a signed key are found by the whole key', async () => {
    const { validate } = await importRecorded('keygen', 'keygen')
    const key = `key/eyJhY2NvdW50Ijp7ImlkIjoiM2IyZTZhMWMifX0=.${'kWp5'.repeat(22)}==`
    expect(await validate(key)).toMatchObject({ valid: false, status: 'inactive' })
  })
})

test('licenses of Lemon Squeezy keep their key, instances and state', async () => {
  const { tally, stored, validate } = await importRecorded('lemonsqueezy', 'lemonsqueezy')
  expect(tally).toMatchObject({ licenses: 5, imported: 4, leftOut: 1, devices: 2 })
  expect(
    stored.map(({ externalId, deviceLimit, status }) => [externalId, deviceLimit, status]),
  ).toStrictEqual([
    ['1', 5, 'active'],
    ['2', null, 'active'],
    ['3', 5, 'suspended'],
    ['4', 5, 'suspended'],
  ])
  const device = '47596ad9-a811-4ebf-ac8a-03fc7b6d2a17'
  expect(await validate('80e15db5-c796-436b-850c-8f9c98a48abe', device)).toMatchObject({ valid: true })
})

test('licenses of Gumroad come once for each key, whatever was charged for it', async () => {
  const { tally, stored, validate } = await importRecorded('gumroad', 'gumroad')
  expect(tally).toMatchObject({ licenses: 6, imported: 5, leftOut: 1, devices: 0 })
  expect(
    stored.map(({ externalId, keyTypeId, deviceLimit, status }) => [
      externalId,
      keyTypeId,
      deviceLimit,
      status,
    ]),
  ).toStrictEqual([
    ['A00000-original-sale-Q==', 'editor-team', 4, 'active'],
    ['C00000-refunded-sale-Q==', 'editor', null, 'revoked'],
    ['D00000-disabled-key-Q==', 'editor', null, 'suspended'],
    ['E00000-ended-sub-Q==', 'editor', null, 'suspended'],
    ['FO8TXN-dvaYbBbahG97a-Q==', 'editor', null, 'active'],
  ])
  expect(await validate('6f0e4c97-b72a4e69-a11bf6c4-af6517e7')).toMatchObject({ valid: true })
})

test('the CSV of Gumroad leads to the same license as its API', async () => {
  const vendor = await imports.vendor()
  await imports.run(vendor, 'gumroad', recorded('gumroad'), { apply: true })
  const { tally } = await imports.run(vendor, 'gumroad', recorded('gumroad-csv'), { apply: true })
  expect(tally).toMatchObject({ imported: 2, alreadyThere: 1, leftOut: 0 })
})

test('licenses of Cryptlex keep their key, activations, feature flags, maintenance and state', async () => {
  const { tally, stored, validate } = await importRecorded('cryptlex', 'cryptlex')
  expect(tally).toMatchObject({ licenses: 5, imported: 3, leftOut: 2, devices: 2 })
  expect(stored.map(({ keyTypeId, deviceLimit, status }) => [keyTypeId, deviceLimit, status])).toStrictEqual([
    [expect.stringMatching(/^yearly-[0-9a-f]{8}$/), 2, 'active'],
    ['floating', 10, 'suspended'],
    ['editor', null, 'revoked'],
  ])
  expect(await validate('0A2035-E8A2A3-4D31B7-8FF9C6-81A6CA-539E54', '2b1c9f')).toMatchObject({
    valid: true,
    entitlements: ['export', 'projects', 'theme', 'tier'],
    entitlement_values: { projects: 25, tier: 'gold plan' },
    updates_until: Date.parse('2026-07-05T08:49:17Z') / 1000,
  })
})

test('licenses of Paddle Classic keep the codes that were sent', async () => {
  const { tally, validate } = await importRecorded('paddle', 'paddle')
  expect(tally).toMatchObject({ licenses: 3, imported: 2, leftOut: 1 })
  expect(await validate('2DEDF6A4-86420251-0927C417-43523113-CA22C29B')).toMatchObject({ valid: true })
})

test('licenses of Paddle Billing keep the keys in the custom data', async () => {
  const { tally, stored } = await importRecorded('paddle', 'paddle-billing')
  expect(tally).toMatchObject({ licenses: 4, imported: 4 })
  expect(
    stored.map(({ keyTypeId, deviceLimit, expiresAt, status }) => [
      keyTypeId,
      deviceLimit,
      expiresAt,
      status,
    ]),
  ).toStrictEqual([
    ['editor-yearly', 3, null, 'suspended'],
    ['editor-yearly', 3, null, 'active'],
    ['editor-yearly', 3, '2025-12-12', 'active'],
    ['editor-yearly', 1, null, 'active'],
  ])
})
