/**
 * Guarantee: a support person who only knows a customer's email address finds why an activation was refused
 * yesterday, and downloads the evidence: in a real browser, with the keyboard alone.
 */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeProduct, mint } from '../http/samples.ts'
import { openDashboard, signIn, type TestDashboard } from './dashboard.ts'
import type { TestMember } from './members.ts'

let dashboard: TestDashboard
let support: TestMember
let licenseId: string
/** In the format of a time field. */
let refusedAt: string

const inDay = 86_400_000

beforeAll(async () => {
  dashboard = await openDashboard()
  const { api, tenant } = dashboard
  const { token } = tenant
  await makeProduct(api.ask, token, 'editor', { keyTypes: [{ name: 'Pro', deviceLimit: 2 }] })
  for (const email of ['ada@example.com', 'grace@example.com', 'ada@example.com']) {
    const license = await mint(api.ask, token, 'editor', { email })
    const activate = (device_id: string, name: string) =>
      api.ask('POST', '/v1/licenses/activate', {
        token,
        body: { product_id: 'editor', license_key: license.licenseKey, device_id, name },
      })
    await activate('laptop', 'MacBook')
    api.ledger.clock.advance(60_000)
    await activate('desk', 'Studio PC')
    api.ledger.clock.advance(60_000)
    refusedAt = api.ledger.clock.now().toISOString()
    expect((await activate('phone', 'Pocket')).body).toMatchObject({ status: 'seat_limit_reached' })
    api.ledger.clock.advance(60_000)
    await api.ask('POST', '/v1/licenses/deactivate', {
      token,
      body: { product_id: 'editor', license_key: license.licenseKey, device_id: 'laptop' },
    })
    licenseId = license.id
  }
  api.ledger.clock.advance(inDay)
  support = await dashboard.member('support')
})
afterAll(() => dashboard.close())

/** Presses the tab key until an element is reached, as without a mouse. */
async function tabTo(page: Page, role: keyof typeof kinds, name: RegExp) {
  for (let steps = 0; steps < 120; steps++) {
    await page.keyboard.press('Tab')
    const label = String(
      await page.evaluate(
        `(() => { const it = document.activeElement; const of = it.labels?.[0] ?? it
           return [it.tagName, it.type ?? '', it.ariaLabel ?? of.textContent].join(' ') })()`,
      ),
    )
    if (kinds[role].test(label) && name.test(label)) return
  }
  throw new Error(`no ${role} ${name} is reached by the keyboard on ${page.url()}`)
}
const kinds = {
  link: /^A /,
  button: /^BUTTON /,
  textbox: /^INPUT text /,
  summary: /^SUMMARY /,
  slider: /^INPUT range /,
  field: /^INPUT /,
} as const

test('an email address leads to the reason of a refusal, and to the evidence, by the keyboard alone', async () => {
  const { page, problems, close } = await dashboard.visit()
  await page.goto('/dashboard')
  await signIn(page, support)
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  const { keyboard } = page

  await tabTo(page, 'textbox', /Find a license/)
  await keyboard.type('ada@example.com')
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Licenses' }).waitFor()
  expect(page.url()).not.toContain('ada')
  // The newest one is first.
  await tabTo(page, 'link', /…/)
  await keyboard.press('Enter')
  await page.getByText('Would it validate now?').waitFor()
  expect(page.url()).toContain(licenseId)

  await tabTo(page, 'textbox', /Device ID/)
  await keyboard.type('phone')
  await keyboard.press('Enter')
  await page.getByText('Could phone be activated now?').waitFor()
  await tabTo(page, 'summary', /Point in time/)
  await keyboard.press('Enter')
  await tabTo(page, 'slider', /After event/)
  await keyboard.press('ArrowLeft')
  const reason = 'Denied: 2 of 2 seats are in use; seat 1 taken by “MacBook” on'
  await page.getByText(reason).waitFor()
  expect(page.url()).toMatch(/asOf=2/)
  expect(page.url()).toContain('device=phone')

  // The time at which the customer saw it.
  await tabTo(page, 'field', /Time \(UTC\)/)
  for (const keys of typed(refusedAt)) {
    await keyboard.type(keys)
    await keyboard.press(keys.length === 8 ? 'Tab' : 'Enter')
  }
  await page.waitForURL(/asOf=2026/)
  await page.getByText(reason).waitFor()
  await page.getByText('2 of 2 in use').waitFor()

  await page.locator('main').focus()
  await tabTo(page, 'link', /Download evidence/)
  const taking = page.waitForEvent('download')
  await keyboard.press('Enter')
  const archive = await readFile(await (await taking).path())
  expect((await taking).suggestedFilename()).toBe(`evidence-${licenseId}.zip`)
  expect(archive.subarray(0, 2).toString()).toBe('PK')
  expect(problems).toStrictEqual([])
  await close()
})

/**
 * The day and the time as typed into Chromium's English field: the year needs a key to leave it, the other parts do
 * not.
 */
function typed(at: string): [day: string, time: string] {
  const [, year = '', month = '', day = '', hour = '', minute = '', second = ''] =
    /^(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)/.exec(at) ?? []
  const half = Number(hour) >= 12 ? 'P' : 'A'
  const twelve = String(Number(hour) % 12 || 12).padStart(2, '0')
  return [`${month}${day}${year}`, `${twelve}${minute}${second}${half}`]
}
