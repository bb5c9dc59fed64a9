/** Concurrent calls with one approved confirmation, on several processes, run its operation exactly once. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createKeyedMutex } from '../../src/async/keyed-mutex.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { confirmationStream } from '../../src/domain/streams.ts'
import { approve } from '../../src/gate/approvals.ts'
import { gatedOperation } from '../../src/gate/operation.ts'
import { passGate } from '../../src/gate/pass.ts'
import { createExecute } from '../../src/ledger/execute.ts'
import type { AllPorts } from '../../src/ports.ts'
import { approver } from '../harness/gate.ts'
import { eventsIn, openTestLedger, type TestLedger } from '../harness/ledger.ts'
import { wholeVariable } from '../harness/variables.ts'

const racers = 200
const rounds = wholeVariable('KEYLEDGER_TEST_RACES', 5)

let ledger: TestLedger
/** Each stands for a process of its own: they share only the stores. */
let processes: AllPorts[]
beforeAll(async () => {
  ledger = await openTestLedger()
  const { ports, readModels } = ledger
  processes = Array.from({ length: 4 }, () => ({
    ...ports,
    execute: createExecute(ports.ledger, readModels, createKeyedMutex()),
  }))
})
afterAll(() => ledger.close())

/** Not idempotent, so that a second run would show. */
const runs = new Map<string, number>()
const count = gatedOperation({
  name: 'test.count',
  title: 'Count',
  method: 'POST',
  path: '/v1/count/{what}',
  scope: 'licenses:write',
  input: z.object({ params: z.strictObject({ what: z.string() }) }),
  check: async () => undefined,
  unrehearsed: true,
  describe: async () => ({ summary: 'Count', state: null }),
  run: async (_services, _tenantId, { params }, { id }) => {
    runs.set(id, (runs.get(id) ?? 0) + 1)
    return params.what
  },
})

test(`of ${racers} racers one runs it and the others are refused, ${rounds} times over`, async () => {
  for (let round = 0; round < rounds; round++) {
    const call = {
      tenantId: 'acme',
      tokenId: 'tok_1',
      userAgent: null,
      request: { parameters: { what: `round ${round}` }, query: {}, body: null },
      origin: { requestId: 'req_1', actor: 'token:tok_1' },
    }
    const asked = await passGate(ledger.ports, count, { ...call, confirmationId: undefined })
    if (asked.passed) throw new Error('nobody has approved it')
    const { confirmationId } = asked.confirmation
    await approve(ledger.ports, 'acme', confirmationId, approver)

    const outcomes = await Promise.all(
      Array.from({ length: racers }, async (_, racer) => {
        const ports = processes[racer % processes.length] ?? ledger.ports
        try {
          return await passGate(ports, count, { ...call, confirmationId })
        } catch (error) {
          if (error instanceof Refusal) return error.code
          throw error
        }
      }),
    )
    const tally = Map.groupBy(outcomes, (outcome) => (typeof outcome === 'string' ? outcome : 'passed'))
    expect(Object.fromEntries(Array.from(tally, ([what, all]) => [what, all.length]))).toStrictEqual({
      passed: 1,
      confirmation_consumed: racers - 1,
    })
    expect(tally.get('passed')).toStrictEqual([{ passed: true, result: `round ${round}` }])
    expect(runs.get(confirmationId)).toBe(1)
    const events = await eventsIn(ledger.ports.ledger, confirmationStream(confirmationId))
    expect(events).toHaveLength(4)
  }
  expect(runs.size).toBe(rounds)
})
