/** Guarantee: the reference of the command line names every command, and no table in the docs has lost a row to a line of dashes. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { allCommands, commandLine } from '../../src/cli/command-line.ts'

const root = join(import.meta.dirname, '../..')
const page = ['cli', 'host', 'host-ledger']
  .map((name) => readFileSync(join(root, `docs/reference/${name}.md`), 'utf8'))
  .join('\n')

function pathOf(command: Command): string {
  const names: string[] = []
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name())
  return names.join(' ')
}

/** The row of the table of commands that call a server, by its first word. */
const rowOf = (word: string): string =>
  page.split('\n').find((line) => line.split('|')[1]?.includes(`\`${word}\``)) ?? ''

const isNamed = (path: string): boolean => {
  const [word = '', ...rest] = path.split(' ')
  const last = rest.at(-1) ?? ''
  return (
    page.includes(`\`${path}\``) ||
    page.includes(`\`${path} `) ||
    page.includes(`keyledger ${path} `) ||
    rowOf(word).includes(`\`${rest.join(' ')}\``) ||
    (rest.length > 1 && rowOf(word).includes(`\`${last}\``))
  )
}

test('every command is in the reference', async () => {
  const leaves = allCommands(await commandLine()).filter(({ commands }) => commands.length === 0)
  expect(leaves.length).toBeGreaterThan(100)
  expect(leaves.map(pathOf).filter((path) => !isNamed(path))).toStrictEqual([])
})

test('only the second line of a table is a line of dashes', () => {
  const wrong = globSync(['docs/**/*.md', 'README.md'], { cwd: root }).flatMap((path) => {
    const lines = readFileSync(join(root, path), 'utf8').split('\n')
    return lines.flatMap((line, index) =>
      /^\|(?: *:?-{3,}:? *\|)+$/.test(line) && lines[index - 2]?.startsWith('|')
        ? [`${path}:${String(index + 1)}`]
        : [],
    )
  })
  expect(wrong).toStrictEqual([])
})
