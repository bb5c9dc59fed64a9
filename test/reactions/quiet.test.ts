/** While the log is quiet, idle processes rest; an entry, and only an entry, makes all of them look at once. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createActivity } from '../../src/reactions/activity.ts'
import { type Poller, runPollers } from '../../src/reactions/poller.ts'

const everyMs = 1

/** @returns how often the poller has polled so far, and what makes it rest */
function run(isIdle: () => boolean, more: Partial<Poller> = {}) {
  let nowMs = 0
  let polls = 0
  const activity = createActivity(() => nowMs)
  const stopping = new AbortController()
  const poller: Poller = {
    name: 'test',
    everyMs,
    poll: async () => void polls++,
    isIdle,
    ...more,
  }
  const finished = runPollers([poller], stopping.signal, () => undefined, { activity })
  return {
    activity,
    polls: () => polls,
    passes(ms: number) {
      nowMs += ms
    },
    async stop() {
      stopping.abort()
      await finished
    },
  }
}

/** Long enough for dozens of polls, if there are any. */
async function pollsMeanwhile(polls: () => number): Promise<number> {
  await sleep(20)
  const before = polls()
  await sleep(100)
  return polls() - before
}

test('an idle process rests once no entry has come for 30 seconds, until one comes', async () => {
  const { activity, polls, passes, stop } = run(() => true)
  await expect.poll(polls).toBeGreaterThan(5)
  passes(30_001)
  expect(await pollsMeanwhile(polls)).toBe(0)
  activity.onEntry()
  const resting = polls()
  await expect.poll(polls).toBeGreaterThan(resting + 5)
  await stop()
})

test('one that has something left to do does not rest', async () => {
  const { polls, passes, stop } = run(() => false)
  passes(60_000)
  const before = polls()
  await expect.poll(polls).toBeGreaterThan(before + 5)
  await stop()
})

test('one that knows when something is due wakes then', async () => {
  const { polls, passes, stop } = run(() => true, { dueInMs: () => 5 })
  passes(60_000)
  const before = polls()
  await expect.poll(polls).toBeGreaterThan(before + 5)
  await stop()
})
