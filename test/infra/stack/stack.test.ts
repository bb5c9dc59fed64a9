/**
 * Any number of processes share a data directory: the first one starts the parts, the last one stops them, and
 * after a kill of any process the next one to join recovers.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { LocalStackError } from '../../../infra/local/errors.ts'
import { isAlive } from '../../../infra/local/postgres/process-table.ts'
import { joinLocalStack, type LocalStack } from '../../../infra/local/stack/stack.ts'
import { StoreProcess } from '../eventstore/store-process.ts'

const eventStoreProgram = fileURLToPath(new URL('event-store-stand-in.ts', import.meta.url))
const memberScript = fileURLToPath(new URL('member.ts', import.meta.url))
const Addresses = z.object({ databaseUrl: z.string(), eventstoreUrl: z.string() })
const Endpoint = z.object({ pid: z.number(), url: z.string() })

/** Copied for tests that need no new cluster, because creating one takes longer than most tests. */
const used = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
beforeAll(async () => {
  const parts = { postgres: true, eventStore: false }
  const stack = await joinLocalStack({ dataDirectory: used, parts, log: () => undefined })
  await stack.leave()
})
afterAll(() => rmSync(used, { recursive: true, force: true }))

const beginUsed = () => execFileSync('cp', ['-a', used, dataDirectory])

let temporary: string
let dataDirectory: string
let stacks: LocalStack[]
let members: ChildProcess[]
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  dataDirectory = join(temporary, 'my data')
  stacks = []
  members = []
})
afterEach(async () => {
  for (const member of members) member.kill('SIGKILL')
  await Promise.all(stacks.map((stack) => stack.leave()))
  // The last member to leave stops what killed members left.
  if (members.length > 0) await (await joinHere()).leave()
  rmSync(temporary, { recursive: true, force: true })
})

async function joinHere(
  options: { supervise?: boolean; log?: (message: string) => void } = {},
): Promise<LocalStack> {
  const parts = { postgres: true, eventStore: true }
  const stack = await joinLocalStack({
    dataDirectory,
    parts,
    log: () => undefined,
    eventStoreProgram,
    ...options,
  })
  stacks.push(stack)
  return stack
}

async function joinInProcess(): Promise<{ member: ChildProcess; addresses: z.infer<typeof Addresses> }> {
  const member = spawn(process.execPath, [memberScript, dataDirectory, eventStoreProgram], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  members.push(member)
  for await (const line of createInterface({ input: member.stdout })) {
    return { member, addresses: Addresses.parse(JSON.parse(line)) }
  }
  throw new Error('The member ended without an answer')
}

async function kill(member: ChildProcess): Promise<void> {
  member.kill('SIGKILL')
  await once(member, 'exit')
}

function eventStoreEndpoint(): z.infer<typeof Endpoint> {
  return Endpoint.parse(JSON.parse(readFileSync(join(dataDirectory, 'eventstore', 'endpoint.json'), 'utf8')))
}

function partPids(): number[] {
  const [postmaster = ''] = readFileSync(
    join(dataDirectory, 'postgres', 'data', 'postmaster.pid'),
    'utf8',
  ).split('\n')
  return [Number(postmaster), eventStoreEndpoint().pid]
}

async function answersOf(url: string | undefined): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<{ one: number }>('select 1 as one')).rows
  } finally {
    await client.end()
  }
}

test('members share the parts, and only the last one to leave stops them', async () => {
  beginUsed()
  const first = await joinHere()
  const pids = partPids()
  const second = await joinInProcess()
  expect(second.addresses).toStrictEqual({
    databaseUrl: first.databaseUrl,
    eventstoreUrl: first.eventstoreUrl,
  })
  expect(partPids()).toStrictEqual(pids)

  await first.leave()
  expect(pids.map(isAlive)).toStrictEqual([true, true])
  expect(await answersOf(second.addresses.databaseUrl)).toStrictEqual([{ one: 1 }])
  second.member.stdin?.end()
  await once(second.member, 'exit')
  expect(pids.map(isAlive)).toStrictEqual([false, false])
})

test('two that join at once on a new directory get one of each part', async () => {
  const [first, second] = await Promise.all([joinInProcess(), joinInProcess()])
  expect(first.addresses).toStrictEqual(second.addresses)
  const pids = partPids()
  first.member.stdin?.end()
  second.member.stdin?.end()
  await Promise.all([once(first.member, 'exit'), once(second.member, 'exit')])
  expect(pids.map(isAlive)).toStrictEqual([false, false])
})

test('after all members were killed the next one adopts the parts, and stops them when it leaves', async () => {
  beginUsed()
  const [first, second] = [await joinInProcess(), await joinInProcess()]
  const pids = partPids()
  await kill(first.member)
  await kill(second.member)
  expect(pids.map(isAlive)).toStrictEqual([true, true])

  const stack = await joinHere()
  expect(partPids()).toStrictEqual(pids)
  expect(stack.databaseUrl).toBe(first.addresses.databaseUrl)
  await stack.leave()
  expect(pids.map(isAlive)).toStrictEqual([false, false])
})

test('after all parts were killed the next member restarts them at the same addresses', async () => {
  beginUsed()
  const { member, addresses } = await joinInProcess()
  for (const pid of partPids()) process.kill(pid, 'SIGKILL')
  await kill(member)
  const stack = await joinHere()
  expect(stack).toMatchObject(addresses)
  expect(await answersOf(stack.databaseUrl)).toStrictEqual([{ one: 1 }])
})

test('a supervising member restarts a killed part at the same address', async () => {
  beginUsed()
  const messages: string[] = []
  const stack = await joinHere({ supervise: true, log: (message) => messages.push(message) })
  const [postmaster = 0, eventStore = 0] = partPids()
  const { url } = eventStoreEndpoint()
  process.kill(eventStore, 'SIGKILL')
  await expect.poll(() => messages).toContain('The event store is running again')
  process.kill(postmaster, 'SIGKILL')
  await expect.poll(() => messages).toContain('The Postgres is running again')

  expect(eventStoreEndpoint().url).toBe(url)
  expect(await answersOf(stack.databaseUrl)).toStrictEqual([{ one: 1 }])
  const pids = partPids()
  await stack.leave()
  expect(pids.map(isAlive)).toStrictEqual([false, false])
})

test('an event store on a port, left by an earlier version, is stopped and not adopted', async () => {
  beginUsed()
  const onPort = join(dataDirectory, 'run', 'eventstore-port.json')
  writeFileSync(onPort, JSON.stringify({ port: 1 }))
  const directory = realpathSync(join(dataDirectory, 'eventstore'))
  const former = new StoreProcess('--directory', directory, '--port', '0')
  const { url, pid } = await former.ready()
  expect(eventStoreEndpoint()).toStrictEqual({ url, pid })

  const stack = await joinHere()
  expect(isAlive(pid)).toBe(false)
  expect(stack.eventstoreUrl).toMatch(/^unix:/)
  expect(existsSync(onPort)).toBe(false)
})

test('only the requested parts are started', async () => {
  const parts = { postgres: false, eventStore: true }
  const stack = await joinLocalStack({ dataDirectory, parts, log: () => undefined, eventStoreProgram })
  stacks.push(stack)
  expect(Object.keys(stack).toSorted()).toStrictEqual(['eventstoreUrl', 'leave'])
  expect(readdirSync(dataDirectory).toSorted()).toStrictEqual(['eventstore', 'run'])
})

test('other users cannot access the data directory', async () => {
  await (await joinHere()).leave()
  const others = 0o007
  const groupReadsOrWrites = 0o060
  expect(statSync(dataDirectory).mode & (others | groupReadsOrWrites)).toBe(0)
})

test('a part that does not start is reported, and the other one is stopped', async () => {
  beginUsed()
  const broken = join(temporary, 'broken.ts')
  writeFileSync(broken, "console.error('no event store today'); process.exit(70)\n")
  const parts = { postgres: true, eventStore: true }
  const joined = joinLocalStack({ dataDirectory, parts, log: () => undefined, eventStoreProgram: broken })
  await expect(joined).rejects.toThrow(
    /The event store did not start .* exited with 70\. .*no event store today/s,
  )
  expect(existsSync(join(dataDirectory, 'postgres', 'data', 'postmaster.pid'))).toBe(false)
})

test('the message about an unusable data directory says why and how to fix it', async () => {
  writeFileSync(dataDirectory, 'a file')
  const messageOf = async () => joinHere().then(undefined, (error: unknown) => error)
  expect(await messageOf()).toBeInstanceOf(LocalStackError)
  expect(await messageOf()).toHaveProperty(
    'message',
    `The data directory ${dataDirectory} cannot be used: a file is in the way. ` +
      'Move that file, or choose another directory with KEYLEDGER_DATA_DIR.',
  )
})

test.runIf(process.getuid?.() !== 0)('a data directory that cannot be written to', async () => {
  chmodSync(temporary, 0o500)
  await expect(joinHere()).rejects.toThrow(/this user cannot write to it.*KEYLEDGER_DATA_DIR/)
  chmodSync(temporary, 0o700)
})
