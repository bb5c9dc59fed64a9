/**
 * Guarantee: in a browser, a buyer becomes the administrator of an organization, invites three people and gives one of them the seat of the
 * license. That one signs in on a phone, uses the license and leaves, which frees the seat at once for another, who is made an
 * administrator, removes a third, and sees what is used and what was bought. Every page of it is accessible in light, dark and on a phone.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mailInvitations } from '../../src/reactions/invitations.ts'
import { receiveNotification } from '../../src/sales/receive.ts'
import { launchBrowser } from '../harness/chromium.ts'
import { waitMs } from '../harness/time-limits.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { purchase } from '../sales/notifications.ts'
import { linkIn, openListeningPortal, type TestPortal } from './customer.ts'
import { checkLooks } from './looks.ts'

let portal: TestPortal
let browser: Browser
let address: string
beforeAll(async () => {
  ;({ portal, address } = await openListeningPortal())
  browser = await launchBrowser()
  await makeProduct(portal.api.ask, portal.tenant.token, 'editor', {
    keyTypes: [
      {
        ...{ name: 'Team', deviceLimit: 1, seatPolicy: 'named' },
        namedSeats: { devicesPerPerson: 1, reassignEveryDays: 0 },
      },
    ],
  })
})
afterAll(async () => {
  await browser.close()
  await portal.close()
})

const notified = { requestId: 'req_notification', actor: 'provider:polar' }
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
  // The mail may come before the answer; who follows its link earlier leaves a page that is still loading.
  await page.getByRole('heading', { name: 'Check your inbox' }).waitFor()
  await expect.poll(() => portal.mailsTo(email).length).toBe(before + 1)
  await page.goto(linkIn(portal.mailsTo(email).at(-1)?.raw ?? ''))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Your licenses' }).waitFor()
}

/** On the page of a license of which the person has a seat. */
async function ownKey(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Show key' }).click()
  return (await page.locator('pre').textContent()) ?? ''
}

const runtime = async (call: 'activate' | 'validate', license_key: string, device_id: string) => {
  const body = { product_id: 'editor', license_key, device_id }
  return (await portal.api.ask('POST', `/v1/licenses/${call}`, { token: portal.tenant.token, body })).body
}

async function giveSeat(page: Page, person: string): Promise<void> {
  await page.goto(portal.home)
  await page.getByRole('link', { name: 'Acme Editor' }).click()
  await page.getByLabel('Person').selectOption({ label: person })
  await page.getByRole('button', { name: 'Give seat' }).click()
  await page.getByText('The seat was given.').waitFor()
}

test('buyer, organization, three invitations; one leaves, and the seat goes to another, who removes a third', async () => {
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

  await giveSeat(buyer, 'One')
  await checkLooks(buyer, 'license-with-people')
  const one = await open(320)
  await signIn(one, 'one@studio.example')
  await one.getByRole('link', { name: 'Acme Editor' }).click()
  await one.getByText('1 of 1 given to people').first().waitFor()
  await checkLooks(one, 'license-of-person')
  const key = await ownKey(one)
  await checkLooks(one, 'own-key')
  expect(await runtime('activate', key, 'phone')).toMatchObject({ activated: true })
  await one.getByRole('link', { name: 'Back to the license' }).click()
  await one.getByText('phone', { exact: true }).waitFor()
  await one.getByRole('link', { name: 'All licenses' }).click()
  await one.getByRole('link', { name: 'People of Studio North' }).click()
  await checkLooks(one, 'people-of-member')
  await one.getByRole('link', { name: 'Leave' }).click()
  await checkLooks(one, 'leave')
  await one.getByRole('button', { name: 'Leave' }).click()
  await one.getByRole('heading', { name: 'No licenses' }).waitFor()
  const gone = { valid: false, status: 'inactive', reason: 'assigned_to_another' }
  expect(await runtime('validate', key, 'phone')).toMatchObject(gone)
  await giveSeat(buyer, 'Two')
  await buyer.getByRole('link', { name: 'Take seat away: Two' }).click()
  await checkLooks(buyer, 'take-seat')
  await buyer.goto(`${portal.home}/organizations/${customerId}`)

  await buyer.getByRole('link', { name: 'Change: Two' }).click()
  await checkLooks(buyer, 'person')
  await buyer.getByLabel('Administrator').check()
  await buyer.getByRole('button', { name: 'Save' }).click()
  await buyer.getByText('The role was changed.').waitFor()
  const two = await open(1024)
  await signIn(two, 'two@studio.example')
  await two.getByRole('link', { name: 'Acme Editor' }).click()
  expect(await runtime('activate', await ownKey(two), 'desktop')).toMatchObject({ activated: true })
  await two.goto(portal.home)
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
  const organization = `${portal.home}/organizations/${customerId}`
  await two.goto(`${organization}/usage`)
  await two.getByText('1 of 1 given to people').waitFor()
  await checkLooks(two, 'usage')
  const sold = { orderNumber: 'ACME-0001', productName: 'Acme Editor', provider: 'polar' } as const
  const customer = { email: 'buyer@studio.example', name: 'Studio North' }
  const of = purchase('studio', { ...sold, customer })
  await receiveNotification(api.ledger.ports, tenant.tenantId, of.sold(), '{}', notified)
  await two.goto(organization)
  await two.getByRole('link', { name: 'Purchases' }).click()
  await two.getByText('ACME-0001').waitFor()
  await checkLooks(two, 'purchases')
  expect(problems).toStrictEqual([])
})
