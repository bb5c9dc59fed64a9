// Guarantee: with --watch a command shows each change until Ctrl-C, and ends with an error that stays.
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createHost } from '../../harness/process.ts'
import { createMachine, type Machine } from './machine.ts'
import { openTestServer, type TestServer } from './server.ts'

const host = createHost()
let server: TestServer
let machine: Machine
beforeAll(async () => {
  server = await openTestServer()
  machine = createMachine(host, { KEYLEDGER_SERVER: server.address, KEYLEDGER_TOKEN: server.tenant.token })
  await machine.run('products', 'create', '--name', 'Editor', '--id', 'editor')
})

const Minted = z.object({ license: z.object({ id: z.string() }) })
const Shown = z.object({ license: z.object({ status: z.string() }) })

test('each change is one JSON value on a line', async () => {
  const { id } = (await machine.json(Minted, 'licenses', 'create', '--product', 'editor')).license
  const watching = machine.start('licenses', 'show', id, '--watch', '--json')
  const lines = () => watching.stdout().trimEnd().split('\n').filter(Boolean)
  await expect.poll(() => lines().length).toBe(1)
  await machine.run('licenses', 'suspend', id)
  await expect.poll(() => lines().length).toBe(2)
  await machine.run('licenses', 'resume', id)
  await expect.poll(() => lines().length).toBe(3)
  expect(await watching.end('SIGINT')).toMatchObject({ code: 0, stderr: '' })
  expect(lines().map((line) => Shown.parse(JSON.parse(line)).license.status)).toStrictEqual([
    'active',
    'suspended',
    'active',
  ])
})

test('an error that stays ends it', async () => {
  const ended = await machine.start('licenses', 'show', 'lic_nope', '--watch').finished
  expect(ended).toMatchObject({ code: 1, stdout: '', stderr: 'license not found\n' })
})
