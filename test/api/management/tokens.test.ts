/**
 * Guarantee: tokens are listed without the tokens themselves, and another token is revoked only after a person's
 * approval, by a token with the scope `danger`.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { addMember, removeMember } from '../../../src/commands/members/members.ts'
import { createToken, revokeToken } from '../../../src/commands/tokens.ts'
import { approve, showApproval } from '../../../src/gate/approvals.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { approver, askApproveRepeat, confirmed, pendingId } from '../../harness/gate.ts'
import { beginning, origin, uniqueId } from '../../harness/ledger.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
})
beforeEach(async () => {
  api.ledger.clock.set(beginning)
  tenant = await makeTenant(api.ledger)
})
afterAll(() => api.close())

const ports = () => api.ledger.ports
const Page = z.strictObject({
  items: z.array(z.looseObject({ id: z.string(), status: z.string() })),
  nextCursor: z.string().nullable(),
})
const list = async (query = '') => {
  const answer = await api.ask('GET', `/v1/tokens${query}`, { token: tenant.token })
  expect(answer.status).toBe(200)
  return { ...Page.parse(answer.body), text: answer.text }
}
const make = (name: string, expiresAt: string | null = null, by = origin) =>
  createToken(
    ports(),
    { tenantId: tenant.tenantId, name, scopes: ['licenses:read', 'products:read'], expiresAt },
    by,
  )
const pathOf = (tokenId: string) => `/v1/tokens/${tokenId}/revoke`
const answered = ({ status, body }: Answer) => ({ status, body })
const verify = async (token: string) => (await api.ask('GET', '/v1/tokens/verify', { token })).status

describe('the list of tokens', () => {
  test('contains names, scopes and times, but neither the tokens nor their hashes', async () => {
    api.ledger.clock.advance(1000)
    const made = await make('CI', '2030-01-01T00:00:00.000Z')
    const { items, nextCursor, text } = await list()
    expect(nextCursor).toBeNull()
    expect(items.map(({ id }) => id)).toStrictEqual([made.tokenId, tenant.tokenId])
    expect(items[0]).toStrictEqual({
      id: made.tokenId,
      name: 'CI',
      status: 'active',
      scopes: ['licenses:read', 'products:read'],
      memberId: null,
      createdAt: api.ledger.clock.now().toISOString(),
      expiresAt: '2030-01-01T00:00:00.000Z',
      revokedAt: null,
      lastUsedAt: null,
    })
    expect(text).not.toContain(made.token)
    expect(text).not.toMatch(/[0-9a-f]{64}/)
  })

  test('shows when a token was last used', async () => {
    const { tokenId } = await make('CI')
    ports().tokenUse.record(tokenId)
    await ports().tokenUse.flush()
    const { items } = await list()
    expect(items.find(({ id }) => id === tokenId)).toMatchObject({ lastUsedAt: beginning })
  })

  test('shows why a token no longer works', async () => {
    const { tenantId } = tenant
    const add = () =>
      addMember(ports(), { tenantId, role: 'owner', email: `${uniqueId('m')}@example.com` }, origin)
    await add()
    const memberId = await add()
    const soon = new Date(api.ledger.clock.now().getTime() + 60_000).toISOString()
    const revoked = await make('revoked')
    const expired = await make('expired', soon)
    const orphan = await make('orphan', null, { ...origin, actor: `member:${memberId}` })
    await revokeToken(ports(), tenantId, revoked.tokenId, origin)
    await removeMember(ports(), tenantId, memberId, origin)
    api.ledger.clock.advance(60_000)
    const statuses = Object.fromEntries((await list()).items.map(({ id, status }) => [id, status]))
    expect(statuses).toStrictEqual({
      [tenant.tokenId]: 'active',
      [revoked.tokenId]: 'revoked',
      [expired.tokenId]: 'expired',
      [orphan.tokenId]: 'member_removed',
    })
  })

  test('contains only the tokens of the tenant, and requires `danger`', async () => {
    const other = await makeTenant(api.ledger)
    expect((await list()).items.map(({ id }) => id)).not.toContain(other.tokenId)
    const token = await tenant.tokenWith('products:read', 'products:write', 'licenses:read')
    expect((await api.ask('GET', '/v1/tokens', { token })).status).toBe(403)
  })
})

describe('revoking a token', () => {
  test('takes effect after the approval', async () => {
    const { tokenId, token } = await make('CI')
    const asked = await api.ask('POST', pathOf(tokenId), { token: tenant.token })
    const confirmation = pendingId(asked)
    expect(await verify(token)).toBe(200)
    const { description, effect } = await showApproval(ports(), tenant.tenantId, confirmation)
    expect(description).toStrictEqual({
      summary: `Revoke the API token “CI” (${tokenId})`,
      details: [['Scopes', 'licenses:read, products:read']],
    })
    expect(effect?.sentences).toStrictEqual(['API token “CI” stops working at once', 'This cannot be undone'])
    await approve(ports(), tenant.tenantId, confirmation, approver)
    const answer = await confirmed(api.ask, tenant, 'POST', pathOf(tokenId), confirmation)
    expect(answer).toMatchObject({ status: 200, body: { token: { id: tokenId, status: 'revoked' } } })
    expect(await verify(token)).toBe(401)
  })

  test('returns 409 without a confirmation when it is already revoked', async () => {
    const { tokenId } = await make('CI')
    await askApproveRepeat(api, tenant, 'POST', pathOf(tokenId))
    expect(answered(await api.ask('POST', pathOf(tokenId), { token: tenant.token }))).toStrictEqual({
      status: 409,
      body: { error: 'the token is already revoked' },
    })
  })

  test('works for the token of the request itself', async () => {
    expect(await askApproveRepeat(api, tenant, 'POST', pathOf(tenant.tokenId))).toMatchObject({
      status: 200,
      body: { token: { status: 'revoked' } },
    })
    expect(await verify(tenant.token)).toBe(401)
  })

  test("returns 404 for another tenant's token, as for an unknown one", async () => {
    const other = await makeTenant(api.ledger)
    const ask = async (id: string) => answered(await api.ask('POST', pathOf(id), { token: tenant.token }))
    const unknown = { status: 404, body: { error: 'token not found' } }
    for (const id of [other.tokenId, 'tok_00000000000000000000000000', 'nonsense']) {
      expect(await ask(id)).toStrictEqual(unknown)
    }
    expect(await verify(other.token)).toBe(200)
  })

  test('requires `danger`', async () => {
    const { tokenId } = await make('CI')
    const token = await tenant.tokenWith('products:write', 'licenses:write')
    expect((await api.ask('POST', pathOf(tokenId), { token })).status).toBe(403)
  })
})
