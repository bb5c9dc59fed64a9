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
type StoryProgram = { language: string; path: string; words: string[]; environment: NodeJS.ProcessEnv }

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
  const floatingSeats = {
    seatSeconds: 600,
    overdraft: null,
    scope: 'device',
    maxBorrowDays: 20,
    maxBorrowed: 1,
  }
  const keyTypes = [
    { name: 'Pro', keyTypeId: 'pro', deviceLimit: 2, entitlements: ['pro'] },
    { name: 'One', keyTypeId: 'one', deviceLimit: 1, entitlements: ['one'] },
    { name: 'Mill', keyTypeId: 'mill', deviceLimit: 1, offlineFiles: { maxDays: 30, perSeatPerYear: 4 } },
    { name: 'Team', keyTypeId: 'team', deviceLimit: 1, seatPolicy: 'floating', floatingSeats },
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
    importLicense: (text) => client.importLicense(text),
    borrow: (text) => client.borrow(Number(text)),
    close: () => client.close(),
  }
  const carried: Record<string, (text: string) => Promise<{ text: string } | undefined>> = {
    request: (text) => client.createOfflineRequest(text),
    release: () => client.release(),
  }
  return {
    async step({ do: what, text = '', now: at }) {
      now = at
      if (what === 'open') {
        client = open()
        return withoutNothing({ before: client.state() })
      }
      if (what === 'look') return withoutNothing({ state: client.state() })
      if (carried[what])
        return withoutNothing({ text: (await carried[what](text))?.text, state: client.state() })
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

type Both = {
  /** Both do the same, each with a text of its own, and with the same faults of the network. @returns what they gave out */
  both(what: string, texts?: readonly (string | undefined)[], faults?: readonly Fault[]): Promise<string[]>
  /** What was done, and what it has led to: a problem or a status. */
  seen: unknown[]
  /** How much the clocks of the devices are ahead. */
  skew: { ms: number }
  end(): void
}

/** What both have to tell alike: texts to carry are signed with keys of their own, and seats end by the clock of the database. */
function comparable({ text, state, ...told }: Told, isTimed: boolean): Told {
  const { until: _, ...timeless } = { ...(state as object) } as Told
  const shown = state === undefined ? {} : { state: isTimed ? state : timeless }
  return { ...told, ...shown, ...(text === undefined ? {} : { text: 'a text' }) }
}

function openBoth(stage: Stage, program: StoryProgram, directory: string, isTimed = true): Both {
  const { api, network } = stage
  const apps = [
    javascript(stage, join(directory, 'js.json')),
    other(stage, program, join(directory, `${program.language}.json`)),
  ]
  const seen: unknown[] = []
  const skew = { ms: 0 }
  return {
    async both(what, texts = [], faults = []) {
      const told: Told[] = []
      for (const [index, app] of apps.entries()) {
        network.faults = [...faults]
        const now = api.ledger.clock.now().getTime() + skew.ms
        told.push(await app.step({ do: what, text: texts[index], now }))
      }
      network.faults = []
      const [ofJavascript = {}, ofOther = {}] = told
      expect({ what, ...comparable(ofOther, isTimed) }).toStrictEqual({
        what,
        ...comparable(ofJavascript, isTimed),
      })
      const state = ofJavascript.state as { status?: string } | undefined
      seen.push([what, ofJavascript.problem ?? state?.status ?? 'opened'])
      return told.map(({ text }) => String(text))
    },
    ...{ seen, skew },
    end: () => {
      for (const app of apps) app.end()
    },
  }
}

const minted = ({ api, tenant }: Stage, keyTypeId: string) =>
  Promise.all([1, 2].map(() => mint(api.ask, tenant.token, 'editor', { keyTypeId })))
const keysOf = (licenses: readonly { licenseKey: string }[]) => licenses.map(({ licenseKey }) => licenseKey)

/** Tells a story of a license, and expects of both clients the same answers, states and file modes. */
async function tellStory(stage: Stage, program: StoryProgram): Promise<void> {
  const { api, tenant, sdkKey } = stage
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const { both, seen, skew, end } = openBoth(stage, program, directory)
  const three = (fault: Fault) => [fault, fault, fault]

  await both('open')
  await both('validate')
  await both('startTrial')
  const licenses = await minted(stage, 'pro')
  await both('activate', keysOf(licenses))
  await both('validate')
  const full = await minted(stage, 'one')
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
  await both('activate', keysOf(await minted(stage, 'one')))
  await both('deactivate')
  end()
  expect(seen).toStrictEqual([
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
  ])
  const modes = ['js', program.language].map((name) => statSync(join(directory, `${name}.json`)).mode & 0o777)
  expect(modes).toStrictEqual([0o600, 0o600])
  rmSync(directory, { recursive: true })
}

/** Tells a story of a license file, which is asked for, taken and given back, and expects the same of both clients. */
async function tellFileStory(stage: Stage, program: StoryProgram): Promise<void> {
  const { api, tenant } = stage
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const { both, seen, end } = openBoth(stage, program, directory)
  const licenses = await minted(stage, 'mill')
  const post = async (index: number, path: string, body: object) => {
    const { token } = tenant
    const answer = await api.ask('POST', `/v1/licenses/${licenses[index]?.id}/${path}`, { token, body })
    return z.object({ file: z.string().optional() }).parse(answer.body).file
  }
  const filesFor = (requests: readonly string[]) =>
    Promise.all(requests.map((request, index) => post(index, 'files', { request })))

  await both('open')
  await both('activate', keysOf(licenses))
  api.ledger.clock.advance(1000)
  const files = await filesFor(await both('request', keysOf(licenses)))
  await both('importLicense', [...files].reverse())
  await both('importLicense', files)
  await both('deactivate')
  await both('open')
  const releases = await both('release')
  expect(await both('release')).toStrictEqual(releases)
  for (const [index, release] of releases.entries()) await post(index, 'files/release', { release })
  await both('importLicense', files)
  await both('activate', keysOf(licenses))
  end()
  expect(seen).toStrictEqual([
    ['open', 'opened'],
    ['activate', 'licensed'],
    ['request', 'licensed'],
    ['importLicense', 'another_device'],
    ['importLicense', 'licensed'],
    ['deactivate', 'has_file'],
    ['open', 'opened'],
    ['release', 'unlicensed'],
    ['release', 'unlicensed'],
    ['importLicense', 'outdated'],
    ['activate', 'licensed'],
  ])
  rmSync(directory, { recursive: true })
}

/** Tells a story of a floating seat, which is given back, taken again and borrowed, and expects the same of both clients. */
async function tellSeatStory(stage: Stage, program: StoryProgram): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const { both, seen, end } = openBoth(stage, program, directory, false)
  const licenses = await minted(stage, 'team')
  // Seats end by the clock of the database.
  stage.api.ledger.clock.set(new Date().toISOString())

  await both('open')
  await both('activate', keysOf(licenses))
  await both('validate')
  await both('close')
  await both('validate')
  await both('borrow', ['86400', '86400'])
  await both('validate', [], [{ kind: 'refused' }, { kind: 'refused' }, { kind: 'refused' }])
  await both('deactivate')
  await both('activate', keysOf(licenses))
  end()
  expect(seen).toStrictEqual([
    ['open', 'opened'],
    ['activate', 'licensed'],
    ['validate', 'licensed'],
    ['close', 'unlicensed'],
    ['validate', 'licensed'],
    ['borrow', 'licensed'],
    ['validate', 'offline'],
    ['deactivate', 'unlicensed'],
    ['activate', 'licensed'],
  ])
  rmSync(directory, { recursive: true })
}

/** The stories by what they are of. */
export const stories = [
  ['a license', tellStory],
  ['a license file', tellFileStory],
  ['a floating seat', tellSeatStory],
] as const
