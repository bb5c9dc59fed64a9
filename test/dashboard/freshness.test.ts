/** Guarantee: the last line of a page says when its data was updated and what is missing, and calls no position an event. */
import { expect, test } from 'vitest'
import { freshnessLine } from '../../src/dashboard/frame/freshness.ts'
import { partOf } from '../../src/html.ts'
import { wordsOf } from './words.ts'

test.each([
  [4_044_997n, 400, 0, 'Updated just now; up to date'],
  [4_044_997n, 3000, 0, 'Updated 3 seconds ago; up to date'],
  [4_044_997n, 180_000, 1, 'Updated 3 minutes ago; 1 newer event is being processed'],
  [4_044_997n, 1000, 99, 'Updated 1 second ago; 99 newer events are being processed'],
  [4_044_997n, 1000, 100, 'Updated 1 second ago; 100 or more newer events are being processed'],
  [
    -1n,
    0,
    undefined,
    'Nothing recorded yet; newer events unknown, because the event store is not responding',
  ],
])('position %s of %s ms with %s waiting: %s', (position, ageMs, waiting, words) => {
  expect(wordsOf(partOf(freshnessLine({ position, ageMs, waiting }))).trim()).toBe(`${words} .`)
})
