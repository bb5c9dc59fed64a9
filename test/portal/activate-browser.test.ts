/** Guarantee: on a phone, a person opens the page of an app that waits, signs in, and chooses a license for it; each page is accessible. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { launchBrowser } from '../harness/chromium.ts'
import { waitMs } from '../harness/time-limits.ts'
import { sdkKeyOf } from '../http/apps.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { linkIn, openListeningPortal, type TestPortal } from './customer.ts'
import { checkLooks } from './looks.ts'

let portal: TestPortal
let address: string
beforeAll(async () => {
  ;({ portal, address } = await openListeningPortal())
  await makeProduct(portal.api.ask, portal.tenant.token, 'editor', { keyRecovery: true })
})
afterAll(() => portal.close())

test('from the address that the app opens to the license that it gets', async () => {
  const { api, tenant } = portal
  const email = 'ada@example.com'
  for (const _ of [1, 2]) await mint(api.ask, tenant.token, 'editor', { email })
  const headers = { 'x-service-sdk-key': await sdkKeyOf(api.ledger, tenant.tenantId) }
  const call = async (path: string, body: object) =>
    (await api.ask('POST', `/${tenant.tenantId}/editor/browser-activations${path}`, { headers, body })).body
  const { device_code, user_code, verification_uri_complete } = z
    .object({ device_code: z.string(), user_code: z.string(), verification_uri_complete: z.string() })
    .parse(await call('', { device_name: 'ada-laptop' }))

  const browser = await launchBrowser()
  try {
    const context = await browser.newContext({
      baseURL: address,
      viewport: { width: 320, height: 760 },
      locale: 'en-GB',
    })
    const page = await context.newPage()
    page.setDefaultTimeout(waitMs)
    await page.goto(verification_uri_complete)
    await page.getByText('The code of your app is kept').waitFor()
    await page.getByLabel('Email address').fill(email)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Check your inbox' }).waitFor()
    await expect.poll(() => portal.mailsTo(email).length).toBe(1)
    await page.goto(linkIn(portal.mailsTo(email)[0]?.raw ?? ''))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Activate an app' }).waitFor()
    expect(await page.getByLabel('Code').inputValue()).toBe(user_code.replace('-', ''))
    await checkLooks(page, 'activate-code')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Acme Editor on “ada-laptop”').waitFor()
    await page.getByText(user_code).waitFor()
    await checkLooks(page, 'activate-choose')
    await page.getByRole('radio').nth(1).check()
    await page.getByRole('button', { name: 'Activate' }).click()
    await page.getByText('Go back to “ada-laptop”').waitFor()
    await checkLooks(page, 'activate-done')
  } finally {
    await browser.close()
  }
  expect(await call('/poll', { device_code })).toMatchObject({ status: 'chosen' })
})
