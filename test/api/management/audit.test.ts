/** Guarantee: every view, export and decision is in the tenant's audit log before it takes effect. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { recordAudit } from '../../../src/commands/audit.ts'
import { LedgerUnavailable } from '../../../src/ledger/connection/unavailable.ts'
import { clientOf } from '../../dashboard/client.ts'
import { makeMember } from '../../dashboard/members.ts'
import { dashboardRoutes } from '../../dashboard/routes.ts'
import { createTestApp, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { approver, askApproveRepeat } from '../../harness/gate.ts'

const Entry = z.object({
  id: z.string(),
  at: z.string(),
  actor: z.string(),
  action: z.string(),
  target: z.object({ kind: z.string(), id: z.string().nullable() }),
  asOf: z.string().nullable(),
  operation: z.string().nullable(),
  confirmationId: z.string().nullable(),
  requestId: z.string(),
  times: z.int(),
  lastAt: z.string().nullable(),
  changes: z.array(z.strictObject({ field: z.string(), before: z.unknown(), after: z.unknown() })),
})
const Page = z.object({ items: z.array(Entry), nextCursor: z.string().nullable() })

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
})
afterAll(() => api.close())

async function auditOf({ token }: TestTenant, query = ''): Promise<z.infer<typeof Page>> {
  return Page.parse((await api.ask('GET', `/v1/audit${query}`, { token })).body)
}

test('a view by a member is recorded with the member and the past moment', async () => {
  const own = await makeTenant(api.ledger)
  const member = await makeMember(api.ledger, own.tenantId, 'auditor')
  const browser = clientOf(api.app)
  await browser.signIn(member)
  const id = 'lic_01k9m3v5q7e8ra9c1d3f5g7q01'
  await browser.get(`/dashboard/licenses/${id}?asOf=2026-03-01T00:00:00Z`)
  await browser.get('/dashboard/licenses/ada@example.com')
  await browser.get('/dashboard/customers')
  const { items } = await auditOf(own, '?action=viewed')
  const actor = `member:${member.memberId}`
  expect(items.map(({ actor: who, action, target, asOf }) => ({ who, action, target, asOf }))).toStrictEqual([
    { who: actor, action: 'viewed', target: { kind: 'customers', id: null }, asOf: null },
    { who: actor, action: 'viewed', target: { kind: 'license', id }, asOf: '2026-03-01T00:00:00Z' },
  ])
})

test('a dangerous request is listed with its request, approval and execution', async () => {
  const { body } = await askApproveRepeat(api, tenant, 'GET', '/v1/sdk-key')
  expect(body).toHaveProperty('sdkKey')
  const { items } = await auditOf(tenant, '?kind=operation')
  expect(items.map(({ actor, action, operation }) => ({ actor, action, operation }))).toStrictEqual([
    { actor: `token:${tenant.tokenId}`, action: 'executed', operation: 'sdk-key.reveal' },
    { actor: approver.actor, action: 'approved', operation: 'sdk-key.reveal' },
    { actor: `token:${tenant.tokenId}`, action: 'asked', operation: 'sdk-key.reveal' },
  ])
})

test('the audit log is filtered, paged and visible only to its tenant', async () => {
  const own = await makeTenant(api.ledger)
  const origin = { requestId: 'req_look', actor: 'operator:ada' }
  for (const id of ['sal_1', 'sal_2', 'sal_3']) {
    const look = { action: 'viewed', target: { kind: 'sale', id } } as const
    await recordAudit(api.ledger.ports, own.tenantId, look, origin)
  }
  const idsIn = ({ items }: z.infer<typeof Page>) => items.map(({ target }) => target.id)
  const first = await auditOf(own, '?limit=2&kind=sale')
  expect(idsIn(first)).toStrictEqual(['sal_3', 'sal_2'])
  expect(idsIn(await auditOf(own, `?limit=2&kind=sale&cursor=${first.nextCursor}`))).toStrictEqual(['sal_1'])
  expect(idsIn(await auditOf(own, '?target=sal_2'))).toStrictEqual(['sal_2'])
  expect(idsIn(await auditOf(own, '?actor=operator:ada&action=searched'))).toStrictEqual([])
  expect(idsIn(await auditOf(await makeTenant(api.ledger), '?kind=sale'))).toStrictEqual([])
})

test('a view that cannot be recorded is not shown', async () => {
  const { ports } = api.ledger
  let isDown = false
  const execute: typeof ports.execute = (...command) =>
    isDown
      ? Promise.reject(new LedgerUnavailable('the event store does not answer'))
      : ports.execute(...command)
  const app = await createTestApp(api.ledger, { ...ports, execute })
  const browser = clientOf(app)
  await browser.signIn(await makeMember(api.ledger, tenant.tenantId, 'support'))
  isDown = true
  expect((await browser.get('/dashboard/customers')).status).toBe(503)
  await app.close()
})

test('every page that shows licenses or related data records its view', async () => {
  const own = await makeTenant(api.ledger)
  const browser = clientOf(api.app)
  await browser.signIn(await makeMember(api.ledger, own.tenantId, 'owner'))
  const pages = dashboardRoutes(api.app).filter(
    ({ method, path }) =>
      method === 'GET' &&
      /^.dashboard.(?:licenses|customers|sales|deliveries|devices)\b/.test(path) &&
      // It is recorded as an export.
      !path.endsWith('/evidence'),
  )
  expect(pages.length).toBeGreaterThan(6)
  for (const { path } of pages) await browser.get(path.replaceAll(/:\w+/g, 'lic_01k9m3v5q7e8ra9c1d3f5g7q01'))
  const { items } = await auditOf(own, '?limit=100&action=viewed')
  // Two pages that show one kind of thing are one line.
  expect(items.reduce((sum, { times }) => sum + times, 0)).toBe(pages.length)
})

test('a view is recorded regardless of request headers', async () => {
  const own = await makeTenant(api.ledger)
  const browser = clientOf(api.app)
  await browser.signIn(await makeMember(api.ledger, own.tenantId, 'owner'))
  const asFragment = { 'hx-request': 'true', 'hx-trigger': 'stop', 'hx-boosted': 'true', purpose: 'prefetch' }
  const pages = dashboardRoutes(api.app)
    .filter(({ method, path }) => method === 'GET' && !path.endsWith('/sign-in'))
    .map(({ path }) => path.replaceAll(/:\w+/g, 'lic_01k9m3v5q7e8ra9c1d3f5g7q01'))
  const looksOf = async (headers: Record<string, string>) => {
    const before = new Set((await auditOf(own, '?limit=100')).items.map(({ id }) => id))
    for (const page of pages) await browser.get(page, headers)
    const { items } = await auditOf(own, '?limit=100')
    // The next views are lines of their own.
    api.ledger.clock.advance(11 * 60_000)
    return items.filter(({ id }) => !before.has(id)).map(({ action, target }) => ({ action, target }))
  }
  const looks = await looksOf({})
  expect(looks.length).toBeGreaterThan(9)
  expect(await looksOf(asFragment)).toStrictEqual(looks)
})

test('no page with audited views refreshes itself', async () => {
  const own = await makeTenant(api.ledger)
  const browser = clientOf(api.app)
  await browser.signIn(await makeMember(api.ledger, own.tenantId, 'owner'))
  const refreshed = new Set<string>()
  for (const { path } of dashboardRoutes(api.app).filter(({ method }) => method === 'GET')) {
    const { text } = await browser.get(path.replaceAll(/:\w+/g, 'lic_01k9m3v5q7e8ra9c1d3f5g7q01'))
    for (const [tag] of text.matchAll(/<[^<>]*hx-trigger="[^"]*\bevery\b[^<>]*>/g))
      refreshed.add(/hx-get="([^"?]+)/.exec(tag)?.[1] ?? '')
  }
  expect([...refreshed].sort()).toStrictEqual(['/dashboard/approvals', '/dashboard/system'])
  const counted = async () =>
    (await auditOf(own, '?limit=100')).items.reduce((sum, { times }) => sum + times, 0)
  const looks = await counted()
  for (const path of refreshed) expect((await browser.get(path, { 'hx-request': 'true' })).status).toBe(200)
  expect(await counted()).toBe(looks)
})

test('a cursor returns 400 when its position is gone because the log was moved or restored', async () => {
  const own = await makeTenant(api.ledger)
  for (const id of ['1', '2', '3']) {
    const target = { kind: 'licenses', id } as const
    await recordAudit(api.ledger.ports, own.tenantId, { action: 'viewed', target }, approver)
  }
  const { nextCursor } = await auditOf(own, '?limit=1')
  const query = `?limit=1&cursor=${nextCursor}`
  expect((await auditOf(own, query)).items).toMatchObject([{ target: { id: '2' } }])
  await api.ledger.db.query('update audit set position = position + 7000000 where tenant_id = $1', [
    own.tenantId,
  ])
  const { status, body } = await api.ask('GET', `/v1/audit${query}`, { token: own.token })
  expect({ status, body }).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('start again without it') as string },
  })
})
