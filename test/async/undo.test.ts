/** Guarantee: whatever was started is ended, in the reverse order, also when one part cannot be ended. */
import { expect, test } from 'vitest'
import { createUndo } from '../../src/async/undo.ts'

test('steps run once, the last one first', async () => {
  const ended: string[] = []
  const undo = createUndo()
  undo.push(async () => ended.push('store'))
  undo.push(() => ended.push('server'))
  await undo.run()
  await undo.run()
  expect(ended).toStrictEqual(['server', 'store'])
})

test('a step that fails is reported, and the others run all the same', async () => {
  const ended: string[] = []
  const undo = createUndo()
  undo.push(() => ended.push('store'))
  undo.push(async () => {
    throw new Error('the connection is gone')
  })
  undo.push(() => ended.push('server'))
  await expect(undo.run()).rejects.toThrow('the connection is gone')
  expect(ended).toStrictEqual(['server', 'store'])
})
