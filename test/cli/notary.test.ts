/** Guarantee: `keyledger notary` starts no log under a name that cannot sign, or after what is no checkpoint. */
import { writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { createHost } from '../harness/process.ts'

const host = createHost()
let environment: Record<string, string>
beforeAll(async () => {
  ;({ environment } = await host.stores())
})

const newLog = async (...words: string[]) => {
  const { code, stderr } = await host.run(['notary', 'new-log', ...words], environment)
  return { code, stderr }
}

test('a name with spaces or plus signs is refused', async () => {
  for (const name of ['a log', 'a+log'])
    expect(await newLog('--origin', name)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--origin must be a name without spaces') as string,
    })
})

test('a file that is no checkpoint is refused', async () => {
  const file = host.path('kept')
  writeFileSync(file, 'hello\n')
  expect(await newLog('--checkpoint', file)).toStrictEqual({
    code: 2,
    stderr: `${file} is no checkpoint: the note has no signatures\n`,
  })
})

test('before the notary has started there is no log to end', async () => {
  expect(await newLog()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the notary has not started yet') as string,
  })
})
