/**
 * Guarantee: the client in C# passes all vectors, grants nothing for arbitrary bytes, and passes through the same states as the client in
 * JavaScript when both are run through the same steps against a real server.
 */
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import type { DotnetProgram } from '../../harness/dotnet.ts'
import { temporaryDirectory } from '../../harness/ledger.ts'
import { buildChecks } from './csharp.ts'
import { testStories } from './matrix.ts'
import { goThroughProxy } from './proxied.ts'
import { countVectors, vectors } from './published.ts'
import { closeStage, openStage, type Stage } from './stage.ts'

const directory = temporaryDirectory()
let built: DotnetProgram | string
beforeAll(async () => {
  built = await buildChecks()
})
afterAll(() => {
  if (typeof built !== 'string') built.remove()
  rmSync(directory, { recursive: true })
})

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => closeStage(stage))

/** Skips the test where the program cannot be built. */
function program(context: TestContext): DotnetProgram {
  if (typeof built === 'string') context.skip(built)
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

  test('passes its own checks of calls', async (context) => {
    expect(await run(program(context), 'calls')).toMatch(/^[1-9]\d* checks passed\n$/)
  })

  test('passes the same as Unity takes it', async (context) => {
    program(context)
    const unity = await buildChecks('netstandard2.0')
    if (typeof unity === 'string') throw new Error(unity)
    const told = [await run(unity, 'vectors', vectors), await run(unity, 'calls')]
    unity.remove()
    expect(told).toStrictEqual([`${countVectors()} passed, 0 failed\n`, await run(program(context), 'calls')])
  })

  test('has its first state from what another process has stored', async (context) => {
    const file = join(directory, 'license.json')
    const words = (await run(program(context), 'store', vectors, file)).trim().split(' ')
    const [tenant = '', product = '', at = ''] = words
    const told = await run(program(context), 'start', tenant, product, file, at)
    expect(told).toMatch(/^(Licensed after [\d.]+ ms\n){3}$/)
    await context.annotate(told)
  })

  const storyProgram = (context: TestContext) => {
    const { path, environment } = program(context)
    return { language: 'csharp', path: 'dotnet', words: [path, 'story'], environment }
  }
  testStories('C#', () => stage, storyProgram)

  test('goes through the proxy that its environment names', async (context) => {
    await goThroughProxy(stage, storyProgram(context))
  })
})
