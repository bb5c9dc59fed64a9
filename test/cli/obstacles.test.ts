// Guarantee: when the configuration, a port, a directory, a key or a store is unusable, the command says what is
// wrong and how to fix it, exits with the documented code, and prints neither a stack trace nor a credential.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { createHost, type Environment, freePort, program } from '../harness/process.ts'

const host = createHost()
let environment: Environment
beforeAll(async () => {
  ;({ environment } = await host.stores())
  expect((await host.run(['migrate'], environment)).code).toBe(0)
})

/** @returns the message; the exit code and an otherwise empty output were checked */
async function said(code: number, args: string[], variables: Environment, run = host.run): Promise<string> {
  const finished = await run(args, variables)
  expect(finished).toStrictEqual({ code, signal: null, stdout: '', stderr: finished.stderr })
  expect(finished.stderr).not.toMatch(/^ {4}at /m)
  return finished.stderr
}

/** In its own process, which must end although it had begun to serve. */
const alone = (args: readonly string[], variables: Environment) =>
  host.start(['node', program, ...args], variables).finished

const secret = 'hunter2canary'
test.each([
  ['KEYLEDGER_DATABASE_URL', `mysql://${secret}`],
  ['KEYLEDGER_EVENTSTORE_URL', `http://${secret}`],
  ['KEYLEDGER_NATS_URL', `amqp://${secret}`],
  ['KEYLEDGER_BASE_URL', `ftp://${secret}`],
  ['KEYLEDGER_MASTER_KEY', secret],
  ['KEYLEDGER_METRICS_TOKEN', secret],
])('the message about an invalid %s contains its name and not its value', async (name, value) => {
  const message = await said(2, ['serve'], { ...environment, [name]: value })
  expect(message).toContain(name)
  expect(message).not.toContain(secret)
})

test.each([
  ['KEYLEDGER_PORT', 'eighty', 'a whole number from 0 to 65535'],
  ['KEYLEDGER_PORT', '70000', 'a whole number from 0 to 65535'],
  ['KEYLEDGER_LOG_LEVEL', 'verbose', 'fatal, error, warn, info, debug, trace or silent'],
  ['KEYLEDGER_LIMIT_MANAGEMENT', 'many', 'such as 600/1200, or off'],
  ['KEYLEDGER_LIMIT_RUNTIME', '6000/0', 'such as 600/1200, or off'],
  ['KEYLEDGER_TRUST_PROXY', 'proxy.example', 'such as loopback,10.0.0.0/8'],
  ['KEYLEDGER_TRUST_PROXY', '10.0.0.0/33', 'such as loopback,10.0.0.0/8'],
])('the message about %s=%s contains the value and the allowed ones', async (name, value, allowed) => {
  const message = await said(2, ['serve'], { ...environment, [name]: value })
  expect(message).toContain(`${name}: must be`)
  expect(message).toContain(allowed)
  expect(message).toContain(JSON.stringify(value))
})

test.each(['serve', 'tenant list', 'doctor', 'migrate'])(
  '%s exits with 2 for an unknown variable and suggests the most similar one',
  async (words) => {
    const mistyped = { KEYLEDGER_WEBHOOKS_ALLOW_PRIVAT: 'false' }
    const message = await said(2, words.split(' '), { ...environment, ...mistyped })
    expect(message).toContain(
      'KEYLEDGER_WEBHOOKS_ALLOW_PRIVAT: is not a keyledger variable; did you mean KEYLEDGER_WEBHOOK_ALLOW_PRIVATE?',
    )
  },
)

test('the message about a missing master key says how to create one', async () => {
  const { KEYLEDGER_MASTER_KEY: _, ...without } = environment
  const message = await said(2, ['tenant', 'list'], without)
  expect(message).toContain('Set KEYLEDGER_MASTER_KEY')
  expect(message).toContain('openssl rand -base64 32')
})

test('a wrong master key exits with 2', async () => {
  const key = randomBytes(32).toString('base64')
  const message = await said(2, ['tenant', 'list'], { ...environment, KEYLEDGER_MASTER_KEY: key })
  expect(message).toContain('the master key is not the one that this database was created with')
  expect(message).not.toContain(key)
})

test('a port in use exits with 1 and names the variable', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' ? String(address?.port) : ''
  const variables = { ...environment, KEYLEDGER_PORT: port, KEYLEDGER_HOST: '127.0.0.1' }
  const message = await said(1, ['serve'], variables, alone)
  other.close()
  expect(message).toContain(`Port ${port} on 127.0.0.1 is in use`)
  expect(message).toContain('KEYLEDGER_PORT=')
})

test('a host that is not an address of this machine exits with 1', async () => {
  const variables = { ...environment, KEYLEDGER_HOST: '192.0.2.1', KEYLEDGER_PORT: '0' }
  const message = await said(1, ['serve'], variables, alone)
  expect(message).toContain('192.0.2.1 is not an address of this machine. Set KEYLEDGER_HOST')
})

test('a file in place of the data directory exits with 3', async () => {
  const path = host.path('file')
  writeFileSync(path, '')
  const message = await said(3, ['tenant', 'list'], { KEYLEDGER_DATA_DIR: path })
  expect(message).toContain(`The data directory ${path} cannot be used: a file is in the way`)
  expect(message).toContain('KEYLEDGER_DATA_DIR')
})

test.runIf(process.getuid?.() !== 0)('a data directory that is not writable exits with 3', async () => {
  const parent = host.path('closed')
  mkdirSync(parent)
  chmodSync(parent, 0o500)
  const message = await said(3, ['tenant', 'list'], { KEYLEDGER_DATA_DIR: join(parent, 'data') })
  expect(message).toContain('this user cannot write to it')
})

test('a database that does not respond exits with 3', async () => {
  const port = await freePort()
  const url = `postgres://user:${secret}@127.0.0.1:${port}/keyledger`
  const variables = { ...environment, KEYLEDGER_DATABASE_URL: url }
  const message = await said(3, ['tenant', 'list'], variables, alone)
  expect(message).toContain('A store does not respond')
  expect(message).not.toContain(secret)
})

test.each([
  ['where nothing listens', freePort],
  ['where the server never responds', silentPort],
])('an event store URL %s exits with 3', async (_, port) => {
  const url = `esdb://user:${secret}@127.0.0.1:${await port()}?tls=false`
  const variables = { ...environment, KEYLEDGER_EVENTSTORE_URL: url }
  const message = await said(3, ['tenant', 'create', 'acme'], variables, alone)
  expect(message).toContain('No event store responds at')
  expect(message).not.toContain(secret)
})

/** @returns a port that accepts connections but sends nothing until the end of the test */
async function silentPort(): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined))).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}
