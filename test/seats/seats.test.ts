/**
 * For any sequence of operations on licenses, also concurrent ones and from two processes: the reported seats
 * are those of the simplest model, they never exceed the limit, none is lost, and none is counted without a
 * device.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, test } from 'vitest'
import { type Ask, openTestApi, type TestApi } from '../harness/api.ts'
import { testMs } from '../harness/time-limits.ts'
import { wholeVariable } from '../harness/variables.ts'
import { anyStep, mintOne } from './steps.ts'
import { expectAgreement, expectNoLeak, newWorld, openAsks } from './world.ts'

let api: TestApi
let asks: Ask[]
let closeSecond: () => Promise<void>
beforeAll(async () => {
  api = await openTestApi()
  const opened = await openAsks(api)
  asks = opened.asks
  closeSecond = opened.close
})
afterAll(async () => {
  await closeSecond()
  await api.close()
})

/** `KEYLEDGER_TEST_LIVES=1000` for the long run. */
const lives = wholeVariable('KEYLEDGER_TEST_LIVES', 15)

test(
  `seats never exceed the limit and never leak, in ${lives} lives`,
  { timeout: testMs + lives * 5000 },
  () =>
    fc.assert(
      fc.asyncProperty(fc.commands(anyStep, { maxCommands: 40, size: 'max' }), async (steps) => {
        const world = await newWorld(api, asks)
        const { model, real } = world
        await mintOne(model, real, 'soft')
        await fc.asyncModelRun(() => world, steps)
        for (const index of model.licenses.keys()) await expectAgreement(model, real, index)
        await expectNoLeak(model, real)
      }),
      { numRuns: lives, endOnFailure: true },
    ),
)
