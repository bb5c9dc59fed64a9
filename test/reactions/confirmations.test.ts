/**
 * If the request that consumed a confirmation dies at any point, the operation is still executed exactly
 * once. Expiries are recorded, and no sealed request outlives its confirmation.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../src/credentials/id.ts'
import { confirmationStream, licenseStream, streamName } from '../../src/domain/streams.ts'
import { approve, deny, showApproval } from '../../src/gate/approvals.ts'
import { deleteKeyType } from '../../src/gate/operations/delete-key-type.ts'
import { exportLicenses } from '../../src/gate/operations/export-licenses.ts'
import { revokeLicense } from '../../src/gate/operations/revoke-license.ts'
import { type GatedCall, passGate } from '../../src/gate/pass.ts'
import { runApproved } from '../../src/gate/run-approved.ts'
import type { Execute } from '../../src/ledger/execute.ts'
import type { AllPorts } from '../../src/ports.ts'
import { confirmationProcesses } from '../../src/reactions/confirmations.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { approver } from '../harness/gate.ts'
import { commandLicense, eventsIn } from '../harness/ledger.ts'
import { makeProduct, mint } from '../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let failures: unknown[]
beforeAll(async () => {
  api = await openTestApi()
})
beforeEach(async () => {
  failures = []
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Pro' }, { name: 'Team' }] })
})
afterAll(() => api.close())

class Killed extends Error {}

/** The ports of a process that dies right after an event of this type was recorded. */
function dyingAfter(type: string): AllPorts {
  const { ports } = api.ledger
  const execute: Execute = async (...args) => {
    const handled = await ports.execute(...args)
    if (handled.events.some((event) => event.type === type)) throw new Killed(type)
    return handled
  }
  return { ...ports, execute }
}

const callOf = (parameters: Record<string, string>, body: unknown = null): GatedCall => ({
  tenantId: tenant.tenantId,
  tokenId: tenant.tokenId,
  userAgent: null,
  request: { parameters, query: {}, body },
  origin: { requestId: 'req_call', actor: `token:${tenant.tokenId}` },
  confirmationId: undefined,
})

async function asked(call: GatedCall, operation = revokeLicense as Parameters<typeof passGate>[1]) {
  const outcome = await passGate(api.ledger.ports, operation, call)
  if (outcome.passed) throw new Error('nobody has approved it')
  return outcome.confirmation.confirmationId
}

async function approvedCall(call: GatedCall, operation?: Parameters<typeof passGate>[1]) {
  const confirmationId = await asked(call, operation)
  await approve(api.ledger.ports, tenant.tenantId, confirmationId, approver)
  return { ...call, confirmationId }
}

async function poll(name: string, ports = api.ledger.ports): Promise<void> {
  const processes = confirmationProcesses(ports, { onFailure: ({ error }) => failures.push(error) })
  const process = processes.find((one) => one.name === `confirmations.${name}`)
  if (!process) throw new Error(`no process is called ${name}`)
  await process.poll()
}

/** After the time that a request has to finish by itself. */
const graceOver = () => api.ledger.clock.advance(10_000)
const typesIn = async (stream: string) =>
  (await eventsIn(api.ledger.ports.ledger, stream)).map((entry) =>
    entry.readable ? entry.event.type : 'unreadable',
  )
const kept = (confirmationId: string) =>
  api.ledger.ports.secrets.open(tenant.tenantId, `confirmation.${confirmationId}`)
const show = (id: string) => showApproval(api.ledger.ports, tenant.tenantId, id)
const licenseId = async () => (await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'pro' })).id

const whole = [
  'ConfirmationRequested',
  'ConfirmationApproved',
  'ConfirmationConsumed',
  'ConfirmationExecuted',
]

test('one that was consumed before the clock was set back is executed now, and not in an hour', async () => {
  const id = await licenseId()
  const call = await approvedCall(callOf({ id }))
  api.ledger.clock.advance(3_600_000 - 60_000)
  await expect(passGate(dyingAfter('ConfirmationConsumed'), revokeLicense, call)).rejects.toThrow(Killed)
  api.ledger.clock.advance(60_000 - 3_600_000)
  await poll('resume')
  expect(await typesIn(confirmationStream(call.confirmationId))).toStrictEqual(whole)
})

describe.each(['ConfirmationConsumed', 'LicenseRevoked', 'ConfirmationExecuted'])(
  'when the process dies right after %s',
  (type) => {
    test('the license is revoked once, with the reason that was given, and it is recorded once', async () => {
      const id = await licenseId()
      const call = await approvedCall(callOf({ id }, { reason: 'charged back' }))
      await expect(passGate(dyingAfter(type), revokeLicense, call)).rejects.toThrow(Killed)
      graceOver()
      for (let times = 0; times < 3; times++) await poll('resume')
      await poll('clear')
      const events = await eventsIn(api.ledger.ports.ledger, licenseStream(id))
      expect(events.slice(1)).toMatchObject([
        {
          event: { type: 'LicenseRevoked', data: { reason: 'charged back' } },
          metadata: {
            actor: `token:${tenant.tokenId}`,
            causationId: call.confirmationId,
            correlationId: 'req_call',
          },
        },
      ])
      expect(await typesIn(confirmationStream(call.confirmationId))).toStrictEqual(whole)
      expect(await kept(call.confirmationId)).toBeUndefined()
      expect(failures).toStrictEqual([])
    })

    test('several processes that resume it at once do no more than one', async () => {
      const ids = await Promise.all(Array.from({ length: 5 }, licenseId))
      const calls = await Promise.all(ids.map((id) => approvedCall(callOf({ id }))))
      await Promise.all(
        calls.map((call) => expect(passGate(dyingAfter(type), revokeLicense, call)).rejects.toThrow(Killed)),
      )
      graceOver()
      await Promise.all(Array.from({ length: 8 }, () => poll('resume')))
      for (const [index, id] of ids.entries()) {
        expect(await typesIn(licenseStream(id))).toStrictEqual(['LicenseMinted', 'LicenseRevoked'])
        expect(await typesIn(confirmationStream(calls[index]?.confirmationId ?? ''))).toStrictEqual(whole)
      }
      expect(failures).toStrictEqual([])
    })
  },
)

test('a member’s request is run if the approving process dies before that, and an API client’s is not', async () => {
  const [ofMember, ofProgram] = await Promise.all([licenseId(), licenseId()])
  const member = await approvedCall({ ...callOf({ id: ofMember }), tokenId: newId('mem') })
  await approvedCall(callOf({ id: ofProgram }))
  await poll('resume')
  expect(await typesIn(licenseStream(ofMember))).toStrictEqual(['LicenseMinted'])
  graceOver()
  for (let times = 0; times < 2; times++) await poll('resume')
  expect(await typesIn(licenseStream(ofMember))).toStrictEqual(['LicenseMinted', 'LicenseRevoked'])
  expect(await typesIn(confirmationStream(member.confirmationId))).toStrictEqual(whole)
  expect(await typesIn(licenseStream(ofProgram))).toStrictEqual(['LicenseMinted'])
  expect(failures).toStrictEqual([])
})

test('a member’s request of a file waits until they download it', async () => {
  await licenseId()
  const call = { ...callOf({}), request: { parameters: {}, query: {}, body: null }, tokenId: newId('mem') }
  const { confirmationId } = await approvedCall(call, exportLicenses)
  graceOver()
  await poll('resume')
  expect(await runApproved(api.ledger.ports, confirmationId, call.origin)).toBe(false)
  expect(await typesIn(confirmationStream(confirmationId))).toStrictEqual(whole.slice(0, 2))
  expect(await kept(confirmationId)).toBeDefined()
  expect(failures).toStrictEqual([])
})

test('a request that is still running is not overtaken', async () => {
  const id = await licenseId()
  const call = await approvedCall(callOf({ id }))
  await expect(passGate(dyingAfter('ConfirmationConsumed'), revokeLicense, call)).rejects.toThrow(Killed)
  api.ledger.clock.advance(9_999)
  await poll('resume')
  expect(await typesIn(licenseStream(id))).toStrictEqual(['LicenseMinted'])
  api.ledger.clock.advance(1)
  await poll('resume')
  expect(await typesIn(licenseStream(id))).toStrictEqual(['LicenseMinted', 'LicenseRevoked'])
})

test('what another request has done meanwhile is refused, as it would be for a call', async () => {
  const id = await licenseId()
  const call = await approvedCall(callOf({ id }))
  await expect(passGate(dyingAfter('ConfirmationConsumed'), revokeLicense, call)).rejects.toThrow(Killed)
  const at = api.ledger.clock.now().toISOString()
  await commandLicense(api.ledger, id, { type: 'RevokeLicense', reason: null, at })
  graceOver()
  await poll('resume')
  expect(await show(call.confirmationId)).toMatchObject({
    status: 'executed',
    outcome: 'refused',
    reason: 'license_revoked',
  })
})

test('what the rules no longer allow is not done, and recorded as refused', async () => {
  const call = await approvedCall(callOf({ productId: 'editor', keyTypeId: 'pro' }), deleteKeyType)
  await expect(passGate(dyingAfter('ConfirmationConsumed'), deleteKeyType, call)).rejects.toThrow(Killed)
  await licenseId()
  graceOver()
  await poll('resume')
  expect(await show(call.confirmationId)).toMatchObject({
    status: 'executed',
    outcome: 'refused',
    reason: 'key_type_in_use',
  })
  expect(await kept(call.confirmationId)).toBeUndefined()
  expect(failures).toStrictEqual([])
})

test('the same when the rules refuse it to the request itself, which gets the refusal', async () => {
  const call = await approvedCall(callOf({ productId: 'editor', keyTypeId: 'pro' }), deleteKeyType)
  const { ports } = api.ledger
  // The license comes between the check and the run.
  const operation = {
    ...deleteKeyType,
    run: async (...given: Parameters<typeof deleteKeyType.run>) => {
      await licenseId()
      return deleteKeyType.run(...given)
    },
  }
  await expect(passGate(ports, operation, call)).rejects.toMatchObject({ code: 'key_type_in_use' })
  expect(await show(call.confirmationId)).toMatchObject({ outcome: 'refused', reason: 'key_type_in_use' })
  await expect(passGate(ports, deleteKeyType, call)).rejects.toMatchObject({
    code: 'confirmation_consumed',
  })
})

test('a request that is lost, or does not match the recorded hash, is never executed', async () => {
  const [gone, changed] = [await licenseId(), await licenseId()]
  const calls = [await approvedCall(callOf({ id: gone })), await approvedCall(callOf({ id: changed }))]
  for (const call of calls) {
    await expect(passGate(dyingAfter('ConfirmationConsumed'), revokeLicense, call)).rejects.toThrow(Killed)
  }
  const { secrets } = api.ledger.ports
  const names = calls.map(({ confirmationId }) => `confirmation.${confirmationId}`)
  for (const name of names) await secrets.destroy(tenant.tenantId, name)
  const other = JSON.stringify({ query: {}, body: { reason: 'another' } })
  await secrets.keep(tenant.tenantId, names[1] ?? '', other)
  graceOver()
  await poll('resume')
  for (const [index, id] of [gone, changed].entries()) {
    expect(await typesIn(licenseStream(id))).toStrictEqual(['LicenseMinted'])
    expect(await show(calls[index]?.confirmationId ?? '')).toMatchObject({
      outcome: 'refused',
      reason: 'request_gone',
    })
  }
})

test('one that fails is reported and retried later, and does not delay others', async () => {
  const [first, second] = [await licenseId(), await licenseId()]
  const calls = [await approvedCall(callOf({ id: first })), await approvedCall(callOf({ id: second }))]
  for (const call of calls) {
    await expect(passGate(dyingAfter('ConfirmationConsumed'), revokeLicense, call)).rejects.toThrow(Killed)
    api.ledger.clock.advance(1)
  }
  graceOver()
  const { ports } = api.ledger
  let rejected = 0
  const execute: Execute = async (...args) => {
    const [{ category }, id] = args
    if (streamName(category, id) === licenseStream(first) && rejected++ < 2) throw new Error('out of order')
    return ports.execute(...args)
  }
  const [resume] = confirmationProcesses(
    { ...ports, execute },
    { onFailure: ({ id, error }) => failures.push([id, String(error)]) },
  )
  await resume?.poll()
  const reported = [calls[0]?.confirmationId, 'Error: out of order']
  expect(failures).toStrictEqual([reported])
  expect(await typesIn(licenseStream(second))).toContain('LicenseRevoked')
  await resume?.poll()
  expect(failures).toHaveLength(1)
  api.ledger.clock.advance(2000)
  await resume?.poll()
  expect(failures).toStrictEqual([reported, reported])
  api.ledger.clock.advance(2000)
  await resume?.poll()
  expect(await typesIn(licenseStream(first))).not.toContain('LicenseRevoked')
  api.ledger.clock.advance(2000)
  await resume?.poll()
  expect(await typesIn(licenseStream(first))).toContain('LicenseRevoked')
  expect(failures).toHaveLength(2)
})

test('an operation that only a newer version knows is left for that version', async () => {
  const id = await licenseId()
  const newer = { ...revokeLicense, name: 'license.vaporize' }
  const call = await approvedCall(callOf({ id }), newer)
  await expect(passGate(dyingAfter('ConfirmationConsumed'), newer, call)).rejects.toThrow(Killed)
  graceOver()
  await poll('resume')
  expect(failures).toMatchObject([{ message: expect.stringContaining('license.vaporize') as string }])
  expect(await show(call.confirmationId)).toMatchObject({ status: 'consumed', title: 'license.vaporize' })
  await api.ledger.ports.secrets.destroy(tenant.tenantId, `confirmation.${call.confirmationId}`)
})

describe('an expiry', () => {
  test('is recorded once it is due, once, and the request is destroyed', async () => {
    const confirmationId = await asked(callOf({ id: await licenseId() }))
    api.ledger.clock.advance(599_999)
    await poll('expire')
    expect(await typesIn(confirmationStream(confirmationId))).toStrictEqual(['ConfirmationRequested'])
    api.ledger.clock.advance(1)
    await Promise.all([poll('expire'), poll('expire'), poll('expire')])
    expect(await typesIn(confirmationStream(confirmationId))).toStrictEqual([
      'ConfirmationRequested',
      'ConfirmationExpired',
    ])
    expect(await kept(confirmationId)).toBeUndefined()
    expect((await show(confirmationId)).status).toBe('expired')
  })

  test('never overtakes an approval', async () => {
    const { confirmationId } = await approvedCall(callOf({ id: await licenseId() }))
    api.ledger.clock.advance(600_000)
    await poll('expire')
    expect((await show(confirmationId)).status).toBe('approved')
    expect(await kept(confirmationId)).toBeDefined()
  })

  test('of an unused approval is recorded after an hour, once, and the request is destroyed', async () => {
    const call = await approvedCall(callOf({ id: await licenseId() }))
    const { confirmationId } = call
    api.ledger.clock.advance(3_599_999)
    await poll('expire')
    expect((await show(confirmationId)).status).toBe('approved')
    expect(await kept(confirmationId)).toBeDefined()
    api.ledger.clock.advance(1)
    expect((await show(confirmationId)).status).toBe('expired')
    await expect(passGate(api.ledger.ports, revokeLicense, call)).rejects.toMatchObject({
      code: 'confirmation_expired',
    })
    await Promise.all([poll('expire'), poll('expire'), poll('expire')])
    expect(await typesIn(confirmationStream(confirmationId))).toStrictEqual([
      'ConfirmationRequested',
      'ConfirmationApproved',
      'ConfirmationExpired',
    ])
    expect(await kept(confirmationId)).toBeUndefined()
  })

  test('of an approval never comes between its use and its execution', async () => {
    const id = await licenseId()
    const call = await approvedCall(callOf({ id }))
    await expect(passGate(dyingAfter('ConfirmationConsumed'), revokeLicense, call)).rejects.toThrow(Killed)
    api.ledger.clock.advance(7_200_000)
    await poll('expire')
    await poll('resume')
    expect(await typesIn(confirmationStream(call.confirmationId))).toStrictEqual(whole)
  })
})

describe('a sealed request that is left over', () => {
  const age = (confirmationId: string) =>
    api.ledger.db.query(
      "update vault.secrets set created_at = now() - interval '61 minutes' where name = $1",
      [`confirmation.${confirmationId}`],
    )

  test('by a denial that died before it was destroyed, is destroyed', async () => {
    const confirmationId = await asked(callOf({ id: await licenseId() }))
    const dying = dyingAfter('ConfirmationDenied')
    await expect(deny(dying, tenant.tenantId, confirmationId, approver)).rejects.toThrow(Killed)
    expect(await kept(confirmationId)).toBeDefined()
    await poll('clear')
    expect(await kept(confirmationId)).toBeUndefined()
  })

  test('by a call that died before it was recorded, is destroyed after an hour', async () => {
    const nobody = 'cnf_00000000000000000000000000'
    await api.ledger.ports.secrets.keep(tenant.tenantId, `confirmation.${nobody}`, '{}')
    await poll('clear')
    expect(await kept(nobody)).toBeDefined()
    await age(nobody)
    await poll('clear')
    expect(await kept(nobody)).toBeUndefined()
  })

  test('is kept as long as it may still run, and while only the read models do not show it', async () => {
    const { confirmationId } = await approvedCall(callOf({ id: await licenseId() }))
    await age(confirmationId)
    await poll('clear')
    expect(await kept(confirmationId)).toBeDefined()
    await api.ledger.db.query('delete from confirmations where confirmation_id = $1', [confirmationId])
    await poll('clear')
    expect(await kept(confirmationId)).toBeDefined()
  })
})
