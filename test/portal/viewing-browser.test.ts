/**
 * Guarantee: on a phone and on a desktop, a member opens the portal as a customer from the page of the customer, looks around, and ends
 * it where they came from. Its pages are accessible, and the browser reports no error and no violation of the content security policy.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDashboard, type TestDashboard } from '../dashboard/dashboard.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { openPortalOf } from './customer.ts'
import { checkPage } from './looks.ts'

let dashboard: TestDashboard
let customerId: string
beforeAll(async () => {
  dashboard = await openDashboard()
  const { api, tenant } = dashboard
  const { token, tenantId } = tenant
  await openPortalOf(api.app, token)
  await makeProduct(api.ask, token, 'editor', { customerKeyReplacement: true, keyRecovery: true })
  const { id, licenseKey } = await mint(api.ask, token, 'editor', { email: 'grace@example.com' })
  const body = { tenant_id: tenantId, product_id: 'editor', license_key: licenseKey, device_id: 'laptop' }
  await api.ask('POST', '/v1/licenses/activate', { token, body: { ...body, name: 'MacBook Pro' } })
  const found = await api.ask('GET', `/v1/licenses/${id}`, { token })
  customerId = (found.body as { license: { customerId: string } }).license.customerId
})
afterAll(() => dashboard.close())

test.each([
  ['a phone', { width: 320, height: 640 }, 'light'],
  ['a desktop', { width: 1280, height: 800 }, 'dark'],
] as const)('on %s, from the customer to their portal and back', async (_, viewport, colorScheme) => {
  const member = await dashboard.member('auditor')
  const { page, problems, close } = await dashboard.visitAs(member, { viewport, colorScheme })
  await page.goto(`/dashboard/customers/${customerId}`)
  await page.getByRole('button', { name: 'See the portal as this customer' }).click()
  const banner = page.getByRole('complementary', { name: 'Read-only view' })
  await banner.getByText('You see the portal as grace@example.com does.').waitFor()
  expect(new URL(page.url()).pathname).toBe(`/portal/${dashboard.tenant.tenantId}`)
  expect(page.url()).not.toContain('token')
  await checkPage(page, 'licenses')
  await page.getByRole('link', { name: 'Acme Editor' }).click()
  await page.getByText('MacBook Pro').waitFor()
  await checkPage(page, 'license')
  await page.getByRole('link', { name: 'Remove: MacBook Pro' }).click()
  await page.getByText('The customer has a form here, with the button Remove device.').waitFor()
  await checkPage(page, 'remove')
  expect(await page.getByRole('button').allTextContents()).toStrictEqual(['End'])
  // It stays in sight.
  await page.getByRole('link', { name: 'Cancel' }).click()
  await page.locator('footer').scrollIntoViewIfNeeded()
  expect(await banner.boundingBox()).toMatchObject({ y: 0 })
  await banner.getByRole('button', { name: 'End' }).click()
  await page.getByRole('heading', { name: 'grace@example.com' }).waitFor()
  await checkPage(page, 'customer')
  await page.getByRole('cell', { name: member.email }).waitFor()
  await page.goto(`/portal/${dashboard.tenant.tenantId}`)
  await page.getByLabel('Email address').waitFor()
  expect(problems).toStrictEqual([])
  await close()
})
