/** A command that loses a race decides again on what has happened; it gives up before it decides on anything stale. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKeyedMutex } from '../../src/async/keyed-mutex.ts'
import { causeOf } from '../../src/commands/origin.ts'
import type { Decider } from '../../src/domain/decider.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { tenantStream } from '../../src/domain/streams.ts'
import { type Tenant, tenants } from '../../src/domain/tenants/tenant.ts'
import { createExecute, type Execute } from '../../src/ledger/execute.ts'
import type { Cause } from '../../src/ledger/ledger.ts'
import { loadFromLog, noStream } from '../../src/ledger/load.ts'
import { LedgerUnavailable } from '../../src/ledger/unavailable.ts'
import { beginning, eventsIn, openTestLedger, origin, type TestLedger, uniqueId } from '../harness/ledger.ts'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await openTestLedger()
})
afterAll(() => ledger.close())

const cause = causeOf(origin, beginning)
const anExecutor = () => createExecute(ledger.services.ledger, ledger.readModels, createKeyedMutex())

function onTenant(
  execute: Execute,
  tenantId: string,
  type: 'CreateTenant' | 'SuspendTenant' | 'ReinstateTenant',
) {
  return execute(
    tenants,
    tenantId,
    type === 'CreateTenant'
      ? { type, tenantId, name: 'Raced', plan: 'free', at: beginning }
      : { type, reason: null, at: beginning },
    cause,
  )
}
const types = async (tenantId: string) =>
  (await eventsIn(ledger.services.ledger, tenantStream(tenantId))).map((entry) =>
    entry.readable ? entry.event.type : '',
  )

test('of two processes that create the same thing one succeeds and one is refused', async () => {
  const tenantId = uniqueId('raced')
  const outcomes = await Promise.allSettled(
    [anExecutor(), anExecutor()].map((one) => onTenant(one, tenantId, 'CreateTenant')),
  )
  expect(outcomes.map(({ status }) => status).sort()).toStrictEqual(['fulfilled', 'rejected'])
  expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: new Refusal('tenant_exists'),
  })
  expect(await types(tenantId)).toStrictEqual(['TenantCreated'])
})

test('many processes that ask for the same are all told that it is so, and it is recorded once', async () => {
  const tenantId = uniqueId('raced')
  await onTenant(anExecutor(), tenantId, 'CreateTenant')
  const executors = Array.from({ length: 8 }, anExecutor)
  const executed = await Promise.all(executors.map((execute) => onTenant(execute, tenantId, 'SuspendTenant')))
  expect(executed.filter(({ events }) => events.length === 1)).toHaveLength(1)
  expect(await types(tenantId)).toStrictEqual(['TenantCreated', 'TenantSuspended'])
})

test('what was loaded before somebody else had a turn is not decided on', async () => {
  const tenantId = uniqueId('raced')
  const execute = anExecutor()
  await onTenant(execute, tenantId, 'CreateTenant')
  let reads = 0
  const read = () => {
    reads++
    return loadFromLog(ledger.services.ledger, tenantId, tenants)
  }
  const found = await read()
  const command = { type: 'SuspendTenant', reason: null, at: beginning } as const
  const suspend = () => execute(tenants, tenantId, command, cause, { found, read })
  await Promise.all([suspend(), suspend()])
  // The first decides on what it had; the second waited, so it loads anew.
  expect(reads).toBe(2)
  // Stale by now: the append at its revision is lost, and what it decides then comes from a fresh load.
  expect((await suspend()).events).toStrictEqual([])
  expect(reads).toBe(3)
  expect(await types(tenantId)).toStrictEqual(['TenantCreated', 'TenantSuspended'])
})

test('a race that is lost again and again ends, with nothing recorded', async () => {
  const tenantId = uniqueId('raced')
  await onTenant(anExecutor(), tenantId, 'CreateTenant')
  let reads = 0
  const read = () => {
    reads++
    return Promise.resolve(noStream(tenants))
  }
  const command = { type: 'CreateTenant', tenantId, name: '', plan: 'free', at: beginning } as const
  const executed = anExecutor()(tenants, tenantId, command, cause, { read })
  await expect(executed).rejects.toBeInstanceOf(LedgerUnavailable)
  expect(reads).toBeGreaterThan(1)
  expect(await types(tenantId)).toStrictEqual(['TenantCreated'])
})

describe('a run', () => {
  // Decides without looking at what is there: only the run itself keeps it from being recorded twice.
  const suspendAlways: Decider<Tenant, { type: 'Suspend' }, 'tenant'> = {
    ...tenants,
    decide: () => [{ type: 'TenantSuspended', data: { reason: null, at: beginning } }],
  }
  const runOn = (tenantId: string, of: Cause, resumed: boolean) =>
    anExecutor()(suspendAlways, tenantId, { type: 'Suspend' }, of, { run: { resumed } })
  const first = causeOf({ requestId: 'req_first', actor: 'system:test' }, beginning)
  const second = { ...first, requestId: 'req_second', causationId: 'req_second' }

  test('that begins again records nothing that it has recorded before', async () => {
    const tenantId = uniqueId('run')
    await onTenant(anExecutor(), tenantId, 'CreateTenant')
    expect((await runOn(tenantId, first, false)).events).toHaveLength(1)
    const again = await runOn(tenantId, second, true)
    expect(again).toStrictEqual({
      before: again.state,
      state: expect.objectContaining({ status: 'suspended' }) as Tenant,
      events: [],
      revision: 1,
      recordedBefore: true,
    })
    expect(await types(tenantId)).toStrictEqual(['TenantCreated', 'TenantSuspended'])
  })

  test('that begins again before it has recorded anything does so', async () => {
    const tenantId = uniqueId('run')
    await onTenant(anExecutor(), tenantId, 'CreateTenant')
    expect((await runOn(tenantId, second, true)).events).toHaveLength(1)
  })

  test('that was taken for dead and was not records its command once, whichever of the two is first', async () => {
    const tenantId = uniqueId('run')
    await onTenant(anExecutor(), tenantId, 'CreateTenant')
    const both = await Promise.all([runOn(tenantId, first, false), runOn(tenantId, second, true)])
    expect(both.filter(({ events }) => events.length === 1)).toHaveLength(1)
    expect(both.filter(({ recordedBefore }) => recordedBefore)).toHaveLength(1)
    expect(await types(tenantId)).toStrictEqual(['TenantCreated', 'TenantSuspended'])
  })

  test('is not kept from its command by what others have recorded', async () => {
    const tenantId = uniqueId('run')
    await onTenant(anExecutor(), tenantId, 'CreateTenant')
    const others = await Promise.all(
      Array.from({ length: 4 }, (_, n) =>
        runOn(tenantId, causeOf({ ...origin, requestId: `req_${n}` }, beginning), false),
      ),
    )
    expect(others.map(({ events }) => events.length)).toStrictEqual([1, 1, 1, 1])
  })
})

test('one that fails leaves the turn to the next', async () => {
  const tenantId = uniqueId('raced')
  const execute = anExecutor()
  const refused = onTenant(execute, tenantId, 'SuspendTenant')
  const created = onTenant(execute, tenantId, 'CreateTenant')
  await expect(refused).rejects.toStrictEqual(new Refusal('tenant_not_found'))
  expect((await created).events).toHaveLength(1)
})
