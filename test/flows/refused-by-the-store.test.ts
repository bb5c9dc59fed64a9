// Guarantee: when an event store cannot be used with its configured URL, every command says so in one sentence with
// a remedy, without a stack trace and without the password.
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { createHost, freePort } from '../harness/process.ts'
import {
  type Certificate,
  makeCertificate,
  type Refusing,
  type RefusingStore,
  startRefusingStore,
} from '../harness/refusing-store.ts'

const host = createHost()
const directory = host.path('certificates')
const password = 'gehei-m0'
let database: TestDatabase
let right: Certificate
let wrong: Certificate
let otherName: Certificate
let store: RefusingStore | undefined
beforeAll(async () => {
  database = await createTestDatabase()
  mkdirSync(directory)
  right = makeCertificate(directory, 'localhost')
  otherName = makeCertificate(directory, 'elsewhere')
  const others = host.path('others')
  mkdirSync(others)
  wrong = makeCertificate(others, 'localhost')
})
afterEach(() => store?.close())
afterAll(() => database.drop())

async function startWith(address: string): Promise<string> {
  const { code, stdout, stderr } = await host.run(['tenant', 'list'], {
    KEYLEDGER_DATA_DIR: host.path('unused'),
    KEYLEDGER_DATABASE_URL: database.url,
    KEYLEDGER_EVENTSTORE_URL: address,
    KEYLEDGER_MASTER_KEY: randomBytes(32).toString('base64'),
  })
  expect({ code, stdout }).toStrictEqual({ code: 3, stdout: '' })
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(stderr).not.toContain(password)
  return stderr
}

test.each<[string, Refusing, string, string]>([
  ['a wrong password', { reads: 'unauthenticated' }, `ops:${password}@`, 'rejects the user or the password'],
  ['no user', { reads: 'denied' }, '', 'does not allow anonymous clients to'],
  [
    'a user who may not read $all',
    { reads: 'denied' },
    `ops:${password}@`,
    'does not allow the user in KEYLEDGER_EVENTSTORE_URL to read $all',
  ],
  [
    'a user who may not append',
    {},
    `ops:${password}@`,
    'does not allow the user in KEYLEDGER_EVENTSTORE_URL to write to its streams',
  ],
])('%s is reported in one sentence', async (_, refusing, user, sentence) => {
  store = await startRefusingStore(refusing)
  expect(await startWith(`esdb://${user}127.0.0.1:${store.port}?tls=false`)).toContain(sentence)
})

test.each([
  ['one node', ''],
  ['a cluster', '+discover'],
])('a certificate of another authority is reported in one sentence, for %s', async (_, discover) => {
  store = await startRefusingStore({}, right)
  const address = `esdb${discover}://ops:${password}@localhost:${store.port}?tlsCAFile=${wrong.cert}`
  expect(await startWith(address)).toContain('is not signed by a trusted authority')
})

test('a certificate for another host name is reported in one sentence', async () => {
  store = await startRefusingStore({}, otherName)
  const address = `esdb://ops:${password}@localhost:${store.port}?tlsCAFile=${otherName.cert}`
  expect(await startWith(address)).toContain('is for a different host name')
})

test('a wrong TLS setting is reported in one sentence', async () => {
  store = await startRefusingStore({}, right)
  expect(await startWith(`esdb://localhost:${store.port}?tls=false`)).toContain('without tls=false')
  store.close()
  store = await startRefusingStore({})
  expect(await startWith(`esdb://ops:${password}@localhost:${store.port}`)).toContain('does not use TLS')
})

test('a missing server and a missing CA file are reported in one sentence', async () => {
  expect(await startWith(`esdb://127.0.0.1:${await freePort()}?tls=false`)).toContain(
    'No event store responds at',
  )
  const absent = `${directory}/absent.crt`
  expect(await startWith(`esdb://ops:${password}@localhost:2113?tlsCAFile=${absent}`)).toContain(
    `The file ${absent} in KEYLEDGER_EVENTSTORE_URL cannot be read`,
  )
})
