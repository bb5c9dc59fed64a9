// Guarantee: the glossary has at most 70 terms, each explained once, and every path that it names exists.
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { roles } from '../../src/app/roles.ts'

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

test.each(['concepts/glossary.md', 'operating/deploy.md', 'reference/host.md'])(
  'docs/%s names every role',
  (path) => {
    const text = readFileSync(new URL(`docs/${path}`, root), 'utf8')
    const line =
      text.split('\n').find((one) => one.startsWith('| role ') || one.startsWith('| `serve ')) ?? ''
    const table = text.slice(text.indexOf(line), text.indexOf('\n\n', text.indexOf(line)))
    expect(roles.filter((role) => !table.includes(role))).toStrictEqual([])
  },
)
