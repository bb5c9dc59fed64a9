// Guarantee: `serve` says at once that it starts, and then each step; what would make it fail later is found before any store is started.
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createHost, freePort } from '../harness/process.ts'

const host = createHost()

test('a port in use ends the start before the data directory is made', async () => {
  const other = createServer()
  const port = await freePort()
  await new Promise<void>((resolve) => other.listen(port, 'localhost', resolve))
  const environment = { KEYLEDGER_DATA_DIR: host.path('data') }
  const { code, stderr } = await host.startServer(environment, port).finished
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Port ${port} on localhost is in use.`) as string,
  })
  expect(existsSync(environment.KEYLEDGER_DATA_DIR)).toBe(false)
  await new Promise((closed) => other.close(closed))
})

test.runIf(process.getuid?.() === 0)('a data directory of another user is left as it is', async () => {
  const directory = host.path('theirs')
  mkdirSync(join(directory, 'eventstore'), { recursive: true })
  for (const path of [directory, join(directory, 'eventstore')]) chownSync(path, 65_534, 65_534)
  const { code, stderr } = await host.startServer({ KEYLEDGER_DATA_DIR: directory }, await freePort())
    .finished
  expect({ code, stderr }).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('it belongs to another user (65534)') as string,
  })
  expect(readdirSync(directory)).toStrictEqual(['eventstore'])
})

test('each step of a start is printed', async () => {
  const { environment } = await host.stores()
  const server = await host.serve(environment, { roles: 'api' })
  const steps = ['Starting', 'Opening the stores', 'Preparing the database', 'Reading the log', 'Ready']
  await expect.poll(() => server.stderr()).toContain('"Ready"')
  const said = [...server.stderr().matchAll(/"msg":"([^"]+)"/g)].map(([, message]) => message ?? '')
  expect(said.filter((message) => steps.includes(message))).toStrictEqual(steps)
  await server.end('SIGTERM')
})
