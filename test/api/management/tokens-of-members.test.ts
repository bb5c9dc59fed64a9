/**
 * Guarantee: the event that removes a member also revokes the member's tokens; they never allow more than the
 * member's role. Tokens of operators belong to no member.
 */
import { jsonEvent } from '@eventstore/db-client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rebuild } from '../../../projections/runner/rebuild.ts'
import { userCodeLetters } from '../../../src/access/device-codes.ts'
import { findByUserCode } from '../../../src/access/login-requests.ts'
import { approveLogin } from '../../../src/commands/logins.ts'
import { addMember, changeRole, removeMember } from '../../../src/commands/members/members.ts'
import { createToken } from '../../../src/commands/tokens.ts'
import type { Role } from '../../../src/domain/members/roles.ts'
import { memberStream } from '../../../src/domain/streams.ts'
import type { Scope } from '../../../src/domain/tokens/events.ts'
import { clientOf } from '../../dashboard/client.ts'
import { makeMember } from '../../dashboard/members.ts'
import { wordsOf } from '../../dashboard/words.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { appendRaw, noProgress, origin, uniqueId } from '../../harness/ledger.ts'
import { makeProduct } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let memberId: string
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  await addMember(ports(), { tenantId: tenant.tenantId, role: 'owner', email: 'first@example.com' }, origin)
})
afterAll(() => api.close())
beforeEach(async () => {
  memberId = await member('owner')
})

const ports = () => api.ledger.ports
const member = (role: Role) =>
  addMember(ports(), { tenantId: tenant.tenantId, role, email: `${uniqueId(role)}@example.com` }, origin)
const by = (id = memberId) => ({ requestId: 'req_person', actor: `member:${id}` })

async function tokenOf(id: string, ...scopes: Scope[]): Promise<string> {
  const asked = { tenantId: tenant.tenantId, name: uniqueId('token'), scopes, expiresAt: null }
  return (await createToken(ports(), asked, by(id))).token
}

const verify = (token: string) => api.ask('GET', '/v1/tokens/verify', { token })
const validate = (token: string) =>
  api.ask('POST', '/v1/licenses/validate', { token, body: { product_id: 'editor', license_key: 'NONE' } })
const ended = {
  status: 401,
  body: {
    error: 'the member who created the token was removed or deactivated; use a token of another member',
  },
}
const answered = ({ status, body }: Answer) => ({ status, body })

describe("a member's token after the removal of the member", () => {
  test('is rejected at once on every interface; other tokens still work', async () => {
    const token = await tokenOf(memberId, 'products:read', 'licenses:runtime')
    const colleagues = await tokenOf(await member('owner'), 'products:read')
    expect((await verify(token)).status).toBe(200)
    expect((await validate(token)).status).toBe(200)
    await removeMember(ports(), tenant.tenantId, memberId, origin)
    expect(await verify(token)).toMatchObject(ended)
    expect((await api.ask('GET', '/v1/products', { token })).status).toBe(401)
    expect((await validate(token)).status).toBe(401)
    for (const other of [colleagues, tenant.token]) expect((await verify(other)).status).toBe(200)
  })

  test('is rejected because of the one event of the removal, also after a rebuild', async () => {
    const token = await tokenOf(memberId, 'products:read', 'licenses:runtime')
    const at = api.ledger.clock.now().toISOString()
    const metadata = {
      requestId: 'req_1',
      actor: 'system:test',
      causationId: 'req_1',
      correlationId: 'req_1',
      schema: 1,
      at,
    }
    const removed = jsonEvent({ type: 'MemberRemoved', data: { at }, metadata })
    const position = await appendRaw(api.ledger, memberStream(memberId), [removed], 0n)
    await ports().untilVisible(position)
    expect(await verify(token)).toMatchObject(ended)
    expect((await validate(token)).status).toBe(401)
    await rebuild(api.ledger.db, ports().ledger, noProgress)
    expect(await verify(token)).toMatchObject(ended)
  })

  test('is rejected when a device has it, and not issued when it was not fetched yet', async () => {
    const auditor = await member('auditor')
    const start = async () => {
      const { body } = await api.ask('POST', '/v1/login/device', { body: { scopes: ['products:read'] } })
      const codes = body as { device_code: string; user_code: string }
      const { db, fingerprint, now } = ports()
      const request = await findByUserCode(db, fingerprint, userCodeLetters(codes.user_code) ?? '', now())
      if (!request) throw new Error('nobody waits')
      const decider = { memberId: auditor, tenantId: tenant.tenantId, role: 'auditor' } as const
      const granted = { scopes: ['products:read'] as const, tokenExpiresAt: null }
      await approveLogin(ports(), request, decider, granted, by(auditor))
      return () => api.ask('POST', '/v1/login/device/token', { body: { device_code: codes.device_code } })
    }
    const { body } = await (await start())()
    const { access_token: token } = body as { access_token: string }
    const fetchLater = await start()
    expect((await verify(token)).status).toBe(200)
    await removeMember(ports(), tenant.tenantId, auditor, origin)
    expect(await verify(token)).toMatchObject(ended)
    expect(answered(await fetchLater())).toStrictEqual({ status: 400, body: { error: 'access_denied' } })
  })

  test("gets 503 while the member's events cannot be read", async () => {
    const token = await tokenOf(memberId, 'products:read')
    const poison = jsonEvent({ type: 'MemberPainted', data: {}, metadata: {} })
    const position = await appendRaw(api.ledger, memberStream(memberId), [poison], 0n)
    await ports().untilVisible(position)
    expect((await verify(token)).status).toBe(503)
    expect((await validate(token)).status).toBe(503)
  })
})

describe("a member's token", () => {
  test('is limited to the scopes of the current role of the member', async () => {
    const token = await tokenOf(memberId, 'products:read', 'products:write')
    const create = () => api.ask('POST', '/v1/products', { token, body: { name: uniqueId('product') } })
    expect((await create()).status).toBe(201)
    await changeRole(ports(), tenant.tenantId, memberId, 'auditor', origin)
    const refused = await create()
    expect(refused.status).toBe(403)
    expect(refused.text).toContain('the role of the member who created the token no longer allows')
    expect((await verify(token)).body).toMatchObject({ scopes: ['products:read'] })
    expect((await api.ask('GET', '/v1/products', { token })).status).toBe(200)
    await changeRole(ports(), tenant.tenantId, memberId, 'owner', origin)
    expect((await create()).status).toBe(201)
  })
})

test('the dashboard shows the member of a token, the tokens of a member, and why a token stopped working', async () => {
  const owner = clientOf(api.app)
  await owner.signIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
  const name = uniqueId('token')
  const asked = { tenantId: tenant.tenantId, name, scopes: ['products:read'] as const, expiresAt: null }
  const { tokenId } = await createToken(ports(), asked, by())
  const words = async (path: string) => wordsOf((await owner.get(path)).text)
  expect(await words(`/dashboard/members/${memberId}`)).toContain(`they created stop working: “${name}”`)
  expect(await words(`/dashboard/tokens/${tokenId}`)).toMatch(/Created by owner\S+@example\.com/)
  await removeMember(ports(), tenant.tenantId, memberId, origin)
  expect(await words(`/dashboard/tokens/${tokenId}`)).toContain('member removed')
  expect(await words('/dashboard/tokens?show=all')).toContain(`${name} member removed`)
  expect(await words('/dashboard/tokens')).not.toContain(name)
  expect(await words(`/dashboard/tokens/${tenant.tokenId}`)).toContain('the token belongs to no member')
})
