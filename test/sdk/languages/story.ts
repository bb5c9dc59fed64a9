/**
 * A story that is told to a client in another language and to the client in JavaScript at the same time: both run through the same
 * steps against a real server, over a network with the same faults, and are to pass through the same states.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'vitest'
import { z } from 'zod'
import { type Client, createClient, type Outcome } from '../../../src/sdk/javascript/app/index.ts'
import { fileStorage } from '../../../src/sdk/javascript/node/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { commandLicense } from '../../harness/ledger.ts'
import { sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'
import { impatientClock } from '../asking.ts'
import { type BadNetwork, type Fault, startBadNetwork } from '../bad-network.ts'

/** A program that takes a step in each line of its input, as JSON, and prints a line with what it has led to. */
export type StoryProgram = { language: string; path: string; words: string[]; environment: NodeJS.ProcessEnv }

/** The server and the network of a story. */
export type Stage = { api: TestApi; tenant: TestTenant; network: BadNetwork; sdkKey: string }

type Step = { do: string; text?: string | undefined; now: number }
type Told = Record<string, unknown>
type App = { step(step: Step): Promise<Told>; end(): void }

/** Opens a server with the products of the story. */
export async function openStage(): Promise<Stage> {
  const api = await openTestApi()
  const tenant = await makeTenant(api.ledger)
  const sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  const keyTypes = [
    { name: 'Pro', keyTypeId: 'pro', deviceLimit: 2, entitlements: ['pro'] },
    { name: 'One', keyTypeId: 'one', deviceLimit: 1, entitlements: ['one'] },
  ]
  await makeProduct(api.ask, tenant.token, 'editor', { trialDurationDays: 14, keyTypes })
  const address = await api.app.listen({ port: 0, host: '127.0.0.1' })
  return { api, tenant, sdkKey, network: await startBadNetwork(address, async () => undefined) }
}

/** Closes what {@link openStage} has opened. */
export async function closeStage({ network, api }: Stage): Promise<void> {
  await network.close()
  await api.close()
}

const withoutNothing = (told: object): Told => JSON.parse(JSON.stringify(told)) as Told
const optionsOf = ({ network, tenant, sdkKey }: Stage, language: string) => ({
  baseUrl: network.url,
  tenantId: tenant.tenantId,
  productId: 'editor',
  sdkKey,
  machineHash: `hash-of-the-machine-${language}`,
})

function javascript(stage: Stage, storage: string): App {
  let now = 0
  let client: Client
  const open = () =>
    createClient({
      ...optionsOf(stage, 'js'),
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

function other(stage: Stage, program: StoryProgram, storage: string): App {
  const { language, path, words, environment } = program
  const running = spawn(path, words, { stdio: ['pipe', 'pipe', 'inherit'], env: environment })
  const lines = createInterface({ input: running.stdout })[Symbol.asyncIterator]()
  return {
    async step(step) {
      running.stdin.write(`${JSON.stringify({ ...optionsOf(stage, language), storage, ...step })}\n`)
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

/** Tells the story, and expects of both clients the same answers, states and file modes. */
export async function tellStory(stage: Stage, program: StoryProgram): Promise<void> {
  const { api, tenant, network, sdkKey } = stage
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const storages = ['js', program.language].map((language) => join(directory, `${language}.json`))
  const [jsStorage = '', otherStorage = ''] = storages
  const apps = [javascript(stage, jsStorage), other(stage, program, otherStorage)]
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
    const [ofJavascript, ofOther] = told
    expect({ what, ...ofOther }).toStrictEqual({ what, ...ofJavascript })
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
