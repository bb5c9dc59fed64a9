/** Guarantee: what an app stores in a file is complete or the former text, and only its user can read it. */
import { chmodSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fileStorage } from '../../src/sdk/javascript/node/index.ts'
import { temporaryDirectory } from '../harness/ledger.ts'

const directory = temporaryDirectory()
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test('a file that is not there yet is empty; folders are made, and only the user can read them', async () => {
  const path = join(directory, 'config/app/license.json')
  const storage = fileStorage(path)
  expect(await storage.read()).toBeUndefined()
  await storage.write('one')
  await storage.write('two')
  expect(await fileStorage(path).read()).toBe('two')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(join(directory, 'config')).mode & 0o777).toBe(0o700)
  expect(readdirSync(join(directory, 'config/app'))).toStrictEqual(['license.json'])
})

test('writes at the same time leave one of the texts, and no other file', async () => {
  const folder = join(directory, 'busy')
  const storage = fileStorage(join(folder, 'x'))
  const texts = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(10_000))
  await Promise.all(texts.map(async (text) => storage.write(text)))
  expect(texts).toContain(readFileSync(join(folder, 'x'), 'utf8'))
  expect(readdirSync(folder)).toStrictEqual(['x'])
})

test.skipIf(process.getuid?.() === 0)(
  'a folder that cannot be written is an error, and keeps the text',
  async () => {
    const folder = join(directory, 'locked')
    const storage = fileStorage(join(folder, 'x'))
    await storage.write('kept')
    chmodSync(folder, 0o500)
    await expect(storage.write('lost')).rejects.toThrow('EACCES')
    expect(await storage.read()).toBe('kept')
    chmodSync(folder, 0o700)
  },
)
