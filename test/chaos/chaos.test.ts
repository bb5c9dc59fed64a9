// Guarantee: while processes are killed, frozen and restarted, connections are cut, silent and slow, disks are full
// and clocks are wrong, nothing acknowledged is lost or duplicated, no limit is exceeded, no revoked key is valid,
// no webhook is lost, and no response is a 500. `npm run chaos` runs longer.
import { expect, test } from 'vitest'
import { wholeVariable } from '../harness/variables.ts'
import { runChaos } from './run.ts'
import { faultKinds } from './schedule.ts'

/** `KEYLEDGER_TEST_CHAOS_SEED=7` chooses another schedule. */
const seed = wholeVariable('KEYLEDGER_TEST_CHAOS_SEED', 1, 0)

test('half a minute of every kind of fault', async () => {
  const lines: string[] = []
  const summary = await runChaos({
    seed,
    rounds: 1,
    roundMs: 30_000,
    more: 6,
    clients: 6,
    thinkMs: 250,
    onLine: (line) => lines.push(line),
  })
  expect([...summary.violations, ...(summary.kept === null ? [] : lines)]).toStrictEqual([])
  // Otherwise nothing was acknowledged between the faults, and the test proves nothing.
  expect(summary.acknowledged).toBeGreaterThan(10)
  const played = new Set([...Object.keys(summary.faults), ...summary.left_out])
  expect(played).toStrictEqual(new Set(faultKinds))
})
