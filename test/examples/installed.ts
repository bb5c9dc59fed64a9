import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeDescribed } from '../../infra/build/sdk-operations.ts'

const root = join(import.meta.dirname, '../..')

/** Makes a project with the examples, in which the SDK is installed as the package has it. */
export async function installExamples(project: string): Promise<void> {
  const installed = join(project, 'node_modules/keyledger')
  mkdirSync(installed, { recursive: true })
  cpSync(join(root, 'package.json'), join(installed, 'package.json'))
  for (const config of ['src/sdk/tsconfig.json', 'src/sdk/node/tsconfig.json']) {
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const args = [compiler, '--project', join(root, config), '--outDir', join(installed, 'dist/sdk')]
    execFileSync(process.execPath, args, { stdio: 'inherit' })
  }
  await writeDescribed(join(root, 'test/http/openapi.snapshot.json'), join(installed, 'dist/sdk/server'))
  symlinkSync(join(root, 'node_modules/@noble'), join(project, 'node_modules/@noble'))
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  cpSync(join(root, 'docs/examples'), join(project, 'examples'), { recursive: true })
}
