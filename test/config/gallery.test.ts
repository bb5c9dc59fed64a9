/** Guarantee: the page of pictures shows every picture there is, and no other. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { gallery } from '../../build/gallery.ts'

test('docs/pictures/README.md is as `npm run pictures` writes it', () => {
  const page = readFileSync(new URL('../../docs/pictures/README.md', import.meta.url), 'utf8')
  expect(page).toBe(gallery())
})
