/** Each request gets its own signature, for any number at once, and also when the worker thread ends. */
import { sign } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { createBatches } from '../../src/signing/batches.ts'
import { keyPairOf } from '../../src/signing/signer.ts'

const pairs = [1, 2, 3].map((byte) => keyPairOf(Buffer.alloc(32, byte).toString('base64')))
/** Fewer than the keys in use, so that the thread drops some repeatedly. */
const batches = createBatches(2)
afterAll(() => batches.close())

function asked(count: number) {
  return Array.from({ length: count }, (_, index) => {
    const pair = pairs[index % pairs.length] ?? keyPairOf('')
    const text = `text ${index}`
    const expected = sign(null, Buffer.from(text), pair.privateKey).toString('base64')
    return { signed: () => batches.sign(pair.kid, pair.privateKey, text), expected }
  })
}

test.each([1, 3, 4, 200, 5, 4])('%i at once', async (count) => {
  const all = asked(count)
  const signatures = await Promise.all(all.map(({ signed }) => signed()))
  expect(signatures).toStrictEqual(all.map(({ expected }) => expected))
})

test('when the thread ends, all requests are still answered', async () => {
  const all = asked(50)
  const signing = Promise.all(all.map(({ signed }) => signed()))
  await new Promise(setImmediate)
  await batches.close()
  const again = asked(50)
  const more = Promise.all(again.map(({ signed }) => signed()))
  expect(await signing).toStrictEqual(all.map(({ expected }) => expected))
  expect(await more).toStrictEqual(again.map(({ expected }) => expected))
})
