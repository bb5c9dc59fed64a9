/** Exports of any size in the shape of each system, with invented data. */
import { once } from 'node:events'
import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type { SourceName } from '../../src/import/foreign.ts'

/** What one license of a shape must become. */
type Expected = {
  externalId: string
  licenseKey: string
  status: 'active' | 'revoked' | 'suspended'
  devices: number
}

export type Shape = {
  source: SourceName
  /** Writes an export with so many licenses into a new directory. */
  write(directory: string, licenses: number): Promise<void>
  expected(license: number): Expected
}

/** Writes files line by line, so that an export of 100,000 licenses needs no memory. */
async function writeFiles(directory: string, files: Record<string, Iterable<string>>): Promise<void> {
  mkdirSync(directory, { recursive: true })
  for (const [name, lines] of Object.entries(files)) {
    const out = createWriteStream(join(directory, name))
    for (const line of lines) if (!out.write(`${line}\n`)) await once(out, 'drain')
    out.end()
    await finished(out)
  }
}

function* numbers(count: number): Iterable<number> {
  for (let number = 0; number < count; number++) yield number
}

function* mapped<T>(items: Iterable<number>, make: (item: number) => T): Iterable<T> {
  for (const item of items) yield make(item)
}

const hex = (number: number, digits: number) =>
  ((number + 1) * 2654435761).toString(16).toUpperCase().slice(-digits)
const padded = (number: number, digits: number) => String(number).padStart(digits, '0')
/** A key of another vendor, different for each number. */
const keyOf = (prefix: string, number: number): string =>
  `${prefix}-${padded(number, 8)}-${hex(number, 8).padStart(8, '0')}`

const csv: Shape = {
  source: 'csv',
  write: (directory, licenses) =>
    writeFiles(directory, {
      'licenses.csv': [
        'licenseKey,externalId,plan,email,name,createdAt,expiresAt,status,seats,entitlements,devices,order',
        ...mapped(numbers(licenses), csvLineOf),
      ].values(),
    }),
  expected: (number) => ({
    externalId: `old-${number}`,
    licenseKey: keyOf('OLD', number),
    status: number % 5 === 3 ? 'suspended' : number % 5 === 4 ? 'revoked' : 'active',
    devices: number % 3,
  }),
}

function csvLineOf(number: number): string {
  const { externalId, licenseKey, status, devices } = csv.expected(number)
  const ids = Array.from({ length: devices }, (_, index) => `device-${number}-${index}`).join(' ')
  const plan = number % 2 === 0 ? 'Pro' : 'Team'
  return `${licenseKey},${externalId},${plan},person${number}@example.com,"Person, ${number}",2024-03-01,2027-03-01,${status},3,sso,${ids},${number}`
}

const uuid = (kind: number, number: number) => `${padded(kind, 8)}-0000-4000-8000-${padded(number, 12)}`
const lines = (licenses: number, make: (number: number) => unknown): Iterable<string> =>
  mapped(numbers(licenses), (number) => JSON.stringify(make(number)))

function* devicesOf(
  licenses: number,
  shape: Shape,
  make: (id: number, license: number) => unknown,
): Iterable<string> {
  for (const license of numbers(licenses)) {
    for (let index = 0; index < shape.expected(license).devices; index++) {
      yield JSON.stringify(make(license * 10 + index, license))
    }
  }
}

const keygen: Shape = {
  source: 'keygen',
  write: (directory, licenses) =>
    writeFiles(directory, {
      'policies.jsonl': [
        JSON.stringify({ id: uuid(1, 1), type: 'policies', attributes: { name: 'Pro', maxMachines: 3 } }),
      ],
      'users.jsonl': lines(licenses, (number) => ({
        id: uuid(2, number),
        type: 'users',
        attributes: { email: `person${number}@example.com`, fullName: `Person ${number}` },
      })),
      'licenses.jsonl': lines(licenses, (number) => {
        const { externalId, licenseKey, status } = keygen.expected(number)
        const related = (type: string, id: string) => ({ data: { type, id } })
        return {
          id: externalId,
          type: 'licenses',
          attributes: {
            key: licenseKey,
            expiry: '2028-03-01T10:00:00.000Z',
            status: 'ACTIVE',
            suspended: status === 'suspended',
            maxMachines: 3,
            metadata: { order: number },
            created: '2025-03-01T10:00:00.000Z',
          },
          relationships: {
            policy: related('policies', uuid(1, 1)),
            owner: related('users', uuid(2, number)),
          },
        }
      }),
      'machines.jsonl': devicesOf(licenses, keygen, (id, license) => ({
        id: uuid(4, id),
        type: 'machines',
        attributes: {
          fingerprint: `fp-${id}`,
          name: null,
          hostname: 'host',
          created: '2025-03-02T10:00:00.000Z',
        },
        relationships: { license: { data: { type: 'licenses', id: uuid(3, license) } } },
      })),
    }),
  expected: (number) => ({
    externalId: uuid(3, number),
    licenseKey: `${hex(number, 6)}-${padded(number, 8)}-V3`,
    status: number % 5 === 3 ? 'suspended' : 'active',
    devices: number % 3,
  }),
}

const lemonSqueezy: Shape = {
  source: 'lemonsqueezy',
  write: (directory, licenses) =>
    writeFiles(directory, {
      'products.jsonl': [JSON.stringify({ type: 'products', id: '1', attributes: { name: 'Editor' } })],
      'license-key-instances.jsonl': devicesOf(licenses, lemonSqueezy, (id, license) => ({
        type: 'license-key-instances',
        id: String(id),
        attributes: { license_key_id: license, identifier: uuid(5, id), name: `Device ${id}` },
      })),
      'license-keys.jsonl': lines(licenses, (number) => {
        const { externalId, licenseKey, status } = lemonSqueezy.expected(number)
        const attributes = {
          product_id: 1,
          order_id: number,
          user_name: `Person ${number}`,
          user_email: `person${number}@example.com`,
          key: licenseKey,
          activation_limit: 3,
          disabled: status === 'suspended' ? 1 : 0,
          status: status === 'suspended' ? 'disabled' : 'active',
          expires_at: null,
          created_at: '2024-05-01T09:00:01.000000Z',
          test_mode: false,
        }
        return { type: 'license-keys', id: externalId, attributes }
      }),
    }),
  expected: (number) => ({
    externalId: String(number),
    licenseKey: uuid(6, number),
    status: number % 5 === 3 ? 'suspended' : 'active',
    devices: number % 3,
  }),
}

const gumroad: Shape = {
  source: 'gumroad',
  write: (directory, licenses) =>
    writeFiles(directory, {
      'sales.jsonl': lines(licenses, (number) => {
        const { externalId, licenseKey, status } = gumroad.expected(number)
        return {
          id: externalId,
          email: `person${number}@example.com`,
          full_name: `Person ${number}`,
          created_at: '2025-01-05T19:38:56Z',
          product_name: 'Editor',
          product_permalink: 'editor',
          license_key: licenseKey,
          license_disabled: status === 'suspended',
          refunded: status === 'revoked',
          quantity: 1,
        }
      }),
    }),
  expected: (number) => ({
    externalId: `sale-${number}==`,
    licenseKey: `${hex(number, 8).padStart(8, '0')}-C11D4B06-A2335A6B-${padded(number, 8)}`,
    status: number % 5 === 3 ? 'suspended' : number % 5 === 4 ? 'revoked' : 'active',
    devices: 0,
  }),
}

const cryptlex: Shape = {
  source: 'cryptlex',
  write: (directory, licenses) =>
    writeFiles(directory, {
      'activations.jsonl': devicesOf(licenses, cryptlex, (id, license) => ({
        id: uuid(7, id),
        fingerprint: `fp-${id}`,
        hostname: 'host',
        licenseId: uuid(8, license),
      })),
      'license-templates.jsonl': [
        JSON.stringify({ id: 't-1', name: 'Yearly', validity: 31536000, allowedActivations: 3 }),
      ],
      'licenses.jsonl': lines(licenses, (number) => {
        const { externalId, licenseKey, status } = cryptlex.expected(number)
        return {
          id: externalId,
          key: licenseKey,
          revoked: status === 'revoked',
          suspended: status === 'suspended',
          validity: 31536000,
          expirationStrategy: 'immediate',
          expiresAt: '2028-01-05T08:49:17.9361143Z',
          allowedActivations: 3,
          type: 'node-locked',
          licenseTemplateId: 't-1',
          user: { firstName: 'Person', lastName: String(number), email: `person${number}@example.com` },
          metadata: [],
          createdAt: '2024-05-06T08:49:17.9361143Z',
        }
      }),
    }),
  expected: (number) => ({
    externalId: uuid(8, number),
    licenseKey: `0A2035-E8A2A3-4D31B7-${hex(number, 6)}-${padded(number, 8)}`,
    status: number % 5 === 3 ? 'suspended' : number % 5 === 4 ? 'revoked' : 'active',
    devices: number % 3,
  }),
}

const paddle: Shape = {
  source: 'paddle',
  write: (directory, licenses) =>
    writeFiles(directory, {
      'sent-licenses.csv': (function* () {
        yield 'Order ID,Product ID,Product Name,Customer Email,License Code,Date Sent,Paddle Issued License,Paddle License ID'
        for (const number of numbers(licenses)) {
          const { externalId, licenseKey } = paddle.expected(number)
          yield `${number}-1100,511000,Editor,person${number}@example.com,${licenseKey},2021-03-04 10:11:12,Yes,${externalId}`
        }
      })(),
    }),
  expected: (number) => ({
    externalId: String(9000 + number),
    licenseKey: `${hex(number, 8).padStart(8, '0')}-86420251-0927C417-${padded(number, 8)}-CA22C29B`,
    status: 'active',
    devices: 0,
  }),
}

export const shapes: readonly Shape[] = [csv, keygen, lemonSqueezy, gumroad, cryptlex, paddle]
