/** Guarantee: the repository has few pictures: those that a page of the documentation shows. */
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { shown } from '../../infra/build/gallery.ts'

test('docs/pictures has the pictures that `npm run pictures` copies there, and the drawing of the README', () => {
  const names = Object.keys(shown).map((name) => `${name}.png`)
  expect(names.length).toBeLessThanOrEqual(8)
  const found = readdirSync(new URL('../../docs/pictures', import.meta.url))
  expect(found.toSorted()).toStrictEqual([...names, 'flow.svg'].toSorted())
})
