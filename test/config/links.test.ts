// Guarantee: every link between pages of the documentation leads to an existing file and heading.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]
const textOf = (page: string) => readFileSync(join(root, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (page: string) =>
  [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  )

/** The broken links of a page. */
function brokenLinksOf(page: string): string[] {
  return [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      if (!existsSync(join(root, file))) return true
      return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).includes(anchor)
    })
}

test('links lead to pages and headings that exist', () => {
  expect(pages.length).toBeGreaterThan(100)
  const broken = pages.flatMap((page) => brokenLinksOf(page).map((target) => `${page}: ${target}`))
  expect(broken).toStrictEqual([])
})
