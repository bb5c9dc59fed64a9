/**
 * Guarantee: in a browser, on a phone, a customer enters their address, signs in at the provider of their organization, and sees its
 * licenses; a logout at the provider ends the session here. Every page of it is accessible.
 */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser } from '../harness/chromium.ts'
import { openProvider, type TestProvider } from '../harness/openid-provider.ts'
import { addTestProvider, noRoles, organizationSettings } from '../harness/sign-in-providers.ts'
import { waitMs } from '../harness/time-limits.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { openListeningPortal, type TestPortal } from './customer.ts'
import { checkLooks } from './looks.ts'

let portal: TestPortal
let provider: TestProvider
let browser: Browser
let address: string
const at = () => `${portal.home}/sign-in/team`

beforeAll(async () => {
  ;({ portal, address } = await openListeningPortal())
  browser = await launchBrowser()
  const { ask, ledger } = portal.api
  const { token, tenantId } = portal.tenant
  await makeProduct(ask, token, 'editor')
  const customerId = await makeCustomer(ask, token, { email: 'buyer@acme.example', name: 'Acme Works' })
  await mint(ask, token, 'editor', { customerId, email: 'buyer@acme.example' })
  await ask('POST', `/v1/customers/${customerId}/organization`, { token })
  provider = await openProvider([`${address}${at()}/callback`])
  const ofTeam = { audience: { customerId }, settings: organizationSettings }
  await addTestProvider(ledger, tenantId, 'team', provider.issuer, ofTeam)
  const ofAll = { audience: { customerId: null }, settings: { ...noRoles, name: 'Example Account' } }
  await addTestProvider(ledger, tenantId, 'everyone', provider.issuer, ofAll)
})
afterAll(async () => {
  await browser.close()
  await provider.close()
  await portal.close()
})

test('a customer signs in at the provider of their organization, until it ends the session', async () => {
  const viewport = { width: 320, height: 640 }
  const context = await browser.newContext({ baseURL: address, viewport, locale: 'en-GB' })
  const page = await context.newPage()
  page.setDefaultTimeout(waitMs)
  const problems: string[] = []
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(portal.home)
  await page.getByRole('link', { name: 'Sign in with Example Account' }).waitFor()
  await checkLooks(page, 'sign-in-with-provider')
  await page.getByLabel('Email address').fill('ada@acme.example')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Sign in with Acme Login' }).waitFor()
  await page.getByRole('button', { name: 'Send a link instead' }).waitFor()
  await checkLooks(page, 'sign-in-by-domain')
  await page.getByRole('link', { name: 'Sign in with Acme Login' }).click()
  await page.getByRole('heading', { name: 'Your licenses' }).waitFor()
  await page.getByText('Signed in as ada@acme.example').waitFor()
  await page.getByRole('link', { name: 'Acme Editor' }).waitFor()
  await page.goto(`${provider.issuer}/session/end`)
  await page.getByRole('button', { name: /yes/i }).click()
  await expect
    .poll(async () => {
      await page.goto(portal.home)
      return page.getByRole('heading', { level: 1 }).textContent()
    })
    .toBe('Sign in')
  // The pages of the provider ask another site for a font.
  const own = problems.filter((problem) => !problem.includes('ERR_NAME_NOT_RESOLVED'))
  expect(own).toStrictEqual([])
  await context.close()
})
