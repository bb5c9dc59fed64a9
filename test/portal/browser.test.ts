/**
 * Guarantee: on a phone, with and without JavaScript, a person signs in by the mailed link and removes the device that
 * they lost. Every page is accessible in light, dark and on a phone, and the browser reports no error and no violation
 * of the content security policy.
 *
 * `npm run pictures` saves the pages.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sayIn } from '../../src/domain/portal/texts.ts'
import { createClient, memoryStorage } from '../../src/sdk/javascript/app/index.ts'
import type { Keyset } from '../../src/sdk/javascript/index.ts'
import { launchBrowser } from '../harness/chromium.ts'
import { waitMs } from '../harness/time-limits.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { linkIn, openListeningPortal, openPortalOf, type TestPortal } from './customer.ts'
import { checkLooks } from './looks.ts'

let portal: TestPortal
let browser: Browser
let address: string
beforeAll(async () => {
  ;({ portal, address } = await openListeningPortal())
  browser = await launchBrowser()
  await openPortalOf(portal.api.app, portal.tenant.token, { accentColor: '#4338ca' })
  await makeProduct(portal.api.ask, portal.tenant.token, 'editor', {
    keyTypes: [
      {
        ...{
          name: 'Pro',
          deviceLimit: 3,
          duration: { count: 1, unit: 'year' },
          entitlements: ['export', 'sync'],
        },
        meters: [{ meter: 'exports', unit: 'exports', included: '500', period: 'month', overage: 'block' }],
      },
    ],
    keyRecovery: true,
    customerKeyReplacement: true,
  })
})
afterAll(async () => {
  await browser.close()
  await portal.close()
})

/** A person with two devices on their license. */
async function makeAda(email: string): Promise<void> {
  const { token, tenantId } = portal.tenant
  const { licenseKey } = await mint(portal.api.ask, token, 'editor', { email, name: 'Ada Lovelace' })
  for (const name of ['MacBook Pro', 'Lost laptop']) {
    const body = { tenant_id: tenantId, product_id: 'editor', license_key: licenseKey, device_id: name, name }
    await portal.api.ask('POST', '/v1/licenses/activate', { token, body })
  }
  const use = { meter: 'exports', amount: '120', idempotency_key: 'first' }
  await portal.api.ask('POST', '/v1/licenses/consume', {
    token,
    body: { product_id: 'editor', license_key: licenseKey, ...use },
  })
}

async function open(javaScriptEnabled: boolean): Promise<{ page: Page; problems: string[] }> {
  const viewport = { width: 320, height: 640 }
  const context = await browser.newContext({ baseURL: address, javaScriptEnabled, viewport, locale: 'en-GB' })
  const page = await context.newPage()
  page.setDefaultTimeout(waitMs)
  const problems: string[] = []
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  return { page, problems }
}

/** Opens the link that was mailed to an address, once it has come. */
async function openMail(page: Page, email: string): Promise<void> {
  await expect.poll(() => portal.mailsTo(email)).toHaveLength(1)
  await page.goto(linkIn(portal.mailsTo(email)[0]?.raw ?? ''))
}

const german = sayIn('de', {})

describe.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('on a phone, %s', (_, javaScriptEnabled) => {
  test('a person signs in by the mailed link and removes a lost device', async () => {
    const email = javaScriptEnabled ? 'ada@example.com' : 'grace@example.com'
    await makeAda(email)
    const { page, problems } = await open(javaScriptEnabled)
    const look = async (name: string) => (javaScriptEnabled ? checkLooks(page, name) : undefined)
    await page.goto(portal.home)
    await look('sign-in')
    // Without the mouse: Enter sends the form.
    await page.getByLabel('Email address').fill(email)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Check your inbox' }).waitFor()
    await look('link-sent')
    await openMail(page, email)
    await look('link')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Your licenses' }).waitFor()
    await look('licenses')
    await page.getByRole('link', { name: 'Acme Editor' }).click()
    await page.getByText('2 of 3 devices').waitFor()
    await look('license')
    await page.getByRole('link', { name: 'Rename: MacBook Pro' }).click()
    await look('name')
    await page.getByLabel('Name of the device').fill('Work')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The name was saved.').waitFor()
    await page.getByRole('link', { name: 'Remove: Lost laptop' }).click()
    await look('remove')
    await page.getByRole('button', { name: 'Remove device' }).click()
    await page.getByText('The device was removed.').waitFor()
    await page.getByText('1 of 3 devices').waitFor()
    await page.getByRole('link', { name: 'Replace the key' }).click()
    await look('replace')
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByRole('link', { name: 'Deutsch' }).click()
    await page.getByText(german('seatsOf', { used: 1, limit: 3 })).waitFor()
    await look('license-german')
    await page.getByRole('button', { name: german('signOut') }).click()
    await page.getByRole('heading', { name: german('signInTitle') }).waitFor()
    expect(problems).toStrictEqual([])
    await page.context().close()
  })
})

test('a person who scanned the request of a machine signs in, and saves the license file that answers it', async () => {
  const { token, tenantId } = portal.tenant
  const offlineFiles = { maxDays: 90, perSeatPerYear: 2 }
  const keyTypes = [{ name: 'Pro', offlineFiles }]
  await makeProduct(portal.api.ask, token, 'mill', { keyTypes, customerFiles: true })
  const { licenseKey } = await mint(portal.api.ask, token, 'mill', { email: 'mill@example.com' })
  const mill = createClient({
    tenantId,
    productId: 'mill',
    keys: ((await portal.api.ask('GET', `/${tenantId}/.well-known/service-keys`)).body as Keyset).keys,
    storage: memoryStorage(),
    identity: () => ({ machineHash: 'a-hash-of-a-mill-000000' }),
    deviceName: 'Mill 3',
    clock: { now: () => portal.api.ledger.clock.now().getTime(), after: () => () => undefined },
  })
  const { page, problems } = await open(false)
  const request = await mill.createOfflineRequest(licenseKey)
  await page.goto(`${portal.home}/file?request=${encodeURIComponent(request.token)}`)
  await page.getByText('The text of your device is kept').waitFor()
  await page.getByLabel('Email address').fill('mill@example.com')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Check your inbox' }).waitFor()
  await openMail(page, 'mill@example.com')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'License file' }).waitFor()
  expect(await page.getByLabel('Text of the app').inputValue()).toBe(request.token)
  await page.getByRole('button', { name: 'Continue' }).click()
  const file = (await page.locator('pre.carried').textContent()) ?? ''
  expect(await mill.importLicense(file)).toMatchObject({ ok: true, state: { status: 'licensed' } })
  expect(problems).toStrictEqual([])
  await page.context().close()
})

test('a page that does not exist is accessible too', async () => {
  const { page } = await open(true)
  await page.goto('/portal/nobody')
  await checkLooks(page, 'not-found')
  await page.context().close()
})
