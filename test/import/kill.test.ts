/**
 * Guarantee: an import that is killed at any write and run again imports every license once, with its state and its
 * devices, and creates every key type once.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ReadModelsBehind } from '../../projections/runner/read-models.ts'
import { temporaryDirectory } from '../harness/ledger.ts'
import { hashesOf, type Imports, openImports } from './imports.ts'
import { Killed, mortal } from './mortal.ts'
import { shapes } from './shapes.ts'

let imports: Imports
beforeAll(async () => {
  imports = await openImports()
})
afterAll(() => imports.close())

describe.each(shapes)('an import from $source', (shape) => {
  const licenses = 7
  test.each(['before', 'after'] as const)(
    'that is killed %s each write loses and doubles nothing',
    async (when) => {
      const path = join(temporaryDirectory(), 'export')
      await shape.write(path, licenses)
      const vendor = await imports.vendor()
      let kills = 0
      for (;;) {
        const ports = mortal(imports.api.ledger.ports, kills + 1, when)
        const ended = await imports
          .run(vendor, shape.source, path, { apply: true, ports })
          .catch((error: unknown) => error)
        if (!(ended instanceof Killed)) {
          expect(ended).toMatchObject({ tally: { leftOut: 0, licenses } })
          break
        }
        kills++
      }
      expect(kills).toBeGreaterThan(2)
      const expected = Array.from({ length: licenses }, (_, number) => shape.expected(number))
      const hashes = await imports.importedHashes(vendor)
      const keys = expected.map(({ licenseKey }) => licenseKey)
      expect(hashes.toSorted()).toStrictEqual(await hashesOf(imports.api.ledger.ports, vendor.tenantId, keys))
      const stored = await imports.stored(vendor)
      expect(
        stored.map(({ externalId, status, devices }) => ({ externalId, status, devices: devices.length })),
      ).toStrictEqual(
        expected
          .map(({ licenseKey: _, ...facts }) => facts)
          .toSorted((one, other) => (one.externalId < other.externalId ? -1 : 1)),
      )
      const product = await imports.api.ledger.ports.findProduct(vendor.tenantId, 'editor')
      const ids = product?.keyTypes.map(({ keyTypeId }) => keyTypeId) ?? []
      expect(new Set(ids).size).toBe(ids.length)
    },
  )
})

test('a batch whose answer was lost is repeated, and counts as imported', async () => {
  const path = imports.exported('licenseKey\nOLD-1111\nOLD-2222\n')
  const vendor = await imports.vendor()
  await imports.run(vendor, 'csv', imports.exported('licenseKey\nOLD-1111\n'), { apply: true })
  let losses = 0
  const untilVisible = async (position: bigint) => {
    await imports.api.ledger.ports.untilVisible(position)
    if (losses++ === 0) throw new ReadModelsBehind(position, undefined)
  }
  const ports = { ...imports.api.ledger.ports, untilVisible }
  const { tally } = await imports.run(vendor, 'csv', path, { apply: true, ports })
  expect(tally).toMatchObject({ imported: 1, alreadyThere: 1, leftOut: 0 })
  expect(losses).toBeGreaterThan(0)
  expect(await imports.importedHashes(vendor)).toHaveLength(2)
})
