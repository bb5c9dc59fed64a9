/** Guarantee: in a real browser, at a desk and on a phone, a person of a reseller mints a license and finds it and its customer. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeProduct } from '../http/samples.ts'
import { openDashboard, type TestDashboard } from './dashboard.ts'
import { makeReseller, type TestMember } from './members.ts'

let dashboard: TestDashboard
let person: TestMember
beforeAll(async () => {
  dashboard = await openDashboard()
  const { api, tenant } = dashboard
  await makeProduct(api.ask, tenant.token, 'editor', { name: 'Editor', keyTypes: [{ name: 'Team' }] })
  const quotas = [{ productId: 'editor', keyTypeId: 'team', licenses: 5 }]
  const { resellerId } = await makeReseller(api.ledger, tenant.tenantId, quotas)
  person = await dashboard.member({ role: 'reseller', resellerId })
})
afterAll(() => dashboard.close())

test.each([
  ['at a desk', { width: 1280, height: 900 }, 'desk@example.com'],
  ['on a phone', { width: 390, height: 844 }, 'phone@example.com'],
])('%s', async (_, viewport, email) => {
  const { page, problems, close } = await dashboard.visitAs(person, { viewport })
  await page.getByRole('heading', { name: 'Northwind Software' }).waitFor()
  await page.getByRole('link', { name: 'New license' }).click()
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Name').fill('Grace')
  await page.getByRole('button', { name: 'Mint license' }).click()
  expect(await page.getByRole('textbox', { name: 'License key' }).inputValue()).not.toBe('')
  await page.getByRole('link', { name: 'View license' }).click()
  await page.getByRole('link', { name: email }).click()
  await page.getByRole('heading', { name: email }).waitFor()
  const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth)
  expect(scrollWidth).toBeLessThanOrEqual(viewport.width)
  expect(problems).toStrictEqual([])
  await close()
})
