/**
 * A confirmation is recorded only after its request is sealed; for a request that could not run none is
 * opened.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { revokeLicense } from '../../src/gate/operations/revoke-license.ts'
import { passGate } from '../../src/gate/pass.ts'
import type { Execute } from '../../src/ledger/execute.ts'
import type { AllPorts } from '../../src/ports.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct, mint } from '../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let id: string
beforeAll(async () => {
  api = await openTestApi()
})
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  id = (await mint(api.ask, tenant.token, 'editor')).id
})
afterAll(() => api.close())

class Killed extends Error {}

describe('a process that dies while it opens a confirmation', () => {
  /** What the log and the vault hold when the process dies after the first of the two writes. */
  const dying = (ports: Partial<AllPorts>) =>
    passGate({ ...api.ledger.ports, ...ports }, revokeLicense, {
      tenantId: tenant.tenantId,
      tokenId: tenant.tokenId,
      userAgent: null,
      request: { parameters: { id }, query: {}, body: { reason: 'charged back' } },
      origin: { requestId: 'req_call', actor: `token:${tenant.tokenId}` },
      confirmationId: undefined,
    })
  const requested = async () => {
    const { rows } = await api.ledger.db.query<{ count: bigint }>('select count(*) from confirmations')
    return Number(rows[0]?.count)
  }
  const sealed = async () => {
    const { rows } = await api.ledger.db.query<{ count: bigint }>(
      `select count(*) from vault.secrets where tenant_id = $1 and name like 'confirmation.%'`,
      [tenant.tenantId],
    )
    return Number(rows[0]?.count)
  }

  test('before the request is sealed leaves no confirmation that could never be run', async () => {
    const before = await requested()
    const keep = async () => {
      throw new Killed('while it sealed the request')
    }
    await expect(dying({ secrets: { ...api.ledger.ports.secrets, keep } })).rejects.toThrow(Killed)
    expect(await requested()).toBe(before)
  })

  test('after that leaves a sealed text without a reference', async () => {
    const before = await requested()
    const execute: Execute = async () => {
      throw new Killed('before it appended')
    }
    await expect(dying({ execute })).rejects.toThrow(Killed)
    expect(await requested()).toBe(before)
    expect(await sealed()).toBe(1)
  })
})
