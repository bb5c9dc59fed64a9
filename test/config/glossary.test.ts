// Guarantee: the glossary has at most 70 terms, each explained once, and every path that it names exists.
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)
const page = readFileSync(new URL('docs/concepts/glossary.md', root), 'utf8')
/** The rows of the tables, as term, meaning and path. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, term = '', meaning = '', place = '']) => ({ term, meaning, place }))
  .filter(({ term }) => term !== 'term' && !term.startsWith('---'))

test('there are at most 70 terms, and none twice', () => {
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.length).toBeLessThanOrEqual(70)
  expect(new Set(rows.map(({ term }) => term)).size).toBe(rows.length)
})

test.each(rows)('$term has one sentence and a path that exists', ({ meaning, place }) => {
  expect(meaning).toMatch(/^[^.]+\.$/)
  const path = /^`([^`]+)`$/.exec(place)?.[1] ?? ''
  expect(path).not.toBe('')
  expect({ path, exists: existsSync(new URL(path, root)) }).toStrictEqual({ path, exists: true })
})
