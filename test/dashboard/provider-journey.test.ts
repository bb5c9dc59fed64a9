/**
 * Guarantee: in a real browser, a member finds the provider on the sign-in page, signs in there, signs out here and there, and a
 * logout at the provider ends the session here.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProvider, type TestProvider } from '../harness/openid-provider.ts'
import { addTestProvider } from '../harness/sign-in-providers.ts'
import { clientOf } from './client.ts'
import { openDashboard, type TestDashboard } from './dashboard.ts'

let dashboard: TestDashboard
let provider: TestProvider
const at = () => `/dashboard/sign-in/${dashboard.tenant.tenantId}/login`

beforeAll(async () => {
  dashboard = await openDashboard()
  provider = await openProvider([`${dashboard.address}${at()}/callback`])
  await addTestProvider(dashboard.api.ledger, dashboard.tenant.tenantId, 'login', provider.issuer)
})
afterAll(async () => {
  await provider.close()
  await dashboard.close()
})

test('a member signs in and out with a browser', async () => {
  const { page, problems, close } = await dashboard.visit()
  await page.goto('/dashboard/licenses')
  await page.getByRole('link', { name: 'Sign in with Acme Login' }).click()
  await page.waitForURL('**/dashboard/licenses')
  await page.getByRole('heading', { name: 'Licenses', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  // The provider asks whether to sign out there, too.
  await page.waitForURL(`${provider.issuer}/session/end**`)
  await page.goto('/dashboard/licenses')
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
  // The page of the provider asks another site for a font.
  const own = problems.filter((problem) => !problem.includes('ERR_NAME_NOT_RESOLVED'))
  expect(own).toStrictEqual([])
  await close()
})

test('the provider ends a session here when its own ends', async () => {
  const client = clientOf(dashboard.api.app)
  const browser = provider.browser()
  const begun = await client.get(at())
  const { pathname, search } = await browser.follow(begun.location ?? '')
  expect((await client.get(`${pathname}${search}`)).status).toBe(303)
  expect((await client.get('/dashboard/account')).status).toBe(200)
  await browser.signOut(`${provider.issuer}/session/end`)
  await expect.poll(async () => (await client.get('/dashboard/account')).status).toBe(303)
})
