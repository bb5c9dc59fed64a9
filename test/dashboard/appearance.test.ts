/**
 * Guarantee: every page that links lead to is accessible: axe finds no problem in light, dark or on a phone, nothing
 * overflows and no table is cut off on a phone, the account and the sign-out are always on the screen, the keyboard reaches every control, with a visible focus, and sends every form, and the
 * browser reports no error.
 *
 * `npm run pictures` saves each page.
 */
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestDispatch } from '../harness/dispatch.ts'
import { startNotary } from '../harness/notary.ts'
import { pictureFolder } from '../harness/pictures.ts'
import { type Acme, makeAcme } from './acme.ts'
import { clientOf } from './client.ts'
import { openDashboard, signIn, type TestDashboard } from './dashboard.ts'
import { readEveryPage, routeOf, sellAtAcme } from './every-page.ts'
import { tryKeyboard } from './keyboard.ts'

const pictures = pictureFolder('dashboard')

let dashboard: TestDashboard
let acme: Acme
let dispatch: TestDispatch
beforeAll(async () => {
  dashboard = await openDashboard()
  acme = await makeAcme(dashboard)
  dispatch = await sellAtAcme(dashboard.api, acme)
  const notary = startNotary(dashboard.api.ledger)
  await notary.upToDate()
  await notary.stop()
})
afterAll(async () => {
  await dispatch.stop()
  await dashboard.close()
})

/** Pictures are taken in light, and in other appearances of the pages that differ most. */
const picturesIn: Record<string, readonly string[]> = {
  dark: [
    'sign-in',
    'home',
    'approval',
    'license',
    'settings',
    'insights',
    'start',
    'stripe',
    'import',
    'refusals',
  ],
  phone: [
    'sign-in',
    'home',
    'approval',
    'licenses',
    'device-review',
    'member',
    'insights',
    'start',
    'stripe',
  ],
}

async function takePicture(page: Page, name: string, look: string): Promise<void> {
  if (!pictures || picturesIn[look]?.includes(name) === false) return
  if (look === 'light' && !acme.paths[name] && !beside.includes(name)) return
  await page.screenshot({ path: join(pictures, `${name}-${look}.png`), fullPage: true })
}

/** Pages without a link that a picture is taken of. */
const beside = ['sign-in', 'welcome', 'of-no-use', 'device-review', 'token-made', 'new-member-refused']

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** The document is the same in every appearance; these rules depend on its colors or on its layout. */
const rulesOf: Record<string, string[]> = {
  dark: ['color-contrast', 'link-in-text-block'],
  phone: ['target-size', 'scrollable-region-focusable'],
}

const found = async (page: Page, look: string) => {
  // Only frames, which no page has, need axe's own page.
  const axe = new AxeBuilder({ page }).setLegacyMode()
  const rules = rulesOf[look]
  const { violations } = await (rules ? axe.withRules(rules) : axe.withTags(tags)).analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
}

/** How far the page is wider than the window. */
const overflow = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')

/**
 * Texts in cells of tables that are cut off: beyond their cell, or beyond the window. The columns that only wide windows have are
 * no loss on a phone.
 */
const clipped = (page: Page) =>
  page.evaluate(`{
    const found = []
    for (const cell of document.querySelectorAll('td')) {
      if (!cell.checkVisibility()) continue
      const { left, right } = cell.getBoundingClientRect()
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
      while (texts.nextNode()) {
        const text = texts.currentNode
        const range = document.createRange()
        range.selectNodeContents(text)
        const isHidden = !text.parentElement.checkVisibility() || text.parentElement.closest('.unseen, pre')
        const isOut = [...range.getClientRects()].some(
          (one) => one.left < Math.max(left, 0) - 1 || one.right > Math.min(right, innerWidth) + 1,
        )
        if (isOut && !isHidden) found.push(text.data.trim())
      }
    }
    found
  }`)

/** Ids differ from run to run: all get the widest letters, so that an overflow occurs in every run. */
const widenIds = (page: Page) =>
  page.evaluate(`{
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
      const text = texts.currentNode
      text.data = text.data.replace(/(?<=\\b[a-z]{2,3}_)[0-9a-z]{26}\\b/g, 'm'.repeat(26))
    }
  }`)

const looks = [
  ['light', 'light', { width: 1280, height: 800 }],
  ['dark', 'dark', { width: 1280, height: 800 }],
  ['phone', 'light', { width: 320, height: 640 }],
] as const

describe('in light, in the dark and on a phone', () => {
  let page: Page
  let context: BrowserContext
  let problems: string[]
  beforeAll(async () => {
    dashboard.api.ledger.clock.advance(60_000)
    const visitor = await dashboard.visit({})
    page = visitor.page
    context = page.context()
    problems = visitor.problems
  })
  afterAll(() => context.close())

  /** Checks the open page in every appearance. */
  const check = async (name: string) => {
    for (const [look, colorScheme, viewport] of looks) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(viewport)
      // Ends color transitions. Waiting for them can take minutes, since a page that nothing draws does not advance them.
      await page.evaluate('document.getAnimations().forEach((one) => one.finish())')
      expect
        .soft({
          name,
          look,
          found: await found(page, look),
          overflow: await overflow(page),
          clipped: await clipped(page),
        })
        .toStrictEqual({ name, look, found: [], overflow: 0, clipped: [] })
      await takePicture(page, name, look)
    }
    await widenIds(page)
    expect
      .soft({ name, overflow: await overflow(page), clipped: await clipped(page) })
      .toStrictEqual({ name, overflow: 0, clipped: [] })
    const [[, , window]] = looks
    await page.setViewportSize(window)
    expect
      .soft({ name, ...(await tryKeyboard(page)) })
      .toStrictEqual({ name, missed: [], unseen: [], deaf: [] })
    expect.soft(problems.splice(0)).toStrictEqual([])
  }

  test('the pages before signing in', async () => {
    await page.goto('/dashboard')
    await check('sign-in')
    await page.goto(acme.welcome)
    await page.getByRole('img', { name: 'QR code' }).waitFor()
    await check('welcome')
    await page.goto('/dashboard/welcome/of-no-use')
    await check('of-no-use')
  })

  test('every page of an owner', async () => {
    await page.goto('/dashboard')
    await signIn(page, acme.owner)
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    const { api } = dashboard
    const member = clientOf(api.app)
    await member.signIn(acme.owner)
    const { pages, missed } = await readEveryPage(api.app, member, acme)
    expect(missed).toStrictEqual([])
    // One page of each route: others of a route are made of the same parts.
    const routes = new Set(Object.values(acme.paths).map(routeOf(api.app)))
    const others = pages.filter(({ route, text }) => {
      const isNew = !routes.has(route) && text.includes('<main')
      if (isNew) routes.add(route)
      return isNew
    })
    expect(others.length).toBeGreaterThan(5)
    for (const [name, path] of [
      ...Object.entries(acme.paths),
      ...others.map(({ path }) => [path, path] as const),
    ]) {
      await page.goto(path)
      // Any of the steps may be the next one, which is open; fields that are collapsed are checked, too.
      await page.evaluate(
        "document.querySelectorAll('.step details, form details').forEach((one) => { one.open = true })",
      )
      await check(name)
    }
  }, 1_200_000)

  test('what is shown once, and decisions', async () => {
    await page.goto('/dashboard/device')
    await page.getByLabel('Code').fill(acme.userCode)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Authorize' }).waitFor()
    await check('device-review')
    await page.goto('/dashboard/tokens/new')
    await page.getByLabel('Name').fill('CI')
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByLabel('Token', { exact: true }).waitFor()
    await check('token-made')
    await page.goto('/dashboard/members/new')
    await page.getByLabel('Email').fill('no address')
    // The browser would report it.
    await page.evaluate("document.querySelector('form.sheet').noValidate = true")
    await page.getByRole('button', { name: 'Add and create link' }).click()
    await page.getByText('Enter a valid email address.').waitFor()
    await check('new-member-refused')
  })
})

test.each([
  [1280, 720],
  [1280, 420],
  [390, 844],
  [320, 640],
])(
  'the account and the sign-out are on a screen of %i × %i, with the menu collapsed',
  async (width, height) => {
    const { page, close } = await dashboard.visitAs(acme.owner, { viewport: { width, height } })
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    for (const control of [
      page.getByRole('link', { name: acme.owner.email }),
      page.getByRole('button', { name: 'Sign out' }),
    ]) {
      const box = await control.boundingBox()
      expect(box?.y).toBeGreaterThanOrEqual(0)
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(height)
      // It is covered by nothing: the pointer reaches it without scrolling.
      const [x, y] = [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2]
      const reached = await page.evaluate(
        `document.elementFromPoint(${x}, ${y}).closest('a, button').textContent`,
      )
      expect(String(reached).trim()).toBe(((await control.textContent()) ?? '').trim())
    }
    await close()
  },
)

test('the keyboard reaches the content first and every link, with a visible focus', async () => {
  const { page, close } = await dashboard.visitAs(acme.auditor, { viewport: { width: 1280, height: 800 } })
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await page.keyboard.press('Tab')
  const skip = page.getByRole('link', { name: 'Skip to content' })
  expect(await page.evaluate('document.activeElement.className')).toBe('skip')
  expect((await skip.boundingBox())?.y).toBeGreaterThanOrEqual(0)
  const reached = new Set<string>()
  for (let steps = 0; steps < 40; steps++) {
    await page.keyboard.press('Tab')
    const focused = String(await page.evaluate('document.activeElement.textContent.trim()'))
    const outline = String(await page.evaluate('getComputedStyle(document.activeElement).outlineWidth'))
    if (reached.has(focused)) break
    if (focused !== '') expect({ focused, outline }).toStrictEqual({ focused, outline: '3px' })
    reached.add(focused)
  }
  for (const name of ['Home', 'Approvals', 'Licenses', 'API tokens', 'Settings', 'Sign out'])
    expect([...reached]).toContain(name)
  await skip.focus()
  await page.keyboard.press('Enter')
  expect(await page.evaluate('document.activeElement.id')).toBe('content')
  await close()
})
