/** Concurrent look-ups share a query, and a look-up is never answered by a query sent before it. */
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest'
import { coalesce } from '../../src/async/coalesce.ts'

/** A load function that answers when the test says so. */
function heldLoad() {
  const sent: { keys: readonly string[]; answer: (error?: Error) => void }[] = []
  const load = (keys: readonly string[]) =>
    new Promise<string[]>((resolve, reject) => {
      const answer = (error?: Error) => (error ? reject(error) : resolve(keys.map((key) => `found ${key}`)))
      sent.push({ keys, answer })
    })
  return { load, sent, queries: () => sent.map(({ keys }) => keys) }
}

test('look-ups of one tick share a query, and each gets its own answer', async () => {
  const { load, sent, queries } = heldLoad()
  const find = coalesce(load)
  const found = Promise.all([find('a'), find('b'), find('a')])
  await setImmediate()
  await setImmediate()
  expect(queries()).toStrictEqual([['a', 'b', 'a']])
  sent[0]?.answer()
  expect(await found).toStrictEqual(['found a', 'found b', 'found a'])
})

test('a look-up never joins a query that was already sent', async () => {
  const { load, sent, queries } = heldLoad()
  const find = coalesce(load)
  const early = find('a')
  await setImmediate()
  await setImmediate()
  const late = [find('a'), find('b')]
  await setImmediate()
  expect(queries()).toStrictEqual([['a']])
  sent[0]?.answer()
  expect(await early).toBe('found a')
  await setImmediate()
  expect(queries()).toStrictEqual([['a'], ['a', 'b']])
  sent[1]?.answer()
  expect(await Promise.all(late)).toStrictEqual(['found a', 'found b'])
})

test('a failed query fails only its own look-ups', async () => {
  const { load, sent } = heldLoad()
  const find = coalesce(load)
  const failing = [find('a'), find('b')]
  await setImmediate()
  await setImmediate()
  const later = find('c')
  sent[0]?.answer(new Error('no database'))
  expect(await Promise.allSettled(failing)).toStrictEqual([
    { status: 'rejected', reason: new Error('no database') },
    { status: 'rejected', reason: new Error('no database') },
  ])
  await setImmediate()
  sent[1]?.answer()
  expect(await later).toBe('found c')
})

test('more look-ups than fit into one query go into several, in order', async () => {
  const queries: (readonly number[])[] = []
  const find = coalesce(async (keys: readonly number[]) => {
    queries.push(keys)
    return keys.map((key) => key * 2)
  }, 3)
  const asked = Array.from({ length: 8 }, (_, n) => n)
  expect(await Promise.all(asked.map(find))).toStrictEqual(asked.map((n) => n * 2))
  expect(queries).toStrictEqual([
    [0, 1, 2],
    [3, 4, 5],
    [6, 7],
  ])
})

test('it stops when there are no look-ups, and starts again at the next', async () => {
  const find = coalesce(async (keys: readonly string[]) => keys)
  expect(await find('a')).toBe('a')
  await setImmediate()
  expect(await find('b')).toBe('b')
})

const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

test('after a query for two, a waiting look-up is sent at once', async () => {
  const { load, sent, queries } = heldLoad()
  const find = coalesce(load)
  const early = Promise.all([find('a'), find('b')])
  await setImmediate()
  const late = find('c')
  sent[0]?.answer()
  await early
  expect(queries()).toStrictEqual([['a', 'b'], ['c']])
  sent[1]?.answer()
  expect(await late).toBe('found c')
})

describe('after a query for many', () => {
  let now: MockInstance<() => number>
  beforeEach(() => {
    now = vi.spyOn(performance, 'now').mockReturnValue(0)
  })
  afterEach(() => now.mockRestore())

  /** Looks up letters at once, and waits for the answers. */
  async function crowd({ load, sent, queries }: ReturnType<typeof heldLoad>) {
    const find = coalesce(load)
    const asked = Promise.all(letters.map(find))
    await setImmediate()
    return {
      find,
      answer: async () => {
        sent[0]?.answer()
        await asked
        expect(queries()[0]).toStrictEqual(letters)
      },
    }
  }

  test('a waiting look-up waits a moment for others', async () => {
    const held = heldLoad()
    const { find, answer } = await crowd(held)
    const late = [find('i')]
    await answer()
    expect(held.queries()).toStrictEqual([letters])
    late.push(find('j'))
    await expect.poll(() => held.queries()).toStrictEqual([letters, ['i', 'j']])
    held.sent[1]?.answer()
    expect(await Promise.all(late)).toStrictEqual(['found i', 'found j'])
  })

  test('a look-up that comes much later is not delayed', async () => {
    const held = heldLoad()
    const { find, answer } = await crowd(held)
    await answer()
    now.mockReturnValue(1000)
    const late = find('i')
    await setImmediate()
    expect(held.queries()).toStrictEqual([letters, ['i']])
    held.sent[1]?.answer()
    expect(await late).toBe('found i')
  })
})
