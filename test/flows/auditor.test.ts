/**
 * Guarantee: an auditor can read everything of the tenant and change nothing. Every page of the dashboard and every
 * operation of the API is tried, as listed by the router and the OpenAPI document, so that new ones are covered.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { may, rightsOf } from '../../src/domain/members/roles.ts'
import { clientOf } from '../dashboard/client.ts'
import { makeMember } from '../dashboard/members.ts'
import { dashboardRoutes } from '../dashboard/routes.ts'
import { type Method, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { pendingId } from '../harness/gate.ts'
import { startNotary } from '../harness/notary.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { parkedSale } from '../sales/shop.ts'

let api: TestApi
let tenant: TestTenant
let ids: Record<string, string>
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { ask, ledger } = api
  await makeProduct(ask, tenant.token, 'editor')
  const license = (await mint(ask, tenant.token, 'editor', { email: 'ada@example.com' })).id
  const confirmation = pendingId(await ask('POST', `/v1/licenses/${license}/revoke`, { token: tenant.token }))
  // The tenant's signing key is created by the first signature, whoever causes it.
  await ask('GET', `/v1/licenses/${license}/evidence`, { token: tenant.token })
  ids = {
    licenses: license,
    customers: await makeCustomer(ask, tenant.token),
    sales: await parkedSale(ledger, tenant.tenantId),
    products: 'editor',
    approvals: confirmation,
    confirmations: confirmation,
  }
  // The receipt of the license needs a signed log.
  const notary = startNotary(ledger)
  await notary.upToDate()
  await notary.stop()
})
afterAll(() => api.close())

/** The recorded events so far, without the audited views, which an auditor causes. */
async function changes(): Promise<string[]> {
  const { entries } = await api.ledger.ports.ledger.readPage(undefined, 10_000)
  return entries
    .filter(({ stream }) => !stream.startsWith('audit-'))
    .map(({ stream, revision }) => `${stream} ${revision}`)
}

/** A path with ids of existing things. */
const filled = (path: string): string =>
  path
    .replace('{productId}', 'editor')
    .replace('{provider}', 'gumroad')
    .replace('{keyTypeId}', 'default')
    .replace(/(\w+)\/(?::id|\{id\})/, (_, what: string) => `${what}/${ids[what] ?? 'absent'}`)
    .replaceAll(/:\w+|\{\w+\}/g, 'absent')

test('an auditor can read every page of the dashboard and change nothing', async () => {
  const browser = clientOf(api.app)
  await browser.signIn(await makeMember(api.ledger, tenant.tenantId, 'auditor'))
  const before = await changes()
  const routes = dashboardRoutes(api.app)
  const seen: Record<string, number> = {}
  for (const { method, path } of routes) {
    // It would end the session, which only affects the auditor.
    if (path.includes('sign-out') || path.includes('session') || path.includes(':file')) continue
    await browser.get('/dashboard')
    const url = filled(path)
    const { status } = method === 'GET' ? await browser.get(url) : await browser.post(url)
    expect({ method, path, status, isFault: status >= 500 }).toMatchObject({ isFault: false })
    seen[`${method} ${path}`] = status
  }
  expect(await changes()).toStrictEqual(before)
  const records = ['licenses', 'customers', 'sales', 'products', 'approvals']
  for (const what of records) {
    expect([what, seen[`GET /dashboard/${what}`]]).toStrictEqual([what, 200])
    expect([what, seen[`GET /dashboard/${what}/:id`]]).toStrictEqual([what, 200])
  }
  // Every changing request is refused because of the role, before anything is looked up.
  for (const what of [
    'POST /dashboard/approvals/:id/approve',
    'POST /dashboard/members',
    'POST /dashboard/tokens',
  ]) {
    if (seen[what] !== undefined) expect([what, seen[what]]).toStrictEqual([what, 403])
  }
  expect(['decide_confirmations', 'manage_tokens', 'manage_members', 'manage_settings'] as const).toSatisfy(
    (all: readonly Parameters<typeof may>[1][]) => all.every((permission) => !may('auditor', permission)),
  )
})

const Description = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({
        parameters: z.array(z.looseObject({ name: z.string() })).default([]),
        security: z.array(z.record(z.string(), z.unknown())).optional(),
        responses: z.record(z.string(), z.unknown()),
      }),
    ),
  ),
})

test('a token with all scopes that an auditor can grant can call every read operation and no other', async () => {
  const token = await tenant.tokenWith(...rightsOf.auditor.grantable)
  const { paths } = Description.parse((await api.ask('GET', '/v1/openapi.json')).body)
  const before = await changes()
  let read = 0
  let refused = 0
  for (const [path, methods] of Object.entries(paths)) {
    if (!path.startsWith('/v1/') || path === '/v1/logout' || path.startsWith('/v1/login')) continue
    for (const [name, { parameters, responses }] of Object.entries(methods)) {
      if (!('401' in responses)) continue
      const method = z
        .enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
        .parse(name.toUpperCase()) satisfies Method
      const isGated = parameters.some((parameter) => parameter.name === 'X-Service-Confirmation')
      const { status } = await api.ask(method, filled(path), { token, ...(method !== 'GET' && { body: {} }) })
      const what = `${method} ${path}`
      // Only those who may start a test purchase can poll it, and the list of tokens needs `danger`.
      const needsMore = ['/v1/test-purchase/{id}', '/v1/tokens'].includes(path)
      const isRead = method === 'GET' || ['/v1/licenses/search', '/v1/mail-templates/preview'].includes(path)
      if (isRead && !isGated && !needsMore) {
        read++
        expect([what, status === 403 || status >= 500]).toStrictEqual([what, false])
      } else {
        refused++
        expect([what, status]).toStrictEqual([what, 403])
      }
    }
  }
  expect(read).toBeGreaterThan(20)
  expect(refused).toBeGreaterThan(25)
  expect(await changes()).toStrictEqual(before)
})
