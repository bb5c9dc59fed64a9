/**
 * Guarantee: from an empty installation, in a browser: the owner signs in with the printed link, sets up what is sold and
 * connects their own Stripe account; a customer pays, is mailed the key and uses it on two devices; the third is refused;
 * support finds out why, frees a seat, and the third device works.
 *
 * `npm run pictures` saves each step under docs/pictures/journey/.
 */
import { Secret, TOTP } from 'otpauth'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser } from '../harness/chromium.ts'
import { startMailServer } from '../harness/mail-server.ts'
import { createHost, type Server } from '../harness/process.ts'
import { type ProviderStandIns, startProviders } from '../harness/providers.ts'
import { waitMs } from '../harness/time-limits.ts'
import { takePictures } from './camera.ts'
import { activateApp, openCheckout, pay, stripeSecret, validateApp } from './customer.ts'

const host = createHost()
const apiKey = 'rk_live_of_the_account'

let server: Server
let browser: Browser
let standIns: ProviderStandIns
let mails: Awaited<ReturnType<typeof startMailServer>>
beforeAll(async () => {
  standIns = await startProviders()
  standIns.stripe.keys.add(apiKey)
  const product = { name: 'Acme Editor Pro', active: true }
  standIns.stripe.prices.set('price_1QeKx2', { owner: apiKey, unit_amount: 4900, product })
  mails = await startMailServer()
  server = await host.serve(
    {
      KEYLEDGER_DATA_DIR: host.path('data'),
      KEYLEDGER_STRIPE_API_URL: standIns.stripe.url,
      KEYLEDGER_SMTP_URL: mails.url,
      KEYLEDGER_MAIL_FROM: 'keys@acme.example',
    },
    // The address is in the pictures.
    process.env.KEYLEDGER_PICTURES === undefined ? {} : { port: 8080 },
  )
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser.close()
  await standIns.close()
  await mails.stop()
})

async function visit(): Promise<Page> {
  const viewport = { width: 1120, height: 760 }
  const context = await browser.newContext({ baseURL: server.address, viewport, timezoneId: 'UTC' })
  const page = await context.newPage()
  page.setDefaultTimeout(waitMs)
  return page
}

/** Opens a one-time link, and sets up a password with an authenticator app. */
async function setUp(page: Page, link: string): Promise<void> {
  await page.goto(link)
  await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
  const secret = ((await page.locator('form code').textContent()) ?? '').replaceAll(' ', '')
  await page.getByLabel('New password').fill('correct horse battery staple')
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
  await page.getByLabel('Code', { exact: true }).fill(code)
  await page.getByRole('button', { name: 'Set up password' }).click()
  await page.getByRole('heading', { name: 'Home' }).waitFor()
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click()
const shown = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor()
const secretOn = (page: Page) => page.locator('#secret').inputValue()

test('from the first start to a customer whose third device works', async () => {
  const owner = await visit()
  const link = /^ {2}(http\S+\/dashboard\/welcome\/\S+)$/m
  await expect.poll(() => server.stdout()).toMatch(link)
  const [, printed = ''] = link.exec(server.stdout()) ?? []
  await setUp(owner, printed)
  await takePictures(owner, 'first-home')
  await owner.getByLabel('Name', { exact: true }).fill('Acme Tools')
  await press(owner, 'Save name')
  await owner.locator('.workspace', { hasText: 'Acme Tools' }).waitFor()

  await owner.goto('/dashboard/new-product')
  await owner.getByLabel('Name', { exact: true }).first().fill('Acme Editor')
  await owner.locator('[name=keyTypeName]').fill('Pro')
  await owner.getByLabel('Devices', { exact: true }).fill('2')
  await takePictures(owner, 'new-product')
  await press(owner, 'Create product')
  await owner.waitForURL(/products\/acme-editor/)

  await owner.goto('/dashboard/integrations/stripe')
  await owner.getByLabel('Signing secret').fill(stripeSecret)
  await owner.getByLabel('Restricted key', { exact: true }).fill(apiKey)
  await takePictures(owner, 'connect-stripe')
  await press(owner, 'Connect')
  await owner.getByRole('link', { name: /Choose from the prices/ }).click()
  await owner.getByLabel('Price', { exact: true }).selectOption('price_1QeKx2')
  await owner.getByLabel('Is sold as').selectOption('acme-editor/pro')
  await takePictures(owner, 'choose-price')
  await press(owner, 'Map')
  await owner.waitForURL(/integrations\/stripe/)

  await owner.goto('/dashboard/start')
  await press(owner, 'Run test purchase')

  await shown(owner, /Test purchase of .*: succeeded/)
  await owner.goto('/dashboard/start')
  await owner.getByText('Make a test purchase').click()
  await takePictures(owner, 'test-purchase')

  await owner.goto('/dashboard/settings/checkout-key')
  await press(owner, 'Create key')
  const checkoutKey = await secretOn(owner)
  await owner.goto('/dashboard/settings/sdk-key')
  await press(owner, 'Create key')
  const sdkKey = await secretOn(owner)

  const { address } = server
  expect(await openCheckout({ address, checkoutKey })).toMatch(/^https:\/\/checkout\.stripe\.com\//)
  expect(await pay(address, standIns.stripe)).toBe(200)
  const licenseKey = await keyMailedTo('grace@northwind.example')
  await owner.goto('/dashboard/sales')
  await owner.locator('main table a').first().click()
  await shown(owner, /Email delivered|Email/)
  await takePictures(owner, 'sale')

  const app = { address, sdkKey, licenseKey }
  const first = await activateApp(app, 'Studio PC')
  expect(first.status).toBe(200)
  expect((await validateApp(app, String(first.body.instance_id))).body).toMatchObject({ valid: true })
  expect((await activateApp(app, 'MacBook')).status).toBe(200)
  expect((await activateApp(app, 'Travel laptop')).status).toBe(422)

  await owner.goto('/dashboard/members/new')
  await owner.getByLabel('Email').fill('linus@acme.example')
  await owner.getByRole('radio', { name: 'support' }).check()
  await press(owner, 'Add and create link')
  const invitation = await secretOn(owner)

  const support = await visit()
  await setUp(support, invitation)
  await expect.poll(() => refusalsOnHome(support)).toBe(1)
  await takePictures(support, 'home-of-support')
  await support.keyboard.press('/')
  await support.keyboard.type(licenseKey)
  await support.keyboard.press('Enter')
  await shown(support, 'Would it validate now?')
  expect(support.url()).not.toContain(licenseKey)
  await shown(support, /Travel laptop/)
  await takePictures(support, 'license')
  await support.getByRole('link', { name: 'Free the seat of Studio PC' }).click()
  await support.getByLabel('Reason').fill('Sold the old computer')
  await takePictures(support, 'free-seat')
  await press(support, 'Free seat')
  await shown(support, 'Would it validate now?')

  expect((await activateApp(app, 'Travel laptop')).status).toBe(200)
  await support.reload()
  await shown(support, /Travel laptop.* activated/)
}, 300_000)

async function refusalsOnHome(page: Page): Promise<number> {
  await page.goto('/dashboard')
  return page.getByText(/refused activation/).count()
}

/** The key in the mail to an address, once it is there. */
async function keyMailedTo(address: string): Promise<string> {
  const keys = () =>
    mails.taken
      .filter(({ to }) => to.includes(address))
      .flatMap(({ raw }) => /\bACME[A-Z]*(?:-[0-9A-Z]+){3,}/.exec(raw.replaceAll('=\r\n', ''))?.[0] ?? [])
  await expect.poll(() => keys().length).toBe(1)
  return keys()[0] ?? ''
}
