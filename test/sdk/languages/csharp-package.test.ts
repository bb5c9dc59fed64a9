/**
 * Guarantee: the package of the C# client is what nuget.org takes, and names no path of the machine that made it. An app outside the
 * checkout takes it from a folder, is what its README shows, and keeps its license in a file that only its user can read. The examples in
 * the documentation of the client compile with it.
 */
import { execFile } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { hasDotnet, packNuget } from '../../../infra/build/nuget.ts'
import { buildDotnet, type DotnetProgram } from '../../harness/dotnet.ts'
import { temporaryDirectory } from '../../harness/ledger.ts'
import { closeStage, openStage, type Stage } from './stage.ts'

const client = join(import.meta.dirname, '../../../src/sdk/csharp')
const directory = temporaryDirectory()
const [outside, taken] = [join(directory, 'outside'), join(directory, 'taken')]

let app: DotnetProgram | string = 'install it (dotnet)'
let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  if (!hasDotnet()) return
  cpSync(join(client, 'examples'), outside, { recursive: true })
  writeFileSync(join(outside, 'DocExamples.cs'), docExamples())
  mkdirSync(join(outside, 'packages'))
  packNuget(join(outside, 'packages'))
  app = await buildDotnet(join(outside, 'App.csproj'), 'App', {
    // Otherwise an earlier package of the same version would be taken.
    NUGET_PACKAGES: taken,
    DOTNET_ROLL_FORWARD: 'Major',
  })
})
afterAll(async () => {
  await closeStage(stage)
  if (typeof app !== 'string') app.remove()
  rmSync(directory, { recursive: true, force: true })
})

/** A program of the examples in the documentation of the client, so that they are compiled with the app. */
function docExamples(): string {
  const sources = globSync('src/Keyledger.Client/**/*.cs', { cwd: client })
  const texts = sources.map((path) => readFileSync(join(client, path), 'utf8'))
  const examples = texts.flatMap((text) =>
    Array.from(
      text.matchAll(/\/\/\/ <example><code>\n([\s\S]*?)\/\/\/ <\/code><\/example>/g),
      ([, code = '']) => code.replace(/^ *\/\/\/ ?/gm, ''),
    ),
  )
  expect(examples.length).toBeGreaterThan(10)
  const given = ['LicenseClient client', 'IStorage storage', 'Uri address', 'string typedKey']
  const methods = examples.map((code, index) => {
    const needed = given.filter((one) => !code.includes(`var ${one.split(' ')[1]} `))
    return `static async Task Example${index}(${needed.join(', ')})\n{\n${code}await Task.Yield();\n}`
  })
  const ofApp = ['ShowExport()', 'ShowDevices()', 'RunTheApp()', 'Say(string words)']
  const declared = ofApp.map((method) => `static void ${method} { }`)
  return `using Keyledger.Client;\n\nstatic class DocExamples\n{\n${[...declared, ...methods].join('\n')}\n}\n`
}

/** Skips the test where the example cannot be built. */
function program(context: TestContext): DotnetProgram {
  if (typeof app === 'string')
    context.skip(`The package of the client in C# is tested with the .NET SDK: ${app}`)
  return app as DotnetProgram
}
const inPackage = (...path: string[]) => join(taken, 'keyledger.client/0.1.0', ...path)
const read = (...path: string[]) => readFileSync(inPackage(...path), 'utf8')

test('the package has the client with its documentation, the license and the README', (context) => {
  program(context)
  expect(readdirSync(join(outside, 'packages'))).toStrictEqual(['Keyledger.Client.0.1.0.nupkg'])
  expect(read('README.md')).toBe(readFileSync(join(client, 'README.md'), 'utf8'))
  expect(read('LICENSE')).toContain('Apache License')
  for (const part of ['id>Keyledger.Client<', 'license type="expression">Apache-2.0<', 'readme>README.md<'])
    expect(read('keyledger.client.nuspec')).toContain(`<${part}`)
  for (const framework of ['net8.0', 'netstandard2.0']) {
    expect(read('lib', framework, 'Keyledger.Client.xml')).toContain('LicenseClient.Activate')
    const compiled = readFileSync(inPackage('lib', framework, 'Keyledger.Client.dll'), 'latin1')
    expect(compiled).not.toContain('keyledger-package-')
  }
})

test('the client in the package is as small as its documentation says', (context) => {
  program(context)
  const { size } = statSync(inPackage('lib/net8.0/Keyledger.Client.dll'))
  const [, said] = /([\d.]+) MB of this client/.exec(readFileSync(join(client, 'README.md'), 'utf8')) ?? []
  expect(Math.abs(Number(said) - size / 1e6)).toBeLessThan(0.05)
})

test('the example of the README is built with the package, and runs', async (context) => {
  const { path, environment } = program(context)
  const readme = readFileSync(join(client, 'README.md'), 'utf8')
  for (const file of ['App.csproj', 'nuget.config', 'App.cs'])
    expect(readme).toContain(`\n${readFileSync(join(client, 'examples', file), 'utf8')}\`\`\`\n`)
  const env = { ...environment, HOME: directory, XDG_DATA_HOME: '' }
  const { stdout, stderr } = await promisify(execFile)('dotnet', [path, stage.network.url, 'ACME-1'], { env })
  expect(stderr).toMatch(/^misconfigured: /)
  expect(stdout).toMatch(/"status":"unlicensed".*\nExport needs a license\.\n$/)
  expect(statSync(join(directory, '.local/share/AcmeEditor/license.json')).mode & 0o777).toBe(0o600)
})
