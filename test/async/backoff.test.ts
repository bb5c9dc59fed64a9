/** What has failed waits longer each time, for a minute at most, and a clock that is set back makes that no longer. */
import { expect, test } from 'vitest'
import { createBackoff } from '../../src/async/backoff.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')

test('it waits twice as long after each failure', () => {
  let now = start
  const backoff = createBackoff(() => new Date(now))
  for (const pauseMs of [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
    backoff.failed('one')
    now += pauseMs - 1
    expect(backoff.waiting()).toStrictEqual(['one'])
    now += 1
    expect(backoff.waiting()).toStrictEqual([])
  }
})

test('a clock that is set back by an hour has it tried at once', () => {
  let now = start
  const backoff = createBackoff(() => new Date(now))
  backoff.failed('one')
  now -= 3_600_000
  expect(backoff.waiting()).toStrictEqual([])
})
