/** The place of an address: its network, as it counts and as it is hashed, and its country by a file of the operator. */
import { createSecretKey } from 'node:crypto'
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openCountries } from '../../src/usage/countries.ts'
import { hashOfNetwork, listOf, networkOf } from '../../src/usage/networks.ts'
import { temporaryDirectory } from '../harness/ledger.ts'

const directory = temporaryDirectory()
afterAll(() => rmSync(directory, { recursive: true }))

test.each([
  ['198.51.100.7', '198.51.100.0/24'],
  ['::ffff:198.51.100.7', '198.51.100.0/24'],
  ['2001:db8:1:2::3', '2001:db8:1::/48'],
  ['2001:DB8:1:ffff::3', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0::/48'],
  ['fe80::1%eth0', 'fe80:0:0::/48'],
  ['', undefined],
  ['a unix socket', undefined],
])('the network of %s is %s', (address, network) => expect(networkOf(address)).toBe(network))

test('a list holds its addresses and networks, and no others', () => {
  const holds = listOf(['203.0.113.0/24', '192.0.2.1', '2001:db8::/32', '2001:db9::1'])
  const held = ['203.0.113.255', '192.0.2.1', '2001:db8:ffff::1', '2001:db9::1']
  expect(held.filter((address) => !holds(address))).toStrictEqual([])
  expect(['203.0.114.1', '192.0.2.2', '2001:db9::2'].filter(holds)).toStrictEqual([])
  expect(listOf([])('192.0.2.1')).toBe(false)
})

test('the hash of a network differs by license, by day and by key, and is the same otherwise', () => {
  const key = (byte: number) => createSecretKey(Buffer.alloc(32, byte))
  const one = { licenseId: 'lic_1', day: '2026-03-01', network: '198.51.100.0/24' }
  const hashes = [
    hashOfNetwork(key(1), one),
    hashOfNetwork(key(2), one),
    hashOfNetwork(key(1), { ...one, licenseId: 'lic_2' }),
    hashOfNetwork(key(1), { ...one, day: '2026-03-02' }),
    hashOfNetwork(key(1), { ...one, network: '198.51.101.0/24' }),
  ]
  expect(new Set(hashes).size).toBe(hashes.length)
  expect(hashOfNetwork(key(1), one)).toBe(hashes[0])
})

describe('the country of an address', () => {
  const path = join(directory, 'countries.mmdb')

  test('is that of the file, which is read again when it is replaced', () => {
    writeFileSync(path, databaseOf({ country: { iso_code: 'DE' } }))
    const countries = openCountries(path)
    expect(['1.2.3.4', '9.2.3.4', 'no address'].map(countries.of)).toStrictEqual(['DE', null, null])
    writeFileSync(path, databaseOf({ country: 'FR' }))
    utimesSync(path, new Date(), new Date(Date.now() + 60_000))
    expect(countries.of('1.2.3.4')).toBe('DE')
    countries.refresh()
    expect(countries.of('1.2.3.4')).toBe('FR')
    writeFileSync(path, 'half a file')
    utimesSync(path, new Date(), new Date(Date.now() + 120_000))
    expect(() => countries.refresh()).toThrow('is no database of countries')
    expect(countries.of('1.2.3.4')).toBe('FR')
  })

  test('is not known of an entry without one', () => {
    writeFileSync(path, databaseOf({ country: 'Germany' }))
    expect(openCountries(path).of('1.2.3.4')).toBe(null)
    writeFileSync(path, databaseOf({ continent: { code: 'EU' } }))
    expect(openCountries(path).of('1.2.3.4')).toBe(null)
  })

  test('needs a file in the right format', () => {
    expect(() => openCountries(join(directory, 'absent.mmdb'))).toThrow('absent.mmdb')
    writeFileSync(path, 'something else')
    expect(() => openCountries(path)).toThrow('is no database of countries in the format of MaxMind DB')
  })
})

type Value = string | Whole | readonly Value[] | { [name: string]: Value }
type Whole = { type: number; bytes: number[] }

/** A database in the format of MaxMind DB, with this entry for 1.0.0.0/8 and none for other addresses. */
function databaseOf(entry: Value): Buffer {
  const nodes = 8
  const tree = Array.from({ length: nodes }, (_, bit) => {
    const isLast = bit === nodes - 1
    // All bits of the first number but the last are 0.
    const records = isLast ? [nodes, nodes + 16] : [bit + 1, nodes]
    return records.flatMap((record) => [0, 0, record])
  }).flat()
  const metadata = {
    node_count: { type: 6, bytes: [nodes] },
    record_size: { type: 5, bytes: [24] },
    ip_version: { type: 5, bytes: [4] },
    database_type: 'Country',
    languages: ['en'],
    binary_format_major_version: { type: 5, bytes: [2] },
    binary_format_minor_version: { type: 5, bytes: [] },
    build_epoch: { type: 9, bytes: [1] },
    description: { en: 'test' },
  }
  const marker = [0xab, 0xcd, 0xef, ...Buffer.from('MaxMind.com')]
  return Buffer.from([
    ...tree,
    ...Array.from({ length: 16 }, () => 0),
    ...encoded(entry),
    ...marker,
    ...encoded(metadata),
  ])
}

function encoded(value: Value): number[] {
  if (typeof value === 'string') return [...control(2, value.length), ...Buffer.from(value)]
  if (isList(value)) return [...control(11, value.length), ...value.flatMap(encoded)]
  if (isWhole(value)) return [...control(value.type, value.bytes.length), ...value.bytes]
  const entries = Object.entries(value)
  return [
    ...control(7, entries.length),
    ...entries.flatMap(([name, one]) => [...encoded(name), ...encoded(one)]),
  ]
}

const isList = (value: object): value is readonly Value[] => Array.isArray(value)
const isWhole = (value: object): value is Whole => 'bytes' in value

const control = (type: number, size: number): number[] => (type > 7 ? [size, type - 7] : [(type << 5) | size])
