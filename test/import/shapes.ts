/** Exports of any size in the shape of each system, with invented data. */
import { once } from 'node:events'
import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type { SourceName } from '../../src/import/foreign.ts'

/** What one license of a shape must become. */
export type Expected = {
  externalId: string
  licenseKey: string
  status: 'active' | 'revoked' | 'suspended'
  devices: number
}

export type Shape = {
  source: SourceName
  /** Options of the command line that this source needs. */
  options?: readonly string[]
  /** Writes an export with so many licenses into a new directory. */
  write(directory: string, licenses: number): Promise<void>
  expected(license: number): Expected
}

/** Writes files line by line, so that an export of 100,000 licenses needs no memory. */
export async function writeFiles(directory: string, files: Record<string, Iterable<string>>): Promise<void> {
  mkdirSync(directory, { recursive: true })
  for (const [name, lines] of Object.entries(files)) {
    const out = createWriteStream(join(directory, name))
    for (const line of lines) if (!out.write(`${line}\n`)) await once(out, 'drain')
    out.end()
    await finished(out)
  }
}

export function* numbers(count: number): Iterable<number> {
  for (let number = 0; number < count; number++) yield number
}

export function* mapped<T>(items: Iterable<number>, make: (item: number) => T): Iterable<T> {
  for (const item of items) yield make(item)
}

const hex = (number: number, digits: number) =>
  ((number + 1) * 2654435761).toString(16).toUpperCase().slice(-digits)
const padded = (number: number, digits: number) => String(number).padStart(digits, '0')
/** A key of another vendor, different for each number. */
export const keyOf = (prefix: string, number: number): string =>
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

export const shapes: readonly Shape[] = [csv]
