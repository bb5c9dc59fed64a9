/** Failed items wait longer after each failure, for a minute at most, also if a clock is set back. */
import { expect, test } from 'vitest'
import { createBackoff } from '../../src/async/backoff.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')

test('the pause doubles after each failure', () => {
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

test('after a clock is set back by an hour the item is retried at once', () => {
  let now = start
  const backoff = createBackoff(() => new Date(now))
  backoff.failed('one')
  now -= 3_600_000
  expect(backoff.waiting()).toStrictEqual([])
})
