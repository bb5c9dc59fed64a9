import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildJavascript } from '../../infra/build/javascript.ts'

const root = join(import.meta.dirname, '../..')

/** Makes a project with the examples, in which the SDK is installed as its package has it. */
export async function installExamples(project: string): Promise<void> {
  const installed = join(project, 'node_modules/@keyledger/client')
  mkdirSync(installed, { recursive: true })
  await buildJavascript(installed)
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  cpSync(join(root, 'docs/examples'), join(project, 'examples'), {
    recursive: true,
    filter: (path) => !path.includes('node_modules'),
  })
}
