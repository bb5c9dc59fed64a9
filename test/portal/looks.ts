import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { pictureFolder } from '../harness/pictures.ts'

const pictures = pictureFolder('portal')

const looks = [
  ['light', 'light', { width: 1024, height: 760 }],
  ['dark', 'dark', { width: 1024, height: 760 }],
  ['phone', 'light', { width: 320, height: 640 }],
] as const

/** The pages that the documentation shows, and in which looks. */
const shown: Record<string, readonly string[]> = {
  'sign-in': ['phone'],
  licenses: ['light'],
  license: ['light', 'dark', 'phone'],
  remove: ['phone'],
  people: ['light', 'phone'],
}

/** Checks that the open page is accessible, and not wider than the window. */
export async function checkPage(page: Page, name: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
  const overflow = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  expect.soft({ name, found, overflow }).toStrictEqual({ name, found: [], overflow: 0 })
}

/** Checks the open page in every appearance, and takes its picture. */
export async function checkLooks(page: Page, name: string): Promise<void> {
  for (const [look, colorScheme, viewport] of looks) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize(viewport)
    await checkPage(page, `${name}, ${look}`)
    if (pictures && shown[name]?.includes(look))
      await page.screenshot({ path: join(pictures, `${name}-${look}.png`), fullPage: true })
  }
}
