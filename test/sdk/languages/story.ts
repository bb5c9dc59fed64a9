/**
 * Stories that are told to a client in another language and to the client in JavaScript at the same time: both run through the same
 * steps against a real server, over a network with the same faults, and are to pass through the same states.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'vitest'
import { z } from 'zod'
import { type Carried, type Client, createClient, type Outcome } from '../../../src/sdk/javascript/app/index.ts'
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
  const offlineFiles = { maxDays: 300, perSeatPerYear: 4 }
  const floatingSeats = { seatSeconds: 600, overdraft: null, scope: 'device', maxBorrowDays: 20, maxBorrowed: 1 }
  const keyTypes = [
    { name: 'Pro', keyTypeId: 'pro', deviceLimit: 2, entitlements: ['pro'] },
    { name: 'One', keyTypeId: 'one', deviceLimit: 1, entitlements: ['one'] },
    { name: 'File', keyTypeId: 'file', entitlements: ['file'], offlineFiles },
    { name: 'Lent', keyTypeId: 'lent', deviceLimit: 1, seatPolicy: 'floating', floatingSeats },
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
  const texts: Record<string, (text: string) => Promise<Carried | undefined>> = {
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
      const carry = texts[what]
      if (carry) {
        const carried = await carry(text)
        return withoutNothing({ text: carried?.text, state: client.state() })
      }
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

/** What both clients do in a step, each with a text of its own, and with the same faults of the network. */
type Both = (
  what: string,
  texts?: readonly (string | undefined)[],
  faults?: readonly Fault[],
) => Promise<(string | undefined)[]>
/** A step of both; how much the clocks of the devices are set forward; and new licenses, one for each client. */
type Telling = { both: Both; skew: { ms: number }; minted: (keyTypeId: string) => Promise<Minted[]> }
type Minted = { id: string; licenseKey: string }

/**
 * Opens both clients, tells them a story, and expects of both the same answers, states and file modes.
 * @returns each step with the problem or the state that it has led to
 */
async function tell(stage: Stage, program: StoryProgram, story: (telling: Telling) => Promise<void>) {
  const { api, tenant, network } = stage
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const storages = ['js', program.language].map((language) => join(directory, `${language}.json`))
  const [jsStorage = '', otherStorage = ''] = storages
  const apps = [javascript(stage, jsStorage), other(stage, program, otherStorage)]
  const seen: unknown[] = []
  const skew = { ms: 0 }
  const both: Both = async (what, texts = [], faults = []) => {
    const told: Told[] = []
    for (const [index, app] of apps.entries()) {
      network.faults = [...faults]
      const now = api.ledger.clock.now().getTime() + skew.ms
      told.push(await app.step({ do: what, text: texts[index], now }))
    }
    network.faults = []
    const carried = told.map(({ text }) => z.string().optional().parse(text))
    // Each client signs a text of its own.
    const [ofJavascript, ofOther] = told.map((one) => ('text' in one ? { ...one, text: 'carried' } : one))
    expect({ what, ...ofOther }).toStrictEqual({ what, ...ofJavascript })
    const state = ofJavascript?.state as { status?: string } | undefined
    seen.push([what, ofJavascript?.problem ?? state?.status ?? 'opened'])
    return carried
  }
  const minted = async (keyTypeId: string): Promise<Minted[]> =>
    Promise.all([1, 2].map(() => mint(api.ask, tenant.token, 'editor', { keyTypeId })))
  await story({ both, skew, minted })
  for (const app of apps) app.end()
  expect(storages.map((storage) => statSync(storage).mode & 0o777)).toStrictEqual([0o600, 0o600])
  rmSync(directory, { recursive: true })
  return seen
}

const keysOf = (licenses: Minted[]) => licenses.map(({ licenseKey }) => licenseKey)
const three = (fault: Fault) => [fault, fault, fault]

/** A story of leases: a trial, a license, faults of the network, a revocation, and another license that is given back. */
export async function tellStory(stage: Stage, program: StoryProgram): Promise<void> {
  const { api, tenant, sdkKey } = stage
  const seen = await tell(stage, program, async ({ both, skew, minted }) => {
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
  })
  expect(seen).toStrictEqual(expected)
}

const expectedOfFiles = [
  ['open', 'opened'],
  ['request', 'unlicensed'],
  ['importLicense', 'malformed'],
  ['importLicense', 'another_device'],
  ['importLicense', 'licensed'],
  ['importLicense', 'licensed'],
  ['open', 'opened'],
  ['look', 'starting'],
  ['validate', 'licensed'],
  ['deactivate', 'has_file'],
  ['request', 'licensed'],
  ['importLicense', 'licensed'],
  ['importLicense', 'licensed'],
  ['look', 'expired'],
  ['look', 'expired'],
  ['release', 'unlicensed'],
  ['importLicense', 'outdated'],
]

/** A story of license files: what is carried, what is refused, and what is given back. */
export async function tellOfFiles(stage: Stage, program: StoryProgram): Promise<void> {
  const { api, tenant } = stage
  const seen = await tell(stage, program, async ({ both, skew, minted }) => {
    const licenses = await minted('file')
    /** Carries a text of each client to its license. @returns what it is answered under this name */
    const carried = async (texts: (string | undefined)[], path: string, body: string, answer: string) => {
      const answers: string[] = []
      for (const [index, { id }] of licenses.entries()) {
        const { status, body: said } = await api.ask('POST', `/v1/licenses/${id}/${path}`, {
          token: tenant.token,
          body: { [body]: texts[index] },
        })
        expect(status, JSON.stringify(said)).toBeLessThan(300)
        answers.push(String((said as Record<string, unknown>)[answer]))
      }
      return answers
    }
    await both('open')
    const earlier = await both('request', keysOf(licenses))
    const files = await carried(earlier, 'files', 'request', 'file')
    await both('importLicense', ['no license file', 'no license file'])
    await both('importLicense', files.toReversed())
    await both('importLicense', files)
    await both('importLicense', files)
    await both('open')
    await both('look')
    await both('validate')
    await both('deactivate')
    const next = await both('request', keysOf(licenses))
    api.ledger.clock.advance(86_400_000)
    const later = await carried(next, 'files', 'request', 'file')
    await both('importLicense', files)
    await both('importLicense', later)
    skew.ms = 400 * 86_400_000
    await both('look')
    skew.ms = 0
    await both('look')
    const given = await both('release')
    await carried(given, 'files/release', 'release', 'freed')
    await both('importLicense', later)
  })
  expect(seen).toStrictEqual(expectedOfFiles)
}

const expectedOfLentSeat = [
  ['open', 'opened'],
  ['activate', 'licensed'],
  ['close', 'unlicensed'],
  ['validate', 'licensed'],
  ['borrow', 'licensed'],
  ['validate', 'offline'],
  ['deactivate', 'unlicensed'],
  ['release', 'unlicensed'],
]

/** A story of a floating seat: given back, taken again, and lent for a time without a network. */
export async function tellOfLentSeat(stage: Stage, program: StoryProgram): Promise<void> {
  const seen = await tell(stage, program, async ({ both, minted }) => {
    await both('open')
    await both('activate', keysOf(await minted('lent')))
    await both('close')
    await both('validate')
    await both('borrow', ['86400', '86400'])
    await both('validate', [], three({ kind: 'refused' }))
    await both('deactivate')
    await both('release')
  })
  expect(seen).toStrictEqual(expectedOfLentSeat)
}
