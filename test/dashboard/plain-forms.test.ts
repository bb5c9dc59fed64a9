/**
 * Guarantee: each kind of form works in a browser without JavaScript and without a mouse: it is filled in and sent with
 * Enter, and the page that follows says what happened.
 */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Acme, makeAcme } from './acme.ts'
import { openDashboard, type TestDashboard, type Visitor } from './dashboard.ts'

let dashboard: TestDashboard
let acme: Acme
let visitor: Visitor
let page: Page
beforeAll(async () => {
  dashboard = await openDashboard()
  acme = await makeAcme(dashboard)
  dashboard.api.ledger.clock.advance(60_000)
  visitor = await dashboard.visitAs(acme.owner, { javaScriptEnabled: false })
  page = visitor.page
  await page.getByRole('heading', { name: 'Home' }).waitFor()
})
afterAll(async () => {
  await visitor.close()
  await dashboard.close()
})

/** A page with a form: what is typed into its fields by their names (nothing: its button is pressed), and what the next page says. */
const forms: [page: string, typed: Record<string, string>, then: RegExp][] = [
  ['new-product', { name: 'Acme Paint', keyTypeName: 'Solo' }, /Acme Paint was created/],
  ['new-product', { name: 'Other', keyTypeName: 'Solo', deviceLimit: 'many' }, /Devices.*whole number/],
  ['edit-product', { name: 'Acme Editor 5' }, /Acme Editor 5/],
  ['new-key-type', { keyTypeName: 'Studio', deviceLimit: '5' }, /Studio was/],
  ['edit-key-type', { deviceLimit: '4' }, /Save this key type\?.* live licenses keep/],
  ['new-license', { email: 'dorothy@example.com' }, /shown only|License key/],
  ['new-customer', { email: 'dorothy@example.com', name: 'Dorothy' }, /Dorothy/],
  ['edit-customer', { name: 'Northwind' }, /Northwind/],
  ['suspend-license', { reason: 'unpaid' }, /Denied: suspended on .*: unpaid/],
  ['edit-license', { deviceLimit: '7', reason: 'a favor' }, /Edited: a favor/],
  ['new-webhook', { url: 'https://public.example.com/hook' }, /public\.example\.com/],
  ['new-token', { name: 'CI' }, /shown only/],
  ['new-member', { email: 'no-address' }, /Enter a valid email address/],
  ['new-member', { email: 'joan@acme.example' }, /The link works once/],
  ['gumroad', {}, /Ping URL.* shown only once/],
  ['new-replay', {}, /running|finished/],
]

test.each(forms)('%s is sent: %j', async (name, typed, then) => {
  await page.goto(acme.paths[name] ?? '')
  for (const [field, value] of Object.entries(typed)) await page.locator(`main [name="${field}"]`).fill(value)
  // The browser's own check would keep back what the server should refuse.
  await page.evaluate('for (const form of document.forms) form.noValidate = true')
  const last = Object.keys(typed).at(-1)
  const control = last === undefined ? 'form[method=post] button' : `[name="${last}"]`
  const loaded = page.waitForEvent('load')
  await page.locator(`main ${control}`).last().press('Enter')
  await loaded
  expect(((await page.locator('main').textContent()) ?? '').replaceAll(/\s+/g, ' ')).toMatch(then)
  expect(visitor.problems).toStrictEqual([])
})
