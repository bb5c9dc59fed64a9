import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { pictureFolder } from '../harness/pictures.ts'

const folder = pictureFolder('journey')

/** What is below the greatest height is left out. */
const sizes = {
  desktop: { width: 1120, maxHeight: 1100 },
  phone: { width: 360, maxHeight: 780 },
} as const

let taken = 0

/** Under `npm run pictures` saves the open page in both sizes, under the number of the step and a name. */
export async function takePictures(page: Page, name: string): Promise<void> {
  taken++
  if (folder === undefined) return
  const before = page.viewportSize()
  for (const [look, { width, maxHeight }] of Object.entries(sizes)) {
    await page.setViewportSize({ width, height: 480 })
    const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
    await page.setViewportSize({ width, height: Math.min(height, maxHeight) })
    await page.evaluate('document.activeElement.blur(); scrollTo(0, 0)')
    await page.screenshot({ path: join(folder, `${String(taken).padStart(2, '0')}-${name}-${look}.png`) })
  }
  if (before) await page.setViewportSize(before)
}
