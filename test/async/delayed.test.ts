import { beforeEach, expect, test, vi } from 'vitest'
import { createDelayed } from '../../src/async/delayed.ts'

beforeEach(() => {
  vi.useFakeTimers()
  return () => vi.useRealTimers()
})

test('nothing runs until it is asked for, and then once for all that asked', async () => {
  const work = vi.fn(async () => undefined)
  const delayed = createDelayed(50, work)
  expect(vi.getTimerCount()).toBe(0)
  delayed.ask()
  delayed.ask()
  await vi.advanceTimersByTimeAsync(49)
  expect(work).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(work).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(1000)
  expect(work).toHaveBeenCalledTimes(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('what asks during the work is done after it, and never beside it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const work = vi.fn(() => promise)
  const delayed = createDelayed(50, work)
  delayed.ask()
  await vi.advanceTimersByTimeAsync(50)
  delayed.ask()
  await vi.advanceTimersByTimeAsync(1000)
  expect(work).toHaveBeenCalledTimes(1)
  resolve()
  await vi.advanceTimersByTimeAsync(49)
  expect(work).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(work).toHaveBeenCalledTimes(2)
})

test('work that failed is done again after the longer time that it asks for, also when more is asked for', async () => {
  const work = vi
    .fn(async (): Promise<void> => undefined)
    .mockImplementationOnce(async () => delayed.ask(1000))
  const delayed = createDelayed(50, work)
  delayed.ask()
  await vi.advanceTimersByTimeAsync(50)
  delayed.ask()
  await vi.advanceTimersByTimeAsync(999)
  expect(work).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(work).toHaveBeenCalledTimes(2)
  expect(vi.getTimerCount()).toBe(0)
})

test('nothing begins after it was canceled, not even a repetition', async () => {
  const work = vi.fn(async () => delayed.ask())
  const delayed = createDelayed(50, work)
  delayed.ask()
  await vi.advanceTimersByTimeAsync(50)
  delayed.cancel()
  delayed.ask()
  await vi.advanceTimersByTimeAsync(1000)
  expect(work).toHaveBeenCalledTimes(1)
})

test('what is asked for now is done at once, after any work that has begun', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const work = vi.fn(() => promise)
  const delayed = createDelayed(50, work)
  delayed.ask()
  await vi.advanceTimersByTimeAsync(50)
  const done = delayed.now()
  await vi.advanceTimersByTimeAsync(0)
  expect(work).toHaveBeenCalledTimes(1)
  resolve()
  await done
  expect(work).toHaveBeenCalledTimes(2)
})
