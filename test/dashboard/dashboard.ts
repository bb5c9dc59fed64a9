import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { launchBrowser } from '../harness/chromium.ts'
import { freePort } from '../harness/process.ts'
import { waitMs } from '../harness/time-limits.ts'
import { makeMember, type TestMember } from './members.ts'

export type Visitor = {
  page: Page
  /** Everything that the browser reported: policy violations, errors, failed requests. */
  problems: string[]
  close(): Promise<void>
}

export type TestDashboard = {
  api: TestApi
  tenant: TestTenant
  address: string
  browser: Browser
  member(role: Parameters<typeof makeMember>[2], of?: TestTenant): Promise<TestMember>
  /** Opens a browser without cookies. */
  visit(options?: BrowserContextOptions): Promise<Visitor>
  /** The same, signed in with a password. */
  visitAs(member: TestMember, options?: BrowserContextOptions): Promise<Visitor>
  close(): Promise<void>
}

/** The whole application, listening on its own stores, and a browser. */
export async function openDashboard(): Promise<TestDashboard> {
  const port = await freePort()
  const address = `http://localhost:${port}`
  const api = await openTestApi({ baseUrl: address })
  await api.app.listen({ port, host: 'localhost' })
  const browser = await launchBrowser()
  const tenant = await makeTenant(api.ledger)

  const dashboard: TestDashboard = {
    api,
    tenant,
    address,
    browser,
    member: (role, of = tenant) => makeMember(api.ledger, of.tenantId, role),
    async visit(options = {}) {
      const context = await browser.newContext({ baseURL: address, ...options })
      const page = await context.newPage()
      page.setDefaultTimeout(waitMs)
      return { page, problems: watch(page), close: () => context.close() }
    },
    async visitAs(member, options) {
      const visitor = await dashboard.visit(options)
      await visitor.page.goto('/dashboard')
      await signIn(visitor.page, member)
      return visitor
    },
    async close() {
      await browser.close()
      await api.close()
    },
  }
  return dashboard
}

function watch(page: Page): string[] {
  const problems: string[] = []
  page.on('console', (message) => {
    const expected = /Failed to load resource: the server responded with a status of 4\d\d/
    if (message.type() === 'error' && !expected.test(message.text())) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? ''
    if (why !== 'net::ERR_ABORTED') problems.push(`${request.url()}: ${why}`)
  })
  return problems
}

/** Fills in the open sign-in page. */
export async function signIn(page: Page, member: TestMember): Promise<void> {
  await page.getByLabel('Email').fill(member.email)
  await page.getByLabel('Password').fill(member.password)
  await page.getByLabel('Code', { exact: true }).fill(member.newCode())
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Fills in the open page that confirms the member's identity. */
export async function confirmIdentity(page: Page, member: TestMember): Promise<void> {
  await page.getByRole('heading', { name: 'Confirm your identity' }).waitFor()
  await page.getByLabel('Password').fill(member.password)
  await page.getByLabel('Code', { exact: true }).fill(member.newCode())
  await page.getByRole('button', { name: 'Confirm', exact: true }).click()
}
