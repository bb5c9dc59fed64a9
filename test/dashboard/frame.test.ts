/**
 * Guarantee: every page has the search, which `/` leads to, the way back to its list, and a navigation that a phone
 * collapses without JavaScript. Times are in the reader's zone with UTC in their titles, and ids can be copied.
 */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeProduct, mint } from '../http/samples.ts'
import { openDashboard, signIn, type TestDashboard, type Visitor } from './dashboard.ts'
import type { TestMember } from './members.ts'

let dashboard: TestDashboard
let owner: TestMember
let license: { id: string; licenseKey: string }
beforeAll(async () => {
  dashboard = await openDashboard()
  const { api, tenant } = dashboard
  api.ledger.clock.set('2026-03-01T23:30:00.000Z')
  await makeProduct(api.ask, tenant.token, 'editor', { name: 'Editor' })
  license = await mint(api.ask, tenant.token, 'editor', { email: 'ada@example.com' })
  owner = await dashboard.member('owner')
})
afterAll(() => dashboard.close())

async function openLicense(options: Parameters<TestDashboard['visit']>[0]): Promise<Visitor> {
  const visitor = await dashboard.visit(options)
  const { page } = visitor
  await page.goto(`/dashboard/licenses/${license.id}`)
  await signIn(page, owner)
  await page.getByText('Would it validate now?').waitFor()
  return visitor
}

async function end({ problems, close }: Visitor): Promise<void> {
  expect(problems).toStrictEqual([])
  await close()
}

const crumbs = (page: Page) =>
  page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('listitem').allTextContents()

test('the slash key leads to the search from every page, and is typed into a field', async () => {
  const visitor = await openLicense({})
  const { page } = visitor
  await page.getByLabel('Device ID').focus()
  await page.keyboard.type('a/b')
  expect(await page.getByLabel('Device ID').inputValue()).toBe('a/b')
  await page.locator('main').focus()
  await page.keyboard.press('/')
  await page.keyboard.type(license.licenseKey)
  await page.keyboard.press('Enter')
  // The only result opens at once, and the key is in no address.
  await page.getByText('Would it validate now?').waitFor()
  expect(page.url()).toBe(`${dashboard.address}/dashboard/licenses/${license.id}`)
  await end(visitor)
})

test('times are in the zone of the reader, with UTC in the title; without JavaScript they are in UTC', async () => {
  const tokyo = await openLicense({ timezoneId: 'Asia/Tokyo' })
  const issued = tokyo.page.locator('.event-time time')
  expect(await issued.textContent()).toBe('2 Mar, 08:30 GMT+9')
  expect(await issued.getAttribute('title')).toBe('1 Mar 2026, 23:30 UTC')
  // The history is by UTC days.
  expect(await tokyo.page.locator('.day h3').textContent()).toBe('1 Mar 2026')
  await end(tokyo)
  const plain = await openLicense({ timezoneId: 'Asia/Tokyo', javaScriptEnabled: false })
  expect(await plain.page.locator('.event-time time').textContent()).toBe('23:30 UTC')
  await end(plain)
})

test('an id is copied with its button, which is only there with JavaScript', async () => {
  const visitor = await openLicense({ permissions: ['clipboard-read', 'clipboard-write'] })
  const { page } = visitor
  await page.getByRole('button', { name: 'Copy license ID' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(license.id)
  await end(visitor)
  const plain = await openLicense({ javaScriptEnabled: false })
  expect(await plain.page.getByRole('button', { name: 'Copy license ID' }).count()).toBe(0)
  await end(plain)
})

test('a page below a list leads back to it, and the list itself has no such line', async () => {
  const visitor = await openLicense({ javaScriptEnabled: false })
  const { page } = visitor
  const [list, self] = await crumbs(page)
  expect(list).toBe('Licenses')
  expect(self).toMatch(/…/)
  await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link').click()
  await page.getByRole('heading', { name: 'Licenses', exact: true }).waitFor()
  expect(await crumbs(page)).toStrictEqual([])
  await page.goto('/dashboard/account/password')
  expect(await crumbs(page)).toStrictEqual(['Your account', 'New password'])
  await end(visitor)
})

test('a phone collapses the navigation, and opens it without JavaScript', async () => {
  const visitor = await openLicense({ javaScriptEnabled: false, viewport: { width: 320, height: 640 } })
  const { page } = visitor
  const products = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Products' })
  expect(await products.isVisible()).toBe(false)
  await page.locator('summary', { hasText: 'Menu' }).click()
  await products.click()
  await page.getByRole('heading', { name: 'Products', exact: true }).waitFor()
  expect(await products.isVisible()).toBe(false)
  await end(visitor)
})
