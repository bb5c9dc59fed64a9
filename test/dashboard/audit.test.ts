/**
 * Guarantee: every change of what is administered is in the audit log with the values before and after and without
 * secrets; so are sign-ins and failed ones. Views of a page within ten minutes are one line. The log is filtered and
 * exported.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { recordAudit } from '../../src/commands/audit.ts'
import { eraseSubject } from '../../src/commands/customers/erasure.ts'
import { addMember, changeRole, removeMember } from '../../src/commands/members/members.ts'
import { createTestApp, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { askApproveRepeat } from '../harness/gate.ts'
import { origin } from '../harness/ledger.ts'
import { makeProduct } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember, type TestMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let owner: TestMember
let browser: Client
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  owner = await makeMember(api.ledger, tenant.tenantId, 'owner')
  browser = clientOf(api.app, '192.0.2.7')
  await browser.signIn(owner)
})
afterAll(() => api.close())

const Page = z.object({
  items: z.array(
    z.looseObject({
      actor: z.string(),
      action: z.string(),
      target: z.object({ kind: z.string(), id: z.string().nullable() }),
      times: z.int(),
      changes: z.array(z.object({ field: z.string(), before: z.unknown(), after: z.unknown() })),
    }),
  ),
})
const auditOf = async (query: string) =>
  Page.parse((await api.ask('GET', `/v1/audit${query}`, { token: tenant.token })).body).items
const linesOf = async (query: string) =>
  (await auditOf(query)).map(({ action, target, changes }) => ({
    line: `${action} ${target.kind} ${target.id}`,
    changes: Object.fromEntries(changes.map(({ field, before, after }) => [field, [before, after]])),
  }))
const words = (text: string): string => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')

test('a product and its key types: each change has the values before and after', async () => {
  const { token } = tenant
  await makeProduct(api.ask, token, 'editor', {
    keyTypes: [{ name: 'Pro', keyTypeId: 'pro', deviceLimit: 2 }, { name: 'Basic' }],
  })
  await api.ask('PATCH', '/v1/products/editor', { token, body: { name: 'Editor 2' } })
  const keyType = '/v1/products/editor/key-types/pro'
  await api.ask('PATCH', keyType, { token, body: { deviceLimit: 5, entitlements: ['a', 'b'] } })
  await askApproveRepeat(api, tenant, 'DELETE', keyType)
  const [created, renamed] = (await linesOf('?kind=product')).toReversed()
  expect(created).toMatchObject({ line: 'created product editor', changes: { name: [null, 'Acme Editor'] } })
  expect(renamed).toStrictEqual({
    line: 'changed product editor',
    changes: { name: ['Acme Editor', 'Editor 2'] },
  })
  const [added, changed, deleted] = (await linesOf('?kind=key_type&target=editor/pro')).toReversed()
  expect(added).toMatchObject({ line: 'created key_type editor/pro', changes: { deviceLimit: [null, 2] } })
  expect(changed).toStrictEqual({
    line: 'changed key_type editor/pro',
    changes: { deviceLimit: [2, 5], entitlements: [null, 'a, b'] },
  })
  expect(deleted).toMatchObject({
    line: 'deleted key_type editor/pro',
    changes: { name: ['Pro', null], deviceLimit: [5, null] },
  })
})

test('members, tokens, webhooks and keys are listed by whoever changed them, and no secret is in the log', async () => {
  const { ports } = api.ledger
  const { tenantId, token, tokenId } = tenant
  const by = { ...origin, actor: `member:${owner.memberId}` }
  const memberId = await addMember(ports, { tenantId, role: 'support', email: 'grace@example.com' }, by)
  await changeRole(ports, tenantId, memberId, 'auditor', by)
  await removeMember(ports, tenantId, memberId, by)
  expect((await linesOf(`?target=${memberId}`)).toReversed()).toStrictEqual([
    { line: `created member ${memberId}`, changes: { role: [null, 'support'] } },
    { line: `changed member ${memberId}`, changes: { role: ['support', 'auditor'] } },
    { line: `deleted member ${memberId}`, changes: { role: ['auditor', null] } },
  ])
  const own = await linesOf(`?kind=token&target=${tokenId}`)
  expect(own).toMatchObject([{ line: `created token ${tokenId}`, changes: { status: [null, 'active'] } }])
  const revealed = await askApproveRepeat(api, tenant, 'GET', '/v1/sdk-key')
  const rotated = await askApproveRepeat(api, tenant, 'POST', '/v1/sdk-key/rotate')
  const target = { kind: 'sdk-key', id: null } as const
  await recordAudit(ports, tenant.tenantId, { action: 'revealed', target }, origin)
  const lines = (await linesOf('?kind=sdk_key')).map(({ line }) => line)
  expect(lines).toStrictEqual(['revealed sdk_key null', 'rotated sdk_key null', 'created sdk_key null'])
  const text = JSON.stringify(await auditOf('?limit=100'))
  const { rows } = await api.ledger.db.query<{ all: string }>(
    `select string_agg(a::text, ' ') || (select string_agg(s::text, ' ') from audit_states s) as all from audit a`,
  )
  for (const secret of [token, ...[revealed, rotated].map(({ body }) => SdkKey.parse(body).sdkKey)]) {
    expect(text).not.toContain(secret)
    expect(rows[0]?.all).not.toContain(secret)
  }
  expect(rows[0]?.all).not.toContain('grace@example.com')
})
const SdkKey = z.object({ sdkKey: z.string() })

test('a sign-in has its address for owners, and not for others; erasing the person makes it unreadable', async () => {
  const grace = await makeMember(api.ledger, tenant.tenantId, 'support')
  const other = clientOf(api.app, '192.0.2.99')
  await other.signIn(grace)
  const path = `/dashboard/audit?target=${grace.memberId}&action=signed_in`
  const shown = words((await browser.get(path)).text)
  expect(shown).toContain(`${grace.email} dashboard, 192.0.2.99 signed in method: password`)
  expect((await other.get(path)).text).not.toContain('192.0.2.99')
  expect(await linesOf(`?target=${grace.memberId}&action=signed_in`)).toStrictEqual([
    { line: `signed_in member ${grace.memberId}`, changes: { method: [null, 'password'] } },
  ])
  const { ports } = api.ledger
  await removeMember(ports, tenant.tenantId, grace.memberId, origin)
  const subjectId = (await ports.subjects.findSubject(tenant.tenantId, grace.email)) ?? ''
  await eraseSubject(ports, tenant.tenantId, subjectId, origin)
  const erased = (await browser.get(path)).text
  expect(words(erased)).toContain(`member ${grace.memberId} dashboard signed in`)
  expect(erased).not.toContain('192.0.2.99')
  expect(erased).not.toContain(grace.email)
})

test('failed sign-ins of a member are one entry in ten minutes, and those of strangers none', async () => {
  const ada = await makeMember(api.ledger, tenant.tenantId, 'support')
  const app = await createTestApp(api.ledger, api.ledger.ports)
  const stranger = clientOf(app, '192.0.2.44')
  for (const email of [ada.email, ada.email, 'nobody@example.com']) {
    await stranger.get('/dashboard/sign-in')
    const form = { email, password: 'wrong password', code: '000000' }
    expect((await stranger.post('/dashboard/sign-in', form)).status).toBe(401)
  }
  // What is in memory is recorded before the application has stopped.
  await app.close()
  const failed = await auditOf('?action=sign_in_failed')
  expect(failed.map(({ actor, target }) => ({ actor, target }))).toStrictEqual([
    { actor: 'system:sign-in', target: { kind: 'member', id: ada.memberId } },
  ])
})

test('views of one page within ten minutes are one line, and a later one is another', async () => {
  const { clock } = api.ledger
  const query = `?kind=sales&actor=member:${owner.memberId}`
  const viewed = async () => (await auditOf(query)).map(({ times, lastAt }) => ({ times, lastAt }))
  await browser.get('/dashboard/sales')
  expect(await viewed()).toStrictEqual([{ times: 1, lastAt: null }])
  clock.advance(9 * 60_000)
  await browser.get('/dashboard/sales')
  const lastAt = clock.now().toISOString()
  expect(await viewed()).toStrictEqual([{ times: 2, lastAt }])
  clock.advance(2 * 60_000)
  await browser.get('/dashboard/sales')
  expect(await viewed()).toStrictEqual([
    { times: 1, lastAt: null },
    { times: 2, lastAt },
  ])
})

test('it is filtered by time, over the API and on the page', async () => {
  const { clock } = api.ledger
  clock.set('2026-05-01T10:00:00.000Z')
  await api.ask('PATCH', '/v1/products/editor', { token: tenant.token, body: { name: 'Editor 3' } })
  const after = await linesOf('?kind=product&from=2026-05-01T00:00:00Z')
  expect(after).toStrictEqual([
    { line: 'changed product editor', changes: { name: ['Editor 2', 'Editor 3'] } },
  ])
  expect(await linesOf('?kind=product&from=2026-05-01T00:00:00Z&to=2026-05-01T10:00:00Z')).toStrictEqual([])
  await browser.signIn(owner)
  const path = '/dashboard/audit?kind=product&from=2026-05-01&to=2026-05-01'
  expect(words((await browser.get(path)).text)).toContain('name: Editor 2 → Editor 3')
  const { text } = await browser.get('/dashboard/audit?kind=product&to=2026-04-30')
  expect(text).not.toContain('Editor 3')
})

test('the filtered entries are exported as CSV and NDJSON, and the export is recorded', async () => {
  const query = '?kind=product&target=editor'
  const csv = await browser.get(`/dashboard/audit/export.csv${query}`)
  expect(csv.headers['content-disposition']).toMatch(/^attachment; filename="audit-.*\.csv"$/)
  const [head, first, ...others] = csv.text.trimEnd().split('\r\n')
  expect(head).toMatch(/^time,actor,actor_name,action,/)
  expect(first).toContain('created,product,editor')
  const ndjson = await browser.get(`/dashboard/audit/export.ndjson${query}`)
  const lines = ndjson.text
    .trimEnd()
    .split('\n')
    .map((line) => z.looseObject({ action: z.string() }).parse(JSON.parse(line)))
  expect(lines).toHaveLength(others.length + 1)
  expect(lines.at(-1)).toMatchObject({
    action: 'changed',
    changes: [{ field: 'name', before: 'Editor 2', after: 'Editor 3' }],
  })
  const exports = await auditOf(`?action=exported&kind=audit&actor=member:${owner.memberId}`)
  expect(exports).toHaveLength(2)
})
