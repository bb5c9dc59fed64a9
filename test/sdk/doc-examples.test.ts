/** Guarantee: every example in the documentation of the client for apps in JavaScript compiles, and each of its calls has one. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'src/sdk/javascript')
const text = readFileSync(join(folder, 'app/client.ts'), 'utf8')

const lines = (comment: string): string => comment.replace(/^ +\* ?/gm, '')
const examples = Array.from(text.matchAll(/@example\n\s+\* ```ts\n([\s\S]*?)\s+\* ```/g), ([, code = '']) =>
  lines(code),
)

test('each call has an example', () => {
  const [, body = ''] = /export type Client = \{\n([\s\S]*?)\n\}\n/.exec(text) ?? []
  const calls = Array.from(body.matchAll(/^ {2}(\w+)\(/gm), ([, name]) => name)
  expect(calls.length).toBeGreaterThan(15)
  expect(examples).toHaveLength(calls.length)
  for (const [index, name] of calls.entries()) expect(examples[index]).toContain(`client.${name}(`)
})

test('the examples compile', () => {
  const declared =
    "import type { Client } from './client.ts'\ndeclare const client: Client\ndeclare const pasted: string\n"
  const files = new Map(
    examples.map((code, index) => [
      join(folder, `app/example-${index}.ts`),
      `${declared}export async function example() {\n${code}}\n`,
    ]),
  )
  const { config } = ts.readConfigFile(join(folder, 'tsconfig.json'), ts.sys.readFile) as { config: unknown }
  const { options: own } = ts.parseJsonConfigFileContent(config, ts.sys, folder)
  const options = { ...own, noEmit: true }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (path) => files.has(path) || fileExists(path)
  host.getSourceFile = (path, ...more) => {
    const code = files.get(path)
    return code === undefined
      ? getSourceFile.call(host, path, ...more)
      : ts.createSourceFile(path, code, ts.ScriptTarget.ES2022)
  }
  const program = ts.createProgram([...files.keys()], options, host)
  const all = [...files.keys()].flatMap((path) => {
    const file = program.getSourceFile(path)
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
  })
  const found = all.map(({ file, messageText }) => ({
    file: file?.text ?? '',
    message: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }))
  expect(found).toStrictEqual([])
})
