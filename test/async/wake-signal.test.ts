import { getEventListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createWakeSignal } from '../../src/async/wake-signal.ts'

/** Nobody waits as long as this: whoever comes back earlier has been woken. */
const forEver = 2 ** 30

/** Whether it has come to its end without any time going by. */
async function isOver(waiting: Promise<void>): Promise<boolean> {
  let over = false
  void waiting.then(() => {
    over = true
  })
  await setImmediate()
  return over
}

test('a ring wakes whoever waits, and only once', async () => {
  const { signal } = new AbortController()
  const wakeSignal = createWakeSignal()
  const waiting = wakeSignal.wait(forEver, signal)
  expect(await isOver(waiting)).toBe(false)
  wakeSignal.wake()
  wakeSignal.wake()
  expect(await isOver(waiting)).toBe(true)
  expect(await isOver(wakeSignal.wait(20, signal))).toBe(false)
})

test('a ring that nobody waited for is heard by the next', async () => {
  const { signal } = new AbortController()
  const wakeSignal = createWakeSignal()
  wakeSignal.wake()
  expect(await isOver(wakeSignal.wait(forEver, signal))).toBe(true)
  expect(await isOver(wakeSignal.wait(20, signal))).toBe(false)
})

test('nobody waits once it is all over, before or during', async () => {
  const ending = new AbortController()
  const wakeSignal = createWakeSignal()
  const waiting = wakeSignal.wait(forEver, ending.signal)
  ending.abort()
  expect(await isOver(waiting)).toBe(true)
  expect(await isOver(wakeSignal.wait(forEver, ending.signal))).toBe(true)
  expect(getEventListeners(ending.signal, 'abort')).toStrictEqual([])
})

test('waiting leaves nothing behind at the signal', async () => {
  const { signal } = new AbortController()
  const wakeSignal = createWakeSignal()
  for (let times = 0; times < 3; times++) {
    wakeSignal.wake()
    await wakeSignal.wait(forEver, signal)
  }
  expect(getEventListeners(signal, 'abort')).toStrictEqual([])
})
