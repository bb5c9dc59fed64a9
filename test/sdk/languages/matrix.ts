import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import type { StoryProgram } from './apps.ts'
import type { Stage } from './stage.ts'
import { chapters } from './stories/index.ts'
import { type Story, tellStory } from './tell.ts'

const page = join(import.meta.dirname, '../../../docs/reference/client-stories.md')
const languages = ['JavaScript', 'C#', 'C++', 'Rust', 'Swift'] as const
type Language = (typeof languages)[number]
const stories = chapters.flatMap(({ stories: told }) => told)

/**
 * Tells all stories to the client of a language, and expects the page of the stories to say what became of them.
 * @param programOf skips a test where the client cannot be built
 */
export function testStories(
  language: Language,
  stage: () => Stage,
  programOf?: (context: TestContext) => StoryProgram,
): void {
  const became = new Map<Story, readonly string[]>()
  test.for(stories)('passes through the states of a story: $name', async (story, context) => {
    became.set(story, await tellStory(story, stage(), programOf?.(context)))
  })

  test('the page of the stories says so', async (context) => {
    programOf?.(context)
    await expect(pageWith(language, became)).toMatchFileSnapshot(page)
  })
}

/** The page as it is, but for what became of the stories in this language. */
function pageWith(language: Language, became: ReadonlyMap<Story, readonly string[]>): string {
  const known = cellsIn(existsSync(page) ? readFileSync(page, 'utf8') : '')
  const row = (story: Story) => {
    const before = known.get(story.name) ?? []
    const cells = languages.map((each, index) => {
      const passed = each === language ? became.has(story) : before[index] === '✓'
      return passed ? '✓' : ''
    })
    return [story.name, (became.get(story) ?? []).join(', '), ...cells]
  }
  const tables = chapters.map(
    ({ title, stories: told }) =>
      `## ${title}\n\n${tableOf(['story', 'states', ...languages], told.map(row))}`,
  )
  return `${introduction}\n${tables.join('\n')}`
}

const introduction = `# Client stories

A story is a series of steps that a client takes against a real server, behind a proxy that delays, drops, doubles and alters answers. The client in JavaScript and one
in another language take the same steps, and both have to pass through the same states, with the same problems and notices. The rules that they follow are
in [client behavior](client-behavior.md). The stories stand in \`test/sdk/languages/stories\`. This page is written by the tests, which fail when it says something
else: \`npx vitest run test/sdk/languages --no-file-parallelism --update\`. A language without a mark was not run: there was no toolchain for it.
`

/** The cells of the languages, by story. */
function cellsIn(text: string): Map<string, string[]> {
  const rows = text.split('\n').filter((line) => line.startsWith('| '))
  return new Map(
    rows.map((line) => {
      const [name = '', , ...cells] = line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim())
      return [name, cells]
    }),
  )
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, index) =>
    // At least as wide as the check of formats wants it.
    Math.max(3, name.length, ...rows.map((row) => row[index]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |\n`
  return `${line(head)}| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |\n${rows.map(line).join('')}`
}
