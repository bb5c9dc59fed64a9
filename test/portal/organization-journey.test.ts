/**
 * Guarantee: in a browser, a buyer becomes the administrator of an organization and invites three people, of whom one signs in on a phone
 * and leaves; another one is made an administrator, and removes a third. Every page of it is accessible in light, dark and on a phone.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mailInvitations } from '../../src/reactions/invitations.ts'
import { launchBrowser } from '../harness/chromium.ts'
import { freePort } from '../harness/process.ts'
import { waitMs } from '../harness/time-limits.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { linkIn, openTestPortal, type TestPortal } from './customer.ts'
import { checkLooks } from './looks.ts'

let portal: TestPortal
let browser: Browser
let address: string
beforeAll(async () => {
  const port = await freePort()
  address = `http://localhost:${port}`
  portal = await openTestPortal({ baseUrl: address })
  await portal.api.app.listen({ port, host: 'localhost' })
  browser = await launchBrowser()
  await makeProduct(portal.api.ask, portal.tenant.token, 'editor', {
    keyTypes: [{ name: 'Team', deviceLimit: 30 }],
  })
})
afterAll(async () => {
  await browser.close()
  await portal.close()
})

const problems: string[] = []

async function open(width: number): Promise<Page> {
  const viewport = { width, height: 760 }
  const context = await browser.newContext({ baseURL: address, viewport, locale: 'en-GB' })
  const page = await context.newPage()
  page.setDefaultTimeout(waitMs)
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  return page
}

/** Signs in by the link that is mailed to the address, on the page that an invitation leads to. */
async function signIn(page: Page, email: string): Promise<void> {
  const before = portal.mailsTo(email).length
  await page.goto(`${portal.home}/sign-in`)
  await page.getByLabel('Email address').fill(email)
  await page.keyboard.press('Enter')
  await expect.poll(() => portal.mailsTo(email).length).toBe(before + 1)
  await page.goto(linkIn(portal.mailsTo(email).at(-1)?.raw ?? ''))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Your licenses' }).waitFor()
}

test('buyer, organization, three invitations; one leaves, one is made an administrator, one is removed', async () => {
  const { api, tenant } = portal
  const { token } = tenant
  const bought = await mint(api.ask, token, 'editor', { email: 'buyer@studio.example', name: 'Studio North' })
  const { body } = await api.ask('GET', `/v1/licenses/${bought.id}`, { token })
  const { customerId } = (body as { license: { customerId: string } }).license
  await api.ask('POST', `/v1/customers/${customerId}/organization`, { token })

  const buyer = await open(1024)
  await signIn(buyer, 'buyer@studio.example')
  await checkLooks(buyer, 'licenses-of-organization')
  await buyer.getByRole('link', { name: 'People of Studio North' }).click()
  await buyer.getByLabel('Email address').fill('one@studio.example')
  await buyer.getByLabel('Name').fill('One')
  await buyer.getByRole('button', { name: 'Invite' }).click()
  await buyer.getByText('The invitations are on their way.').waitFor()
  await buyer.getByRole('link', { name: 'Invite from a list' }).click()
  await checkLooks(buyer, 'people-list')
  await buyer.getByRole('textbox', { name: 'List' }).fill('two@studio.example;Two\nthree@studio.example')
  await buyer.getByRole('button', { name: 'Invite all' }).click()
  await buyer.getByText('three@studio.example').waitFor()
  await checkLooks(buyer, 'people')
  await mailInvitations(api.ledger.ports, { baseUrl: address, onFailure: () => undefined }).poll()
  for (const name of ['one', 'two', 'three']) expect(portal.mailsTo(`${name}@studio.example`)).toHaveLength(1)

  const one = await open(320)
  await signIn(one, 'one@studio.example')
  await one.getByRole('link', { name: 'Acme Editor' }).click()
  await one.getByText('0 of 30 devices').waitFor()
  await one.getByRole('link', { name: 'All licenses' }).click()
  await one.getByRole('link', { name: 'People of Studio North' }).click()
  await checkLooks(one, 'people-of-member')
  await one.getByRole('link', { name: 'Leave' }).click()
  await checkLooks(one, 'leave')
  await one.getByRole('button', { name: 'Leave' }).click()
  await one.getByRole('heading', { name: 'No licenses' }).waitFor()

  await buyer.getByRole('link', { name: 'Change: Two' }).click()
  await checkLooks(buyer, 'person')
  await buyer.getByLabel('Administrator').check()
  await buyer.getByRole('button', { name: 'Save' }).click()
  await buyer.getByText('The role was changed.').waitFor()
  const two = await open(1024)
  await signIn(two, 'two@studio.example')
  await two.getByRole('link', { name: 'People of Studio North' }).click()
  await two.getByRole('link', { name: 'Change: three@studio.example' }).click()
  await two.getByRole('link', { name: 'Remove' }).click()
  await checkLooks(two, 'remove-person')
  await two.getByRole('button', { name: 'Remove' }).click()
  await two.getByText('They were removed.').waitFor()
  await two.getByRole('link', { name: 'What was done' }).click()
  await two.getByText('three@studio.example was removed').waitFor()
  await two.getByText('One was removed').waitFor()
  await checkLooks(two, 'acts')
  expect(problems).toStrictEqual([])
})
