/** The Postgres of a test run ends with the run, also when the run is killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { z } from 'zod'

const guardian = fileURLToPath(new URL('../../harness/postgres-guardian.ts', import.meta.url))
/** Starts the guardian as the global setup does, with its output passed to this process. */
const run = `
  const { spawn } = require('node:child_process')
  spawn(process.execPath, [${JSON.stringify(guardian)}], { detached: true, stdio: ['pipe', 'inherit', 'inherit'] })`

test('when the test run is killed, its Postgres ends and its directory is removed', async () => {
  const testRun = spawn(process.execPath, ['-e', run], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(testRun.stdout.setEncoding('utf8'), 'data')) as [string]
  const { url } = z.object({ url: z.string() }).parse(JSON.parse(line))
  const socketDirectory = new URL(url.replace('@/', '@localhost/')).searchParams.get('host') ?? ''
  expect(existsSync(socketDirectory)).toBe(true)
  testRun.kill('SIGKILL')
  // The guardian keeps this output open until it ends.
  await once(testRun.stdout.resume(), 'close')
  expect(existsSync(socketDirectory)).toBe(false)
  expect(existsSync(socketDirectory.replace(/\/postgres\/socket$/, ''))).toBe(false)
})
