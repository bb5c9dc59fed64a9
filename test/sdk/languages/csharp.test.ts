/**
 * Guarantee: the client in C# passes all vectors, grants nothing for arbitrary bytes, and passes through the same states as the client in
 * JavaScript when both are run through the same steps against a real server.
 */
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { z } from 'zod'
import { type Client, createClient, type Outcome } from '../../../src/sdk/javascript/app/index.ts'
import { fileStorage } from '../../../src/sdk/javascript/node/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { buildDotnet, type DotnetProgram } from '../../harness/dotnet.ts'
import { commandLicense } from '../../harness/ledger.ts'
import { sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'
import { impatientClock } from '../asking.ts'
import { type BadNetwork, type Fault, startBadNetwork } from '../bad-network.ts'

const root = join(import.meta.dirname, '../../..')
const vectors = join(root, 'docs/reference/vectors')
const name = 'Keyledger.Client.Checks'
let built: DotnetProgram | string
beforeAll(async () => {
  built = await buildDotnet(join(root, `src/sdk/csharp/checks/${name}.csproj`), name)
})
afterAll(() => {
  if (typeof built !== 'string') built.remove()
})

/** Skips the test where the program cannot be built. */
function program(context: TestContext): DotnetProgram {
  if (typeof built === 'string') context.skip(`The client in C# is tested with the .NET SDK: ${built}`)
  return built as DotnetProgram
}
const run = async ({ path, environment }: DotnetProgram, ...words: string[]): Promise<string> =>
  (await promisify(execFile)('dotnet', [path, ...words], { env: environment })).stdout

describe('the client in C#', () => {
  test('passes every vector but those of webhooks', async (context) => {
    const Cases = z.object({ cases: z.array(z.unknown()), readings: z.array(z.unknown()).default([]) })
    const files = readdirSync(vectors).filter((file) => file.endsWith('.json') && file !== 'webhooks.json')
    const counts = files.map((file) => Cases.parse(JSON.parse(readFileSync(join(vectors, file), 'utf8'))))
    const expected = counts.reduce((sum, { cases, readings }) => sum + cases.length + readings.length, 0)
    expect(await run(program(context), 'vectors', vectors)).toBe(`${expected} passed, 0 failed\n`)
  })

  test('reads arbitrary bytes without a failure, and grants nothing for them', async (context) => {
    expect(await run(program(context), 'fuzz', vectors, '3', '1')).toMatch(
      /^[1-9]\d* texts read, 0 failed\n$/,
    )
  })

  test('passes through the states of the client in JavaScript', (context) => story(program(context)))
})

let api: TestApi
let tenant: TestTenant
let network: BadNetwork
let sdkKey: string
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  const keyTypes = [
    { name: 'Pro', keyTypeId: 'pro', deviceLimit: 2, entitlements: ['pro'] },
    { name: 'One', keyTypeId: 'one', deviceLimit: 1, entitlements: ['one'] },
  ]
  await makeProduct(api.ask, tenant.token, 'editor', { trialDurationDays: 14, keyTypes })
  network = await startBadNetwork(await api.app.listen({ port: 0, host: '127.0.0.1' }), async () => undefined)
})
afterAll(async () => {
  await network.close()
  await api.close()
})

type Step = { do: string; text?: string | undefined; now: number }
type Told = Record<string, unknown>
type App = { step(step: Step): Promise<Told>; end(): void }

const withoutNothing = (told: object): Told => JSON.parse(JSON.stringify(told)) as Told
const optionsOf = (language: string) => ({
  baseUrl: network.url,
  tenantId: tenant.tenantId,
  productId: 'editor',
  sdkKey,
  machineHash: `hash-of-the-machine-${language}`,
})

function javascript(storage: string): App {
  let now = 0
  let client: Client
  const open = () =>
    createClient({
      ...optionsOf('js'),
      storage: fileStorage(storage),
      clock: impatientClock(() => now),
    })
  const calls: Record<string, (text: string) => Promise<Outcome>> = {
    activate: (text) => client.activate(text),
    validate: () => client.validate(),
    startTrial: () => client.startTrial(),
    deactivate: () => client.deactivate(),
  }
  return {
    async step({ do: what, text = '', now: at }) {
      now = at
      if (what === 'open') {
        client = open()
        return withoutNothing({ before: client.state() })
      }
      if (what === 'look') return withoutNothing({ state: client.state() })
      const outcome = await calls[what]?.(text)
      if (!outcome) throw new Error(`${what} is no step`)
      return withoutNothing({
        problem: outcome.ok ? undefined : outcome.problem.code,
        state: client.state(),
      })
    },
    end: () => undefined,
  }
}

function csharp({ path, environment }: DotnetProgram, storage: string): App {
  const running = spawn('dotnet', [path, 'story'], { stdio: ['pipe', 'pipe', 'inherit'], env: environment })
  const lines = createInterface({ input: running.stdout })[Symbol.asyncIterator]()
  return {
    async step(step) {
      running.stdin.write(`${JSON.stringify({ ...optionsOf('csharp'), storage, ...step })}\n`)
      const { value } = await lines.next()
      const told = z.record(z.string(), z.unknown()).parse(JSON.parse(String(value)))
      return step.do === 'open' ? { before: told.before } : told
    },
    end: () => running.stdin.end(),
  }
}

const expected = [
  ['open', 'opened'],
  ['validate', 'unlicensed'],
  ['startTrial', 'trial'],
  ['activate', 'licensed'],
  ['validate', 'licensed'],
  ['activate', 'seat_limit_reached'],
  ['validate', 'not_genuine'],
  ['validate', 'rate_limited'],
  ['validate', 'rate_limited'],
  ['validate', 'licensed'],
  ['open', 'opened'],
  ['validate', 'offline'],
  ['look', 'offline'],
  ['validate', 'offline'],
  ['validate', 'revoked'],
  ['activate', 'licensed'],
  ['deactivate', 'trial'],
]

async function story(client: DotnetProgram) {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const storages = ['js', 'csharp'].map((language) => join(directory, `${language}.json`))
  const [jsStorage = '', csharpStorage = ''] = storages
  const apps = [javascript(jsStorage), csharp(client, csharpStorage)]
  const seen: unknown[] = []
  const skew = { ms: 0 }
  /** Both do the same, each with a license of its own, and with the same faults of the network. */
  async function both(
    what: string,
    texts: readonly (string | undefined)[] = [],
    faults: readonly Fault[] = [],
  ) {
    const told: Told[] = []
    for (const [index, app] of apps.entries()) {
      network.faults = [...faults]
      const now = api.ledger.clock.now().getTime() + skew.ms
      told.push(await app.step({ do: what, text: texts[index], now }))
    }
    network.faults = []
    const [ofJavascript, ofCsharp] = told
    expect({ what, ...ofCsharp }).toStrictEqual({ what, ...ofJavascript })
    const state = ofJavascript?.state as { status?: string } | undefined
    seen.push([what, ofJavascript?.problem ?? state?.status ?? 'opened'])
  }
  const minted = async (keyTypeId: string) =>
    Promise.all([1, 2].map(() => mint(api.ask, tenant.token, 'editor', { keyTypeId })))
  const keysOf = (licenses: { licenseKey: string }[]) => licenses.map(({ licenseKey }) => licenseKey)
  const three = (fault: Fault) => [fault, fault, fault]

  await both('open')
  await both('validate')
  await both('startTrial')
  const licenses = await minted('pro')
  await both('activate', keysOf(licenses))
  await both('validate')
  const full = await minted('one')
  for (const licenseKey of keysOf(full))
    await api.ask('POST', `/${tenant.tenantId}/editor/activate`, {
      headers: { 'x-service-sdk-key': sdkKey },
      body: { license_key: licenseKey, instance_name: 'Another', free_tier_instance_id: licenseKey },
    })
  await both('activate', keysOf(full))
  await both('validate', [], three({ kind: 'page', status: 200 }))
  await both('validate', [], [{ kind: 'busy', status: 429, retryAfter: '60' }])
  await both('validate')
  api.ledger.clock.advance(61_000)
  await both('validate')
  await both('open')
  await both('validate', [], three({ kind: 'refused' }))
  skew.ms = -86_400_000
  await both('look')
  skew.ms = 0
  const at = api.ledger.clock.now().toISOString()
  for (const { id } of licenses)
    await commandLicense(api.ledger, id, { type: 'RevokeLicense', reason: null, at })
  await both('validate', [], three({ kind: 'refused' }))
  await both('validate')
  await both('activate', keysOf(await minted('one')))
  await both('deactivate')
  for (const app of apps) app.end()
  expect(seen).toStrictEqual(expected)
  expect(storages.map((storage) => statSync(storage).mode & 0o777)).toStrictEqual([0o600, 0o600])
  rmSync(directory, { recursive: true })
}
