/**
 * Guarantee: what is administered over the dashboard and the API says from which network address, for those who may see
 * it; the address is in no event and no table in clear, and unreadable after the person's erasure. What the command line
 * and the service do says so, and has none.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { readModelTables } from '../../projections/projectors.ts'
import { eraseSubject } from '../../src/commands/customers/erasure.ts'
import { addMember, changeRole, removeMember } from '../../src/commands/members/members.ts'
import { createToken } from '../../src/commands/tokens.ts'
import { combinableScopes, type Scope } from '../../src/domain/tokens/events.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember, type TestMember } from './members.ts'

const ofOwner = '192.0.2.71'
const ofToken = '198.51.100.72'

let api: TestApi
let tenant: TestTenant
let owner: TestMember
let browser: Client
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  owner = await makeMember(api.ledger, tenant.tenantId, 'owner')
  browser = clientOf(api.app, ofOwner)
  await browser.signIn(owner)
})
afterAll(() => api.close())

const Page = z.object({
  items: z.array(
    z.looseObject({
      action: z.string(),
      target: z.object({ kind: z.string(), id: z.string().nullable() }),
      from: z.object({ via: z.string(), address: z.string().nullable() }),
    }),
  ),
})
const sourcesOf = async (query: string, token = tenant.token) =>
  Page.parse((await api.ask('GET', `/v1/audit${query}`, { token })).body).items.map(
    ({ action, target, from }) => `${action} ${target.kind}: ${from.via} ${from.address}`,
  )
const words = (text: string): string => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')

/** Renames the product over the API, from an address. */
const renameBy = (token: string, name: string, remoteAddress: string) =>
  api.app.inject({
    method: 'PATCH',
    url: '/v1/products/editor',
    headers: { authorization: `Bearer ${token}` },
    payload: { name },
    remoteAddress,
  })

const tokenOf = async (member: TestMember, scopes: readonly Scope[]) =>
  (
    await createToken(
      api.ledger.ports,
      { tenantId: tenant.tenantId, name: 'CI', scopes, expiresAt: null },
      { ...origin, actor: `member:${member.memberId}` },
    )
  ).token

test('a change over the dashboard names its address to owners and auditors, in the list and in the export', async () => {
  await browser.get('/dashboard/audit')
  const chosen = await browser.post('/dashboard/start/dismiss')
  expect(chosen.status).toBe(303)
  const path = '/dashboard/audit?action=onboarding_dismissed'
  expect(words((await browser.get(path)).text)).toContain(`${owner.email} dashboard, ${ofOwner}`)
  expect(await sourcesOf('?action=onboarding_dismissed')).toStrictEqual([
    `onboarding_dismissed tenant: dashboard ${ofOwner}`,
  ])
  const csv = (await browser.get('/dashboard/audit/export.csv?action=onboarding_dismissed')).text
  expect(csv).toContain(`,dashboard,${ofOwner},`)
  expect(await sourcesOf('?action=exported&via=dashboard')).toStrictEqual([
    `exported audit: dashboard ${ofOwner}`,
  ])
  const support = await makeMember(api.ledger, tenant.tenantId, 'support')
  const other = clientOf(api.app, '192.0.2.99')
  await other.signIn(support)
  const seen = words((await other.get(path)).text)
  expect(seen).toContain(`${owner.email} dashboard `)
  expect(seen).not.toContain(ofOwner)
  const reading = await tokenOf(owner, ['licenses:read'])
  expect(await sourcesOf('?action=onboarding_dismissed', reading)).toStrictEqual([
    'onboarding_dismissed tenant: dashboard null',
  ])
})

test('a change over the API names the address of the caller, also with a token that no member made', async () => {
  const ofMember = await tokenOf(owner, combinableScopes)
  for (const [token, name] of [
    [tenant.token, 'First'],
    [ofMember, 'Second'],
  ] as const) {
    expect((await renameBy(token, name, ofToken)).statusCode).toBe(200)
  }
  expect(await sourcesOf('?kind=product&action=changed&via=api')).toStrictEqual([
    `changed product: api ${ofToken}`,
    `changed product: api ${ofToken}`,
  ])
  expect(words((await browser.get('/dashboard/audit?kind=product&via=api')).text)).toContain(
    `API, ${ofToken}`,
  )
})

test('what the command line does has no address', async () => {
  const memberId = await addMember(
    api.ledger.ports,
    { tenantId: tenant.tenantId, role: 'support', email: 'cli@example.com' },
    { ...origin, actor: 'operator:ada' },
  )
  expect(await sourcesOf(`?target=${memberId}&via=command_line`)).toStrictEqual([
    'created member: command_line null',
  ])
  expect(await sourcesOf(`?target=${memberId}&via=dashboard`)).toStrictEqual([])
  const { text } = await browser.get(`/dashboard/audit?target=${memberId}`)
  expect(words(text)).toContain('operator ada command line')
})

/** Requests to revoke a new license over the API, from an address. @returns the page of the approval */
async function requestFrom(token: string, remoteAddress: string): Promise<string> {
  const { id } = await mint(api.ask, tenant.token, 'editor')
  const { statusCode, body } = await api.app.inject({
    method: 'POST',
    url: `/v1/licenses/${id}/revoke`,
    headers: { authorization: `Bearer ${token}` },
    payload: {},
    remoteAddress,
  })
  expect(statusCode).toBe(202)
  const { confirmation } = z.object({ confirmation: z.object({ id: z.string() }) }).parse(JSON.parse(body))
  return `/dashboard/approvals/${confirmation.id}`
}

test('a request for an approval names its address to those who decide', async () => {
  for (const token of [tenant.token, await tokenOf(owner, combinableScopes)]) {
    const page = await requestFrom(token, ofToken)
    expect(words((await browser.get(page)).text)).toContain(`IP address ${ofToken} `)
  }
  expect(words((await browser.get('/dashboard/approvals')).text)).toContain(ofToken)
})

test('no address is in clear in the log or a table, and licenses have none at all', async () => {
  await mint(api.ask, tenant.token, 'editor')
  const { entries } = await api.ledger.ports.ledger.readPage(undefined, 10_000)
  const known = entries.filter((entry) => entry.readable)
  const from = known.filter(({ metadata }) => metadata.from !== undefined)
  expect(new Set(from.map(({ category }) => category))).toContain('product')
  expect(known.map(({ category }) => category)).toContain('confirmation')
  expect(known.filter(({ category, metadata }) => category === 'license' && metadata.from)).toStrictEqual([])
  const everywhere = known.map((entry) => JSON.stringify([entry.event, entry.metadata]))
  for (const table of [...readModelTables, 'vault.subject_keys']) {
    const { rows } = await api.ledger.db.query<{ row: string }>(
      `select to_json(t)::text as row from ${table} t`,
    )
    everywhere.push(...rows.map(({ row }) => row))
  }
  for (const address of [ofOwner, ofToken])
    expect(everywhere.filter((text) => text.includes(address))).toStrictEqual([])
})

test('after the erasure of the person nobody can read the address', async () => {
  const { ports } = api.ledger
  const gone = await makeMember(api.ledger, tenant.tenantId, 'owner')
  const token = await tokenOf(gone, combinableScopes)
  expect((await renameBy(token, 'Third', '203.0.113.5')).statusCode).toBe(200)
  const query = '?kind=product&action=changed&limit=1'
  expect(await sourcesOf(query)).toStrictEqual(['changed product: api 203.0.113.5'])
  const requested = await requestFrom(token, '203.0.113.5')
  expect(words((await browser.get(requested)).text)).toContain('IP address 203.0.113.5 ')
  await changeRole(ports, tenant.tenantId, gone.memberId, 'support', origin)
  await removeMember(ports, tenant.tenantId, gone.memberId, origin)
  const subjectId = (await ports.subjects.findSubject(tenant.tenantId, gone.email)) ?? ''
  await eraseSubject(ports, tenant.tenantId, subjectId, origin)
  expect(await sourcesOf(query)).toStrictEqual(['changed product: api null'])
  const page = words((await browser.get(requested)).text)
  expect(page).toContain('IP address not recorded')
  expect(page).not.toContain('203.0.113.5')
})
