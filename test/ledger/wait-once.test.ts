/** Several commands share one wait for the read models, at the end, however they end. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findTenant } from '../../projections/tenants.ts'
import { waitOnce } from '../../src/commands/cross-stream/read-models.ts'
import { createTenant } from '../../src/commands/tenants.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import type { AllPorts } from '../../src/ports.ts'
import { openTestLedger, origin, type TestLedger, uniqueId } from '../harness/ledger.ts'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await openTestLedger()
})
afterAll(() => ledger.close())

/** The services, recording every position that is waited for. */
function watched(): { ports: AllPorts; waits: bigint[] } {
  const waits: bigint[] = []
  const { ports } = ledger
  const untilVisible = async (position: bigint) => {
    waits.push(position)
    await ports.untilVisible(position)
  }
  return { ports: { ...ports, untilVisible }, waits }
}

const create = (ports: AllPorts, tenantId: string) =>
  createTenant(ports, { tenantId, name: 'In one go', plan: 'free' }, origin)

test('several commands share one wait, and are then visible', async () => {
  const { ports, waits } = watched()
  const tenants = [uniqueId('first'), uniqueId('second'), uniqueId('third')]
  const result = await waitOnce(ports, async (steps) => {
    for (const tenantId of tenants) await create(steps, tenantId)
    // No wait yet, and no other process advances the read models.
    expect(await findTenant(ledger.db, tenants[0] ?? '')).toBeUndefined()
    return 'done'
  })
  expect(result).toBe('done')
  expect(waits).toHaveLength(1)
  for (const tenantId of tenants) expect(await findTenant(ledger.db, tenantId)).toMatchObject({ tenantId })
})

test('events recorded before a refusal are visible when it is thrown', async () => {
  const { ports, waits } = watched()
  const tenantId = uniqueId('twice')
  const twice = waitOnce(ports, async (steps) => {
    await create(steps, tenantId)
    await create(steps, tenantId)
  })
  await expect(twice).rejects.toStrictEqual(new Refusal('tenant_exists'))
  expect(waits).toHaveLength(1)
  expect(await findTenant(ledger.db, tenantId)).toMatchObject({ tenantId })
})

test('a command that records nothing does not wait', async () => {
  const { ports, waits } = watched()
  expect(await waitOnce(ports, async () => 7)).toBe(7)
  expect(waits).toStrictEqual([])
})
