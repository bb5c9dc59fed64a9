// The benchmark can fill, rebuild and replay a scratch ledger. It opens the stores itself, unlike the server.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillLicenses } from './fill.ts'
import { rebuildAll, replayAll, type Scratch, scratchLedger } from './ledger.ts'

let scratch: Scratch

beforeAll(async () => {
  scratch = await scratchLedger(2)
})
afterAll(() => scratch.remove())

test('a filled directory is rebuilt, and replayed without differences', async () => {
  await fillLicenses(scratch.directory, 0, 50, { tenants: 2 })
  const { events } = await rebuildAll(scratch.directory)
  expect(events).toBeGreaterThan(100)
  const replayed = await replayAll(scratch.directory)
  expect(replayed.events).toBe(events)
})
