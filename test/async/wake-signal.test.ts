import { getEventListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createWakeSignal } from '../../src/async/wake-signal.ts'

/** Longer than any wait here, so a wait that ends earlier was woken. */
const forEver = 2 ** 30

/** Whether the promise is settled, without advancing the time. */
async function isOver(waiting: Promise<void>): Promise<boolean> {
  let over = false
  void waiting.then(() => {
    over = true
  })
  await setImmediate()
  return over
}

test('a wake ends a wait, once', async () => {
  const { signal } = new AbortController()
  const wakeSignal = createWakeSignal()
  const waiting = wakeSignal.wait(forEver, signal)
  expect(await isOver(waiting)).toBe(false)
  wakeSignal.wake()
  wakeSignal.wake()
  expect(await isOver(waiting)).toBe(true)
  expect(await isOver(wakeSignal.wait(20, signal))).toBe(false)
})

test('a wake without a waiter ends the next wait at once', async () => {
  const { signal } = new AbortController()
  const wakeSignal = createWakeSignal()
  wakeSignal.wake()
  expect(await isOver(wakeSignal.wait(forEver, signal))).toBe(true)
  expect(await isOver(wakeSignal.wait(20, signal))).toBe(false)
})

test('an aborted signal ends a wait, before or during it', async () => {
  const ending = new AbortController()
  const wakeSignal = createWakeSignal()
  const waiting = wakeSignal.wait(forEver, ending.signal)
  ending.abort()
  expect(await isOver(waiting)).toBe(true)
  expect(await isOver(wakeSignal.wait(forEver, ending.signal))).toBe(true)
  expect(getEventListeners(ending.signal, 'abort')).toStrictEqual([])
})

test('a wait removes its listener from the signal', async () => {
  const { signal } = new AbortController()
  const wakeSignal = createWakeSignal()
  for (let times = 0; times < 3; times++) {
    wakeSignal.wake()
    await wakeSignal.wait(forEver, signal)
  }
  expect(getEventListeners(signal, 'abort')).toStrictEqual([])
})
