// Guarantee: a command whose output is cut, as by `| head -1`, ends in order and says nothing about it; a server goes on.
import { beforeAll, expect, test } from 'vitest'
import { createVendor } from '../flows/vendor.ts'
import { createHost, type Environment, freePort, program, type Running } from '../harness/process.ts'

const host = createHost()
let environment: Environment
beforeAll(async () => {
  ;({ environment } = await host.stores())
  await createVendor(environment)
})

/** Starts a command of which nothing reads the output. */
function cut(command: Running): Running {
  command.child.stdout?.destroy()
  return command
}

test.each([{ words: ['tenant', 'list'] }, { words: ['tenant', 'list', '--json'] }, { words: ['--help'] }])(
  '$words ends with 0 and without a message',
  async ({ words }) => {
    const { finished } = cut(host.start(['node', program, ...words], environment))
    expect(await finished).toMatchObject({ code: 0, stderr: '' })
  },
)

test('a server goes on when its output is no longer read', async () => {
  const port = await freePort()
  const server = cut(host.startServer(environment, port))
  await expect.poll(() => server.stderr()).toContain('"Ready"')
  expect((await fetch(`http://localhost:${port}/livez`)).status).toBe(200)
  await server.end('SIGTERM')
})
