// Guarantee: while a relay is killed, frozen, started twice, renewed, and its disk is full and its clock is wrong, it never has more
// living seats than its certificate over all that it ever answered, fences rise, its chain stays whole, and it recovers.
// `npm run chaos -- --relay` runs longer.
import { expect, test } from 'vitest'
import { wholeVariable } from '../harness/variables.ts'
import { runRelayChaos } from './relay.ts'

/** `KEYLEDGER_TEST_CHAOS_SEED=7` chooses another schedule. */
const seed = wholeVariable('KEYLEDGER_TEST_CHAOS_SEED', 1, 0)

test('20 seconds of faults on a relay', async () => {
  const lines: string[] = []
  const summary = await runRelayChaos({
    seed,
    minutes: 1 / 3,
    devices: 8,
    onLine: (line) => lines.push(line),
  })
  expect([...summary.violations, ...(summary.kept === null ? [] : lines)]).toStrictEqual([])
  // Otherwise no seat was taken between the faults, and the test proves nothing.
  expect(summary.takings).toBeGreaterThan(20)
})
