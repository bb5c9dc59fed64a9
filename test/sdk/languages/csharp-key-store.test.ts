/**
 * Guarantee: the key store of the C# client keeps a text of any length in the Secret Service of the desktop, one for each product. Where
 * that is locked or missing it says what to do, and replaces nothing.
 */
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { placesOf, programAt } from '../../harness/debian.ts'
import type { DotnetProgram } from '../../harness/dotnet.ts'
import { temporaryDirectory } from '../../harness/ledger.ts'
import { secretServiceMissing, startSecretService } from '../../harness/secret-service.ts'
import { buildChecks } from './csharp.ts'

const home = temporaryDirectory()
let built: DotnetProgram | string
beforeAll(async () => {
  built = secretServiceMissing() ?? (await buildChecks())
})
afterAll(() => {
  if (typeof built !== 'string') built.remove()
  rmSync(home, { recursive: true, force: true })
})

/** Runs a check in an environment. @returns the lines that it prints */
async function check(context: TestContext, name: string, environment: NodeJS.ProcessEnv): Promise<string[]> {
  if (typeof built === 'string') context.skip(built)
  const { path, environment: dotnet } = built as DotnetProgram
  const env = { ...dotnet, DBUS_SESSION_BUS_ADDRESS: '', ...environment }
  const { stdout } = await promisify(execFile)(
    programAt(placesOf('dotnet'), [], 'install it'),
    [path, 'key-store', name],
    { env },
  )
  return stdout.split('\n').slice(0, -1)
}

/** Runs a check in a session of a desktop. */
async function inSession(context: TestContext, name: string, isUnlocked: boolean): Promise<string[]> {
  if (typeof built === 'string') context.skip(built)
  const { environment, end } = await startSecretService(home, isUnlocked)
  try {
    return await check(context, name, environment)
  } finally {
    await end()
  }
}

const notReplaced = 'the key store could not be read, so nothing in it is replaced; read it again'

test('texts are kept in the key ring and replaced, also long ones, until it is locked', async (context) => {
  expect(await inSession(context, 'fill', true)).toStrictEqual(['kept'])
  expect(await inSession(context, 'kept', true)).toStrictEqual(['kept'])
  expect(await inSession(context, 'fails', false)).toStrictEqual([
    'the key store is locked: unlock the keyring of the user, and try again',
    notReplaced,
  ])
  expect(await inSession(context, 'kept', true)).toStrictEqual(['kept'])
})

test('without a session or the program it is said what to do', async (context) => {
  const [session, ...more] = await check(context, 'fails', { HOME: home, DISPLAY: '' })
  expect(session).toMatch(/^the key store cannot be read: secret-tool: /)
  expect(more).toStrictEqual([notReplaced])
  expect(await check(context, 'fails', { PATH: '/nowhere' })).toStrictEqual([
    'the key store is reached with the program secret-tool: install it (libsecret-tools), or use FileStorage',
    notReplaced,
  ])
})
