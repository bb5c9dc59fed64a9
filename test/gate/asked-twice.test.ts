/**
 * An operation with two approved confirmations, which conflicts the second time, runs once. The other call
 * gets the same answer as an ungated call, and its confirmation records it. A resumed execution of one
 * confirmation does not count as a second one.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { TimeoutError } from '../../src/async/timeout.ts'
import { confirmationStream, licenseStream } from '../../src/domain/streams.ts'
import { approve, showApproval } from '../../src/gate/approvals.ts'
import { revokeLicense } from '../../src/gate/operations/revoke-license.ts'
import { passGate } from '../../src/gate/pass.ts'
import type { AllPorts } from '../../src/ports.ts'
import { confirmationProcesses } from '../../src/reactions/confirmations.ts'
import {
  type Ask,
  type Method,
  makeTenant,
  openTestApi,
  type TestApi,
  type TestTenant,
} from '../harness/api.ts'
import { approver, askApproveRepeat, confirmed, pendingId } from '../harness/gate.ts'
import { commandLicense, eventsIn } from '../harness/ledger.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { openAsks } from '../seats/world.ts'

let api: TestApi
let tenant: TestTenant
/** Two applications with the same stores and nothing else in common, as two processes. */
let asks: readonly Ask[]
let closeSecond: () => Promise<void>
beforeAll(async () => {
  api = await openTestApi()
  ;({ asks, close: closeSecond } = await openAsks(api))
})
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Pro' }, { name: 'Team' }] })
})
afterAll(async () => {
  await closeSecond()
  await api.close()
})

const license = async () => (await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'pro' })).id
const show = (id: string) => showApproval(api.ledger.ports, tenant.tenantId, id)
const typesIn = async (stream: string) =>
  (await eventsIn(api.ledger.ports.ledger, stream)).map((entry) =>
    entry.readable ? entry.event.type : 'unreadable',
  )

async function approved(method: Method, url: string): Promise<string> {
  const id = pendingId(await api.ask(method, url, { token: tenant.token }))
  await approve(api.ledger.ports, tenant.tenantId, id, approver)
  return id
}

const whole = [
  'ConfirmationRequested',
  'ConfirmationApproved',
  'ConfirmationConsumed',
  'ConfirmationExecuted',
]

const revoking = async () => ({
  method: 'POST' as const,
  url: `/v1/licenses/${await license()}/revoke`,
  done: 200,
  refused: { status: 409, reason: 'license_revoked' },
})
const deleting = () => ({
  method: 'DELETE' as const,
  url: '/v1/products/editor/key-types/team',
  done: 200,
  refused: { status: 404, reason: 'key_type_not_found' },
})

test.each([
  ['a revocation', revoking],
  ['a deletion of a key type', deleting],
])('%s that is approved twice and used at once, on two processes, runs once', async (_, operation) => {
  for (let round = 0; round < 4; round++) {
    const { method, url, done, refused } = await operation()
    const ids = [await approved(method, url), await approved(method, url)]
    const answers = await Promise.all(
      ids.map((id, index) => confirmed(asks[index] ?? api.ask, tenant, method, url, id)),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.toSorted()).toStrictEqual([done, refused.status].toSorted())
    const lost = statuses[0] === done ? 1 : 0
    expect(await show(ids[1 - lost] ?? '')).toMatchObject({ outcome: 'done', reason: null })
    expect(await show(ids[lost] ?? '')).toMatchObject({
      status: 'executed',
      outcome: 'refused',
      reason: refused.reason,
    })
    for (const id of ids) expect(await typesIn(confirmationStream(id))).toStrictEqual(whole)
    if (method === 'DELETE') {
      const body = { name: 'Team' }
      const again = await api.ask('POST', '/v1/products/editor/key-types', { token: tenant.token, body })
      expect(again.status).toBe(201)
    }
  }
})

test('one that is used after the other is refused and recorded as such, and cannot be used once the license is valid again', async () => {
  const id = await license()
  const url = `/v1/licenses/${id}/revoke`
  const [first, second] = [await approved('POST', url), await approved('POST', url)]
  expect((await confirmed(api.ask, tenant, 'POST', url, first)).status).toBe(200)
  expect((await confirmed(api.ask, tenant, 'POST', url, second)).status).toBe(409)
  expect(await show(second)).toMatchObject({
    status: 'executed',
    outcome: 'refused',
    reason: 'license_revoked',
  })
  expect(await api.ledger.ports.secrets.open(tenant.tenantId, `confirmation.${second}`)).toBeUndefined()
  await askApproveRepeat(api, tenant, 'POST', `/v1/licenses/${id}/reinstate`)
  expect((await confirmed(api.ask, tenant, 'POST', url, second)).status).toBe(403)
  expect(await typesIn(licenseStream(id))).toStrictEqual([
    'LicenseMinted',
    'LicenseRevoked',
    'RevocationUndone',
  ])
})

test('a refused call does not change a pending confirmation', async () => {
  const url = `/v1/licenses/${await license()}/revoke`
  const first = await approved('POST', url)
  const second = pendingId(await api.ask('POST', url, { token: tenant.token }))
  await confirmed(api.ask, tenant, 'POST', url, first)
  expect((await confirmed(api.ask, tenant, 'POST', url, second)).status).toBe(409)
  expect(await show(second)).toMatchObject({ status: 'pending', outcome: null })
})

test('a record of the execution that times out does not cost the caller the answer, and is made up for', async () => {
  const { ports, clock } = api.ledger
  const id = await license()
  const confirmationId = await approved('POST', `/v1/licenses/${id}/revoke`)
  const slow: AllPorts = {
    ...ports,
    execute: async (decider, stream, command, ...rest) => {
      if (RecordExecution.safeParse(command).success) throw new TimeoutError(1)
      return ports.execute(decider, stream, command, ...rest)
    },
  }
  await expect(passGate(slow, revokeLicense, callOf(id, confirmationId))).resolves.toMatchObject({
    passed: true,
  })
  expect(await show(confirmationId)).toMatchObject({ status: 'consumed', outcome: null })
  clock.advance(10_000)
  await resumed()
  expect(await show(confirmationId)).toMatchObject({ outcome: 'done', reason: null })
  expect(await typesIn(licenseStream(id))).toStrictEqual(['LicenseMinted', 'LicenseRevoked'])
})

test('an execution that was killed after its write is completed, and reverts no later change', async () => {
  const { ports, clock } = api.ledger
  const id = await license()
  const url = `/v1/licenses/${id}/revoke`
  const confirmationId = await approved('POST', url)
  class Killed extends Error {}
  const dying: AllPorts = {
    ...ports,
    execute: async (...args) => {
      const handled = await ports.execute(...args)
      if (handled.events.some(({ type }) => type === 'LicenseRevoked')) throw new Killed()
      return handled
    },
  }
  await expect(passGate(dying, revokeLicense, callOf(id, confirmationId))).rejects.toThrow(Killed)
  const at = clock.now().toISOString()
  await commandLicense(api.ledger, id, { type: 'UndoRevocation', reason: null, keyTypeIsThere: true, at })
  clock.advance(10_000)
  await resumed()
  expect(await show(confirmationId)).toMatchObject({ outcome: 'done', reason: null })
  expect(await typesIn(licenseStream(id))).toStrictEqual([
    'LicenseMinted',
    'LicenseRevoked',
    'RevocationUndone',
  ])
})

const RecordExecution = z.looseObject({ type: z.literal('RecordExecution') })

const callOf = (id: string, confirmationId: string) => ({
  tenantId: tenant.tenantId,
  tokenId: tenant.tokenId,
  userAgent: null,
  request: { parameters: { id }, query: {}, body: null },
  origin: { requestId: 'req_call', actor: `token:${tenant.tokenId}` },
  confirmationId,
})

/** What the process manager completes. */
async function resumed(): Promise<void> {
  const [resume] = confirmationProcesses(api.ledger.ports, {
    onFailure: ({ error }) => expect(error).toBeUndefined(),
  })
  await resume?.poll()
}
