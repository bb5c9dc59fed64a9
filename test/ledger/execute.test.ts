/** A command that loses a race decides again on the new state; it fails rather than decide on stale state. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKeyedMutex } from '../../src/async/keyed-mutex.ts'
import { causeOf } from '../../src/commands/origin.ts'
import type { Decider } from '../../src/domain/decider.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { tenantStream } from '../../src/domain/streams.ts'
import { type Tenant, tenants } from '../../src/domain/tenants/tenant.ts'
import { clientOf } from '../../src/ledger/connection/client.ts'
import { LedgerUnavailable } from '../../src/ledger/connection/unavailable.ts'
import { createExecute, type Execute, loadFromLog, noStream } from '../../src/ledger/execute.ts'
import type { Cause, Ledger } from '../../src/ledger/ledger.ts'
import { beginning, eventsIn, openTestLedger, origin, type TestLedger, uniqueId } from '../harness/ledger.ts'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await openTestLedger()
})
afterAll(() => ledger.close())

const cause = causeOf(origin, beginning)
const anExecutor = () => createExecute(ledger.ports.ledger, ledger.readModels, createKeyedMutex())

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
  (await eventsIn(ledger.ports.ledger, tenantStream(tenantId))).map((entry) =>
    entry.readable ? entry.event.type : '',
  )

test('if two processes create the same thing, one succeeds and one is refused', async () => {
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

test('the same command from many processes succeeds for all, and is recorded once', async () => {
  const tenantId = uniqueId('raced')
  await onTenant(anExecutor(), tenantId, 'CreateTenant')
  const executors = Array.from({ length: 8 }, anExecutor)
  const executed = await Promise.all(executors.map((execute) => onTenant(execute, tenantId, 'SuspendTenant')))
  expect(executed.filter(({ events }) => events.length === 1)).toHaveLength(1)
  expect(await types(tenantId)).toStrictEqual(['TenantCreated', 'TenantSuspended'])
})

test('nothing is decided on a stream whose first events are hidden', async () => {
  const tenantId = uniqueId('hidden')
  const execute = anExecutor()
  await onTenant(execute, tenantId, 'CreateTenant')
  await onTenant(execute, tenantId, 'SuspendTenant')
  const client = clientOf(ledger.eventStoreUrl)
  await client.setStreamMetadata(`tenant-${tenantId}`, { truncateBefore: 1 })
  await client.dispose()
  const refused = onTenant(anExecutor(), tenantId, 'ReinstateTenant')
  await expect(refused).rejects.toThrow(`tenant-${tenantId} has no event at revision 0, but one at 1`)
})

test('state that was loaded before another command ran is not used', async () => {
  const tenantId = uniqueId('raced')
  const execute = anExecutor()
  await onTenant(execute, tenantId, 'CreateTenant')
  let reads = 0
  const read = () => {
    reads++
    return loadFromLog(ledger.ports.ledger, tenantId, tenants)
  }
  const found = await read()
  const command = { type: 'SuspendTenant', reason: null, at: beginning } as const
  const suspend = () => execute(tenants, tenantId, command, cause, { loaded: found, read })
  await Promise.all([suspend(), suspend()])
  // The first command uses the loaded state; the second waited, so it loads it again.
  expect(reads).toBe(2)
  // The state is stale, so the append is refused, and the command decides on fresh state.
  expect((await suspend()).events).toStrictEqual([])
  expect(reads).toBe(3)
  expect(await types(tenantId)).toStrictEqual(['TenantCreated', 'TenantSuspended'])
})

test('a command that keeps losing the race fails, and records nothing', async () => {
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
  // Decides without reading the state, so only the run prevents a second recording.
  const suspendAlways: Decider<Tenant, { type: 'Suspend' }, 'tenant'> = {
    ...tenants,
    decide: () => [{ type: 'TenantSuspended', data: { reason: null, at: beginning } }],
  }
  const runOn = (tenantId: string, of: Cause, resumed: boolean) =>
    anExecutor()(suspendAlways, tenantId, { type: 'Suspend' }, of, { run: { resumed } })
  const first = causeOf({ requestId: 'req_first', actor: 'system:test' }, beginning)
  const second = { ...first, requestId: 'req_second', causationId: 'req_second' }

  test('that is repeated records nothing twice', async () => {
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

  test('that is repeated before it has recorded anything records it', async () => {
    const tenantId = uniqueId('run')
    await onTenant(anExecutor(), tenantId, 'CreateTenant')
    expect((await runOn(tenantId, second, true)).events).toHaveLength(1)
  })

  test('that runs twice at once records its command once, whichever is first', async () => {
    const tenantId = uniqueId('run')
    await onTenant(anExecutor(), tenantId, 'CreateTenant')
    const both = await Promise.all([runOn(tenantId, first, false), runOn(tenantId, second, true)])
    expect(both.filter(({ events }) => events.length === 1)).toHaveLength(1)
    expect(both.filter(({ recordedBefore }) => recordedBefore)).toHaveLength(1)
    expect(await types(tenantId)).toStrictEqual(['TenantCreated', 'TenantSuspended'])
  })

  // EventStoreDB refuses an append up to 15 ms before a read shows the one that won.
  describe('whose first attempt cannot be read yet', () => {
    /** Runs again while this many reads of the stream lack what the first attempt recorded. */
    async function runAgain(tenantId: string, staleReads: number) {
      await onTenant(anExecutor(), tenantId, 'CreateTenant')
      await runOn(tenantId, first, false)
      let reads = 0
      const behind: Ledger = {
        ...ledger.ports.ledger,
        async *readStream(stream, most) {
          const isStale = reads++ < staleReads
          for await (const entry of ledger.ports.ledger.readStream(stream, most)) {
            if (!isStale || entry.revision === 0) yield entry
          }
        },
      }
      const execute = createExecute(behind, ledger.readModels, createKeyedMutex())
      return execute(suspendAlways, tenantId, { type: 'Suspend' }, second, { run: { resumed: true } })
    }

    test.each([0, 1, 2, 3, 4, 5, 6])('records nothing twice after %d stale reads', async (staleReads) => {
      const tenantId = uniqueId('run')
      const again = await runAgain(tenantId, staleReads)
      expect(again).toMatchObject({ events: [], revision: 1, recordedBefore: true })
      expect(await types(tenantId)).toStrictEqual(['TenantCreated', 'TenantSuspended'])
    })

    test('fails when it stays so', async () => {
      const tenantId = uniqueId('run')
      await expect(runAgain(tenantId, Number.POSITIVE_INFINITY)).rejects.toBeInstanceOf(LedgerUnavailable)
      expect(await types(tenantId)).toStrictEqual(['TenantCreated', 'TenantSuspended'])
    })

    test('decides on no revision that the node it reads does not have', async () => {
      const tenantId = uniqueId('run')
      await onTenant(anExecutor(), tenantId, 'CreateTenant')
      await runOn(tenantId, first, false)
      const loaded = await loadFromLog(ledger.ports.ledger, tenantId, suspendAlways)
      const behind: Ledger = {
        ...ledger.ports.ledger,
        readStream: (stream) => ledger.ports.ledger.readStream(stream, 1),
      }
      const execute = createExecute(behind, ledger.readModels, createKeyedMutex())
      const run = { resumed: true }
      const again = execute(suspendAlways, tenantId, { type: 'Suspend' }, second, { loaded, run })
      await expect(again).rejects.toBeInstanceOf(LedgerUnavailable)
      expect(await types(tenantId)).toStrictEqual(['TenantCreated', 'TenantSuspended'])
    })
  })

  test('is not affected by events of other runs', async () => {
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

test('a failed command does not block the next', async () => {
  const tenantId = uniqueId('raced')
  const execute = anExecutor()
  const refused = onTenant(execute, tenantId, 'SuspendTenant')
  const created = onTenant(execute, tenantId, 'CreateTenant')
  await expect(refused).rejects.toStrictEqual(new Refusal('tenant_not_found'))
  expect((await created).events).toHaveLength(1)
})
