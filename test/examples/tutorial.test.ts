/**
 * Guarantee: every snippet of the tutorial is in the example that it names, which another test runs, and the command
 * line and the Electron app are complete in it.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const snippets = globSync('docs/tutorial/*.md', { cwd: root }).flatMap((page) =>
  [...read(page).matchAll(/^```(\w*) ?(\S*)\n([\s\S]*?)^```$/gm)].map(
    ([, kind = '', file = '', text = '']) => ({
      page,
      kind,
      file,
      text,
    }),
  ),
)

test.each(snippets)('$page: a snippet of $file', ({ kind, file, text }) => {
  // Commands for a shell are run by the tests of the examples, with other keys.
  if (kind === 'sh') return
  expect(read(file)).toContain(text.trimEnd())
})

test.each([
  'docs/examples/cli-app/main.js',
  'docs/examples/offline-app/main.js',
  'docs/examples/floating-app/job.js',
  'docs/examples/floating-app/laptop.js',
  ...['licensing.js', 'protected-storage.js', 'main.js', 'preload.cjs', 'index.html', 'renderer.js'].map(
    (name) => `docs/examples/electron-app/${name}`,
  ),
])('%s is complete in the tutorial', (file) => {
  const told = snippets.filter((one) => one.file === file).map(({ text }) => text)
  expect(told.join('\n').replace(/\s+/g, ' ').trim()).toBe(read(file).replace(/\s+/g, ' ').trim())
})
