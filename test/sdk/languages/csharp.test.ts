/**
 * Guarantee: the client in C# passes all vectors, grants nothing for arbitrary bytes, and passes through the same states as the client in
 * JavaScript when both are run through the same steps against a real server.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { buildDotnet, type DotnetProgram } from '../../harness/dotnet.ts'
import { testStories } from './matrix.ts'
import { countVectors, vectors } from './published.ts'
import { closeStage, openStage, type Stage } from './stage.ts'

const root = join(import.meta.dirname, '../../..')
const name = 'Keyledger.Client.Checks'
let built: DotnetProgram | string
beforeAll(async () => {
  built = await buildDotnet(join(root, `src/sdk/csharp/checks/${name}.csproj`), name)
})
afterAll(() => {
  if (typeof built !== 'string') built.remove()
})

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => closeStage(stage))

/** Skips the test where the program cannot be built. */
function program(context: TestContext): DotnetProgram {
  if (typeof built === 'string') context.skip(`The client in C# is tested with the .NET SDK: ${built}`)
  return built as DotnetProgram
}
const run = async ({ path, environment }: DotnetProgram, ...words: string[]): Promise<string> =>
  (await promisify(execFile)('dotnet', [path, ...words], { env: environment })).stdout

describe('the client in C#', () => {
  test('passes every vector but those of webhooks', async (context) => {
    const told = await run(program(context), 'vectors', vectors)
    expect(told).toBe(`${countVectors()} passed, 0 failed\n`)
  })

  test('reads arbitrary bytes without a failure, and grants nothing for them', async (context) => {
    expect(await run(program(context), 'fuzz', vectors, '3', '1')).toMatch(
      /^[1-9]\d* texts read, 0 failed\n$/,
    )
  })

  testStories(
    'C#',
    () => stage,
    (context) => {
      const { path, environment } = program(context)
      return { language: 'csharp', path: 'dotnet', words: [path, 'story'], environment }
    },
  )
})
