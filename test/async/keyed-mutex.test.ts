/** Work for one key runs one at a time in order of arrival, and no state is left afterwards. */
import { expect, test } from 'vitest'
import { createKeyedMutex } from '../../src/async/keyed-mutex.ts'

/** Work that records its start, and ends when the test says so. */
function controlled(begun: string[], name: string) {
  const gate = Promise.withResolvers<string>()
  const work = (waited: boolean) => {
    begun.push(waited ? `${name} waited` : name)
    return gate.promise
  }
  return { work, end: () => gate.resolve(name), fail: () => gate.reject(new Error(name)) }
}

/** Runs all pending microtasks. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

test('work for one key runs one after the other, in order of arrival', async () => {
  const mutex = createKeyedMutex()
  const begun: string[] = []
  const works = ['a', 'b', 'c'].map((name) => controlled(begun, name))
  const taken = works.map(({ work }) => mutex.run('license-1', work))
  await settled()
  expect(begun).toStrictEqual(['a'])
  works[0]?.end()
  await settled()
  expect(begun).toStrictEqual(['a', 'b waited'])
  works[2]?.end()
  await settled()
  expect(begun).toStrictEqual(['a', 'b waited'])
  works[1]?.end()
  expect(await Promise.all(taken)).toStrictEqual(['a', 'b', 'c'])
  expect(begun).toStrictEqual(['a', 'b waited', 'c waited'])
})

test('work for another key does not wait', async () => {
  const mutex = createKeyedMutex()
  const begun: string[] = []
  const one = controlled(begun, 'one')
  const other = controlled(begun, 'other')
  const taken = mutex.run('license-1', one.work)
  other.end()
  expect(await mutex.run('license-2', other.work)).toBe('other')
  expect(begun).toStrictEqual(['one', 'other'])
  one.end()
  expect(await taken).toBe('one')
})

test('an error reaches its own caller, and the next work runs', async () => {
  const mutex = createKeyedMutex()
  const begun: string[] = []
  const failing = controlled(begun, 'failing')
  const next = controlled(begun, 'next')
  const failed = expect(mutex.run('license-1', failing.work)).rejects.toThrow(new Error('failing'))
  const taken = mutex.run('license-1', next.work)
  failing.fail()
  next.end()
  await failed
  expect(await taken).toBe('next')
  expect(begun).toStrictEqual(['failing', 'next waited'])
})

test('work may throw before its first await', async () => {
  const mutex = createKeyedMutex()
  const thrown = mutex.run('license-1', () => {
    throw new Error('at once')
  })
  await expect(thrown).rejects.toThrow(new Error('at once'))
  expect(await mutex.run('license-1', async (waited) => waited)).toBe(false)
})

test('work does not wait when nothing else runs, also after an error', async () => {
  const mutex = createKeyedMutex()
  const waits = async (waited: boolean) => waited
  expect(await Promise.all([mutex.run('license-1', waits), mutex.run('license-1', waits)])).toStrictEqual([
    false,
    true,
  ])
  expect(await mutex.run('license-1', waits)).toBe(false)
  await expect(mutex.run('license-1', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await mutex.run('license-1', waits)).toBe(false)
})

test('work that arrives between two others waits for the second', async () => {
  const mutex = createKeyedMutex()
  const begun: string[] = []
  const [first, second, third] = ['first', 'second', 'third'].map((name) => controlled(begun, name))
  if (!first || !second || !third) throw new Error('three were made')
  const taken = [mutex.run('license-1', first.work), mutex.run('license-1', second.work)]
  first.end()
  await taken[0]
  taken.push(mutex.run('license-1', third.work))
  third.end()
  await settled()
  expect(begun).toStrictEqual(['first', 'second waited'])
  second.end()
  expect(await Promise.all(taken)).toStrictEqual(['first', 'second', 'third'])
  expect(begun).toStrictEqual(['first', 'second waited', 'third waited'])
})

test('work of any duration runs in order of arrival', async () => {
  const mutex = createKeyedMutex()
  const order: number[] = []
  let running = 0
  const work = (index: number) => async () => {
    running += 1
    expect(running).toBe(1)
    for (let step = index % 7; step > 0; step--) await settled()
    order.push(index)
    running -= 1
    if (index % 5 === 0) throw new Error(`${index}`)
  }
  const numbers = [...Array(100).keys()]
  const outcomes = await Promise.allSettled(numbers.map((index) => mutex.run('license-1', work(index))))
  expect(order).toStrictEqual(numbers)
  expect(outcomes.map(({ status }) => status)).toStrictEqual(
    numbers.map((index) => (index % 5 === 0 ? 'rejected' : 'fulfilled')),
  )
})
