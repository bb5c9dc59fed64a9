// Guarantee: `listen` forwards every event that happens while it runs to a local program, once, with the body of the
// feed and signatures that receivers verify; `trigger` sends a marked test event to the same program.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { isVerified, verifyDelivery } from '../../../src/webhooks/signature.ts'
import { createHost, type Running } from '../../harness/process.ts'
import { createMachine, type Machine } from './machine.ts'
import { openTestServer, type TestServer } from './server.ts'

type Received = { body: string; headers: Record<string, string | undefined>; event: string; license: string }
const Payload = z.looseObject({ event: z.string(), license_id: z.string() })

const host = createHost()
let server: TestServer
let machine: Machine
let target: string
const received: Received[] = []
let status = 204
const program = createServer((request, response) => {
  void text(request).then((body) => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]),
    )
    const { event, license_id: license } = Payload.parse(JSON.parse(body))
    received.push({ body, headers, event, license })
    response.writeHead(status).end(status === 204 ? undefined : 'no such order')
  })
})
beforeAll(async () => {
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
  const at = program.address()
  target = `127.0.0.1:${typeof at === 'object' ? at?.port : ''}/hooks`
  server = await openTestServer()
  machine = createMachine(host, { KEYLEDGER_SERVER: server.address, KEYLEDGER_TOKEN: server.tenant.token })
  await machine.run('products', 'create', '--name', 'Editor', '--id', 'editor')
})
afterAll(() => void program.close())

const Minted = z.object({ license: z.object({ id: z.string() }) })
const mint = async () => (await machine.json(Minted, 'licenses', 'create', '--product', 'editor')).license.id
const suspend = (id: string) => machine.run('licenses', 'suspend', id)

async function secretOf(listening: Running): Promise<string> {
  await expect.poll(() => listening.stderr()).toContain('Keys in them are masked')
  return /whsec_\S+/.exec(listening.stderr())?.[0] ?? ''
}
const verified = (secret: string, { body, headers }: Received) =>
  isVerified(verifyDelivery(secret, { body, headers }, new Date()))

test('events that happen while it runs are forwarded, signed, with the answer shown', async () => {
  const before = await mint()
  await suspend(before)
  received.length = 0
  const listening = machine.start('listen', '--forward-to', target)
  const secret = await secretOf(listening)
  const id = await mint()
  await suspend(id)
  await expect.poll(() => received.length).toBe(2)
  status = 500
  await machine.run('licenses', 'resume', id)
  await expect.poll(() => received.length).toBe(3)
  status = 204
  await expect.poll(() => listening.stdout()).toContain('no such order')
  const { code, stdout } = await listening.end('SIGINT')
  expect(code).toBe(0)
  expect(received.map(({ event, license }) => [event, license])).toStrictEqual([
    ['license.issued', id],
    ['license.suspended', id],
    ['license.resumed', id],
  ])
  expect(received.every((one) => verified(secret, one))).toBe(true)
  expect(received[0]?.headers['x-service-test']).toBeUndefined()
  expect(stdout).toMatch(new RegExp(`license.suspended +${id} +→ +204 in \\d+ ms\n`))
  expect(stdout).toMatch(new RegExp(`license.resumed +${id} +→ +500 in \\d+ ms +no such order\n`))
})

test('only chosen events are forwarded, one JSON value each with --json', async () => {
  const listening = machine.start('listen', '--forward-to', target, '--events', 'license.resumed', '--json')
  const secret = await secretOf(listening)
  const id = await mint()
  received.length = 0
  await suspend(id)
  await machine.run('licenses', 'resume', id)
  await expect.poll(() => listening.stdout()).toContain('\n')
  await listening.end('SIGINT')
  expect(JSON.parse(listening.stdout())).toMatchObject({
    event: 'license.resumed',
    licenseId: id,
    status: 204,
    error: null,
  })
  expect(received.map(({ event }) => event)).toStrictEqual(['license.resumed'])
  // The program need not be set up again.
  expect(received.every((one) => verified(secret, one))).toBe(true)
})

test('trigger sends a marked event to where listen forwards, and without listen says what to do', async () => {
  const id = await mint()
  const nothing = await machine.run('trigger', 'license.revoked')
  expect(nothing).toMatchObject({ code: 1, stdout: '' })
  expect(nothing.stderr).toContain('keyledger listen --forward-to')
  const listening = machine.start('listen', '--forward-to', target)
  const secret = await secretOf(listening)
  received.length = 0
  const triggered = await machine.run('trigger', 'license.revoked')
  expect(triggered).toMatchObject({ code: 0, stderr: '' })
  await machine.run('trigger', 'license.created', '--license', id)
  await listening.end('SIGINT')
  expect(received.map(({ event, license }) => [event, license])).toStrictEqual([
    ['license.revoked', 'lic_test'],
    ['license.created', id],
  ])
  for (const one of received) {
    expect(verified(secret, one)).toBe(true)
    expect(one.headers['x-service-test']).toBe('true')
    expect(JSON.parse(one.body)).toMatchObject({ test: true, tenant_id: server.tenant.tenantId })
  }
})

test('a program that does not answer ends trigger with 1', async () => {
  const { code, stdout, stderr } = await machine.run(
    ...['trigger', 'license.revoked', '--forward-to', 'localhost:1/hooks', '--json'],
  )
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({ event: 'license.revoked', status: null })
  expect(JSON.parse(stderr)).toStrictEqual({
    error: 'http://localhost:1/hooks did not accept the event.',
    exitCode: 1,
  })
})

test.each([
  [['trigger', 'license.sold'], 'license.sold is not an event. Events are license.created'],
  [['listen', '--forward-to', 'localhost:1', '--events', 'sold'], 'sold is not an event'],
  [['listen', '--forward-to', '::'], ':: is not an address'],
])('%j is refused', async (words, message) => {
  const { code, stderr } = await machine.run(...words)
  expect(code).toBe(2)
  expect(stderr).toContain(message)
})
