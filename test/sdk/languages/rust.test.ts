/**
 * Guarantee: the client in Rust passes all vectors, grants nothing for arbitrary bytes, and passes through the same states as the client in
 * JavaScript when both are run through the same steps against a real server. It is built with the oldest Rust that it names.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { type Crate, openCrate } from '../../harness/cargo.ts'
import { testStories } from './matrix.ts'
import { countVectors } from './published.ts'
import { closeStage, openStage, type Stage } from './stage.ts'

const root = join(import.meta.dirname, '../../..')
const crates = [
  'data-encoding-2.3.2',
  'ring-0.16.20',
  'serde_json-1.0.87',
  'unicode-normalization-0.1.22',
  'ureq-2.6.2',
]
const packages = [
  ...[
    'cargo',
    'rustc',
    'gcc',
    'perl',
    'librust-data-encoding-dev',
    'librust-ring-dev',
    'librust-serde-json-dev',
  ],
  ...['librust-indexmap-dev', 'librust-unicode-normalization-dev', 'librust-ureq-dev'],
]
let opened: Crate | string
beforeAll(async () => {
  opened = openCrate(root, 'src/sdk/rust', crates, packages)
  if (typeof opened !== 'string') await opened.cargo('test', '--no-run')
})
afterAll(() => {
  if (typeof opened !== 'string') opened.remove()
})

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => closeStage(stage))

/** Skips the test where the crate cannot be built. */
function crate(context: TestContext): Crate {
  if (typeof opened === 'string') context.skip(`The client in Rust is tested with Debian's crates: ${opened}`)
  return opened as Crate
}

describe('the client in Rust', () => {
  test('passes every vector but those of webhooks, and those of Wycheproof', async (context) => {
    const told = await crate(context).cargo('test', '--lib', 'vectors', '--', '--nocapture')
    expect(told).toContain(`${countVectors()} passed, 0 failed\n`)
    expect(told).toMatch(/test result: ok\. 2 passed/)
  })

  test('passes its own tests, and reads arbitrary bytes without a failure', async (context) => {
    const told = await crate(context).cargo('test', '--', '--nocapture')
    expect(told).toMatch(/^[1-9]\d* texts read, 0 failed$/m)
  })

  test('is built without its transport', async (context) => {
    await crate(context).cargo('test', '--no-default-features', '--lib', '--', 'machine')
  })

  testStories(
    'Rust',
    () => stage,
    (context) => {
      const { target, environment } = crate(context)
      return { language: 'rust', path: join(target, 'debug/examples/story'), words: [], environment }
    },
  )
})
