// Guarantee: of many concurrent requests with one approved confirmation on two servers, one executes it and the
// others get 403; of two confirmations of one revocation, one executes it and the other is refused; and after a
// kill between consuming and executing, it is still executed exactly once.
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { confirmationStream, licenseStream } from '../../src/domain/streams.ts'
import { createHost, type Server, type Stores } from '../harness/process.ts'
import { wholeVariable } from '../harness/variables.ts'
import { createOperator } from './operator.ts'
import { client, createVendor } from './vendor.ts'

const host = createHost()
const racers = 200
const rounds = wholeVariable('KEYLEDGER_TEST_RACES', 3)

const Pending = z.object({ confirmation: z.object({ id: z.string() }) })
let stores: Stores
let token: string
let servers: [Server, Server]
beforeAll(async () => {
  stores = await host.stores()
  token = await createVendor(stores.environment)
  // Without the role that continues what was cut off.
  const roles = { roles: 'api,projector' }
  servers = await Promise.all([host.serve(stores.environment, roles), host.serve(stores.environment, roles)])
  await client(servers[0].address, token).createProduct(1)
})

async function revoke(server: Server, licenseId: string, confirmation?: string) {
  const response = await fetch(`${server.address}/v1/licenses/${licenseId}/revoke`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(confirmation !== undefined && { 'X-Service-Confirmation': confirmation }),
    },
  })
  const body: unknown = await response.json()
  return { status: response.status, body }
}

/** A license with a pending confirmation. */
async function asked(): Promise<{ licenseId: string; confirmation: string }> {
  const { licenseId } = await client(servers[0].address, token).mint()
  const { body } = await revoke(servers[0], licenseId)
  return { licenseId, confirmation: Pending.parse(body).confirmation.id }
}

/** The types of the events of each stream. */
async function readStreams(): Promise<Map<string, string[]>> {
  const operator = await createOperator(stores.environment)
  try {
    const log = await operator.readLog()
    const streams = Map.groupBy(log, ({ stream }) => stream)
    return new Map(
      Array.from(streams, ([stream, entries]) => [
        stream,
        entries.map((entry) => (entry.readable ? entry.event.type : 'unreadable')),
      ]),
    )
  } finally {
    await operator.close()
  }
}

const executedOnce = [
  'ConfirmationRequested',
  'ConfirmationApproved',
  'ConfirmationConsumed',
  'ConfirmationExecuted',
]

test(`one of ${racers} concurrent requests on two servers executes, the others get 403 (${rounds} rounds)`, async () => {
  const all: { licenseId: string; confirmation: string }[] = []
  for (let round = 0; round < rounds; round++) all.push(await asked())
  const operator = await createOperator(stores.environment)
  for (const { confirmation } of all) await operator.approve(confirmation)
  await operator.close()
  for (const { licenseId, confirmation } of all) {
    const answers = await Promise.all(
      Array.from({ length: racers }, (_, racer) =>
        revoke(racer % 2 === 0 ? servers[0] : servers[1], licenseId, confirmation),
      ),
    )
    const statuses = Object.groupBy(answers, ({ status }) => status)
    expect(
      Object.fromEntries(Object.entries(statuses).map(([status, of]) => [status, of?.length])),
    ).toStrictEqual({ 200: 1, 403: racers - 1 })
  }
  const streams = await readStreams()
  for (const { licenseId, confirmation } of all) {
    expect(streams.get(confirmationStream(confirmation))).toStrictEqual(executedOnce)
    expect(streams.get(licenseStream(licenseId))).toStrictEqual(['LicenseMinted', 'LicenseRevoked'])
  }
})

test(`one of two approved confirmations of one revocation executes, the other gets 409 (${rounds} rounds)`, async () => {
  const operator = await createOperator(stores.environment)
  const all: { licenseId: string; ids: [string, string] }[] = []
  for (let round = 0; round < rounds; round++) {
    const { licenseId, confirmation } = await asked()
    const { body } = await revoke(servers[0], licenseId)
    const ids: [string, string] = [confirmation, Pending.parse(body).confirmation.id]
    for (const id of ids) await operator.approve(id)
    all.push({ licenseId, ids })
  }
  for (const { licenseId, ids } of all) {
    const answers = await Promise.all(
      ids.map((id, index) => revoke(servers[index] ?? servers[0], licenseId, id)),
    )
    expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([200, 409])
  }
  const log = await operator.readLog()
  await operator.close()
  for (const { licenseId, ids } of all) {
    const eventsOf = (stream: string) =>
      log.flatMap((entry) => (entry.stream === stream && entry.readable ? entry.event : []))
    expect(eventsOf(licenseStream(licenseId)).map(({ type }) => type)).toStrictEqual([
      'LicenseMinted',
      'LicenseRevoked',
    ])
    const outcomes = ids.map((id) => {
      const last = eventsOf(confirmationStream(id)).at(-1)
      return last?.type === 'ConfirmationExecuted' ? [last.data.outcome, last.data.reason] : last?.type
    })
    expect(outcomes.toSorted()).toStrictEqual([
      ['done', null],
      ['refused', 'license_revoked'],
    ])
  }
})

const victim = fileURLToPath(new URL('confirmation-victim.ts', import.meta.url))
/** The event after which a process is killed, and the events of the license's stream at that moment. */
const points = [
  ['ConfirmationConsumed', ['LicenseMinted']],
  ['LicenseRevoked', ['LicenseMinted', 'LicenseRevoked']],
] as const

test('a request killed between consuming and executing its confirmation is executed once', async () => {
  const victims = await Promise.all(
    points.flatMap((point) => Array.from({ length: 4 }, async () => ({ point, ...(await asked()) }))),
  )
  const operator = await createOperator(stores.environment)
  for (const { confirmation } of victims) await operator.approve(confirmation)
  await operator.close()
  await Promise.all(
    victims.map(async ({ point: [type], licenseId, confirmation }) => {
      const { signal } = await host.start(
        ['node', victim, type, token, licenseId, confirmation],
        stores.environment,
      ).finished
      expect(signal).toBe('SIGKILL')
    }),
  )
  const stand = async () => {
    const streams = await readStreams()
    return victims.map(({ licenseId, confirmation }) => [
      streams.get(licenseStream(licenseId)),
      streams.get(confirmationStream(confirmation)),
    ])
  }
  expect(await stand()).toStrictEqual(victims.map(({ point: [, left] }) => [left, executedOnce.slice(0, 3)]))
  // Each is completed after the request's time limit.
  host.startServer(stores.environment, 0, 'reactions')
  const whole = victims.map(() => [['LicenseMinted', 'LicenseRevoked'], executedOnce])
  await expect.poll(stand, { interval: 1000 }).toStrictEqual(whole)
  for (const { licenseId, confirmation } of victims) {
    expect(await revoke(servers[1], licenseId, confirmation)).toMatchObject({ status: 403 })
  }
  expect(await stand()).toStrictEqual(whole)
})
