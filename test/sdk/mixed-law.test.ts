/**
 * Guarantee: an app that has leases of the server and license files shows exactly what the newest of them allows on its
 * machine, whatever happens in between: a network that is not there, answers that are lost or come late, clocks that are
 * set back, storages that are copied to other machines, machines that are restored from copies, and builds that the
 * license does not cover.
 *
 * The judge knows what has reached each storage, what each machine is, and the time.
 */
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { LicenseCommand } from '../../src/domain/licenses/license.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { type Client, createClient } from '../../src/sdk/javascript/app/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { commandLicense } from '../harness/ledger.ts'
import { wholeVariable } from '../harness/variables.ts'
import { sdkKeyOf } from '../http/apps.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { impatientClock } from './asking.ts'
import {
  type Computer,
  claimsIn,
  nothing,
  proofIn,
  type Reached,
  reachedBy,
  saidBy,
  signedIn,
  verdictOn,
  withFile,
  without,
} from './mixed-judge.ts'

const runs = Math.ceil(wholeVariable('KEYLEDGER_TEST_SDK', 40) / 2)
const hour = 3600
const day = 24 * hour

let api: TestApi
let tenant: TestTenant
let sdkKey: string
let keys: Record<string, string>
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  const offlineFiles = { maxDays: 30, perSeatPerYear: 20 }
  await makeProduct(api.ask, tenant.token, 'editor', {
    freeTierEnabled: true,
    keyTypes: [{ name: 'Pro', keyTypeId: 'pro', deviceLimit: 4, entitlements: ['export'], offlineFiles }],
  })
  const answer = await api.ask('GET', `/${tenant.tenantId}/.well-known/service-keys`)
  keys = z.object({ keys: z.record(z.string(), z.string()) }).parse(answer.body).keys
})
afterAll(() => api.close())

const trueTime = () => api.ledger.clock.now().getTime()
const Activated = z.looseObject({ instance_id: z.string() })
/** What happens to the requests of a call and to their answers. */
type Network = 'good' | 'none' | 'answers are lost' | 'an earlier answer comes again'

/** A computer with the app, and what the judge knows of it. */
function computerWith(index: number, begin: number) {
  // The last one says nothing of itself, as a container.
  const it: Computer = {
    board: index === 2 ? undefined : `board-of-computer-${index}`,
    builtAt: index === 0 ? begin + day : undefined,
  }
  let system = 0
  let behind = 0
  let text: string | undefined
  let reached: Reached = nothing
  let copy = { text, reached }
  let client: Client
  let network: Network = 'good'
  const answers: { path: string; status: number; body: unknown }[] = []
  const now = () => Math.floor(trueTime() / 1000) - behind

  async function fetch(
    url: string,
    { method, headers, body }: { method: string; headers: object; body?: string },
  ) {
    if (network === 'none') throw new TypeError('fetch failed')
    const path = new URL(url).pathname
    const sent: unknown = body === undefined ? undefined : JSON.parse(body)
    const options = { headers: headers as Record<string, string>, ...(sent !== undefined && { body: sent }) }
    const earlier = answers.find((one) => one.path === path)
    const asked = await api.ask(method === 'GET' ? 'GET' : 'POST', path, options)
    answers.push({ path, status: asked.status, body: asked.body })
    if (network === 'answers are lost') throw new TypeError('fetch failed')
    const answer = (network === 'an earlier answer comes again' && earlier) || asked
    const proof = path.endsWith('activate') || path.endsWith('validate') ? proofIn(answer.body) : undefined
    const expected = path.endsWith('activate') ? answer.body : sent
    const { data } = Activated.safeParse(expected)
    if (proof && proof.instance === data?.instance_id) reached = reachedBy(reached, proof, now())
    return { status: answer.status, headers: new Headers(), text: async () => JSON.stringify(answer.body) }
  }
  const start = async () => {
    client = createClient({
      baseUrl: 'https://licenses.example.com',
      tenantId: tenant.tenantId,
      productId: 'editor',
      sdkKey,
      keys,
      storage: {
        read: () => text,
        write(next) {
          text = next
        },
      },
      identity: () =>
        it.board === undefined
          ? {}
          : {
              machineHash: `system-${system}-of-computer-${index}`,
              device: {
                board: it.board,
                disk: `the-disk-of-computer-${index}`,
                os: `the-system-number-${system}`,
              },
            },
      ...(it.builtAt !== undefined && { appBuiltAt: it.builtAt }),
      deviceName: 'PC',
      clock: impatientClock(() => trueTime() - behind * 1000),
      fetch,
    })
    await client.start()
    client.stop()
    await client.validate()
  }
  return {
    it,
    start,
    client: () => client,
    over(chosen: Network) {
      network = chosen
    },
    change(step: (reached: Reached) => Reached) {
      reached = step(reached)
    },
    now,
    reached: () => reached,
    setBack(seconds: number) {
      behind = seconds
    },
    installSystem() {
      system++
    },
    keepCopy() {
      copy = { text, reached }
    },
    copied: () => copy,
    async use(other: typeof copy) {
      ;({ text, reached } = other)
      await start()
    },
    held: () => ({ text, reached }),
    verdict() {
      reached = { ...reached, seen: Math.max(reached.seen, now()) }
      return verdictOn(reached, it, now())
    },
  }
}
type Machine = ReturnType<typeof computerWith>

const networks = fc.constantFrom<Network[]>(
  ...(['good', 'good', 'good', 'none', 'answers are lost', 'an earlier answer comes again'] as const),
)
const step = fc.record({
  on: fc.nat({ max: 2 }),
  network: networks,
  what: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom('activate', 'validate', 'ask') },
    { weight: 3, arbitrary: fc.constantFrom('an hour', 'three days', 'eight days', 'twenty days') },
    { weight: 1, arbitrary: fc.constantFrom('revoke', 'suspend', 'free the seat') },
    { weight: 2, arbitrary: fc.constantFrom('reinstate', 'resume') },
    { weight: 2, arbitrary: fc.constantFrom('updates end', 'updates go on', 'an old build', 'a new build') },
    { weight: 2, arbitrary: fc.constantFrom('copy from the next', 'keep a copy', 'restore the copy') },
    { weight: 1, arbitrary: fc.constantFrom('the clock is set back', 'the clock is ahead') },
    { weight: 2, arbitrary: fc.constant('the clock is right') },
    { weight: 1, arbitrary: fc.constantFrom('list', 'deactivate', 'release', 'release, and carry nothing') },
    { weight: 1, arbitrary: fc.constantFrom('start again', 'a new system') },
  ),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const first = (what: Step['what'], on: number): Step => ({ on, what, network: 'good' })
/** Two computers have leases, and one of them a file too. */
const beginning = [first('activate', 0), first('activate', 1), first('ask', 0)]

/** What random histories seldom lead to. */
const rare: Step[][] = [
  // A list ends the file of a license that was revoked.
  [first('revoke', 0), first('list', 0)],
  // A computer without an id of its own has one seat for its lease and one for its file.
  [first('activate', 2), first('ask', 2), first('free the seat', 2), first('validate', 2)],
  // It forgets the license that was revoked, and the file of that license stays without worth.
  [first('activate', 2), first('ask', 2), first('revoke', 2), first('validate', 2), first('deactivate', 2)],
  [{ ...first('copy from the next', 2), network: 'none' }],
  [first('updates end', 0), first('a new build', 1), first('validate', 1)],
  [
    first('validate', 1),
    first('revoke', 0),
    first('validate', 1),
    { ...first('validate', 1), network: 'an earlier answer comes again' },
  ],
  [first('the clock is ahead', 0), first('the clock is right', 0), first('ask', 0)],
]

const waits: Readonly<Record<string, number>> = {
  'an hour': hour,
  'three days': 3 * day,
  'eight days': 8 * day,
  'twenty days': 20 * day,
}

type License = { id: string; licenseKey: string; begin: number }

async function take(step: Step, machines: readonly Machine[], license: License): Promise<void> {
  const one = machines[step.on]
  const next = machines[(step.on + 1) % machines.length]
  if (!one || !next) throw new Error('there are three machines')
  one.over(step.network)
  const client = one.client()
  switch (step.what) {
    case 'activate':
      return void (await client.activate(license.licenseKey))
    case 'validate':
      return void (await client.validate())
    case 'deactivate': {
      const { proof } = one.reached()
      const { ok } = await client.deactivate()
      if (ok) one.change((reached) => without(reached, proof?.instance))
      return
    }
    case 'ask':
      return ask(one, license)
    case 'free the seat': {
      const instanceId = one.reached().proof?.instance
      if (instanceId !== undefined) await send(`${license.id}/deactivate-device`, { instanceId })
      return
    }
    case 'list': {
      const { body } = await api.ask('GET', `/${tenant.tenantId}/editor/withdrawn`)
      const { withdrawn } = z.object({ withdrawn: z.string() }).parse(body)
      const { files, iat } = z
        .object({ files: z.array(z.string()), iat: z.string() })
        .parse(claimsIn(withdrawn))
      if (!(await client.importLicense(withdrawn)).ok) return
      return one.change((reached) => ({
        ...reached,
        withdrawn: files,
        seen: Math.max(reached.seen, Date.parse(iat) / 1000),
      }))
    }
    case 'release':
    case 'release, and carry nothing': {
      const release = await client.release()
      if (release) one.change((reached) => without(reached, reached.file?.instance))
      if (release && step.what === 'release')
        await send(`${license.id}/files/release`, { release: release.text })
      return
    }
    case 'start again':
      return one.start()
    case 'copy from the next':
      return one.use(next.held())
    case 'keep a copy':
      return one.keepCopy()
    case 'restore the copy':
      return one.use(one.copied())
    case 'an old build':
    case 'a new build':
      one.it.builtAt = license.begin + (step.what === 'a new build' ? day : -day)
      return one.start()
    case 'a new system':
      one.installSystem()
      return one.start()
    case 'the clock is right':
      return one.setBack(0)
    case 'the clock is set back':
      return one.setBack(25 * day)
    case 'the clock is ahead':
      return one.setBack(-400 * day)
    default:
      api.ledger.clock.advance((waits[step.what] ?? 0) * 1000)
      await vendor(step.what, license)
  }
}

const send = (path: string, body: object) =>
  api.ask('POST', `/v1/licenses/${path}`, { token: tenant.token, body })

/** Carries a request to the vendor and its answer back. */
async function ask(one: Machine, { id, licenseKey }: License): Promise<void> {
  const client = one.client()
  const { text } = await client.createOfflineRequest(licenseKey)
  const { status, body } = await send(`${id}/files`, { request: text })
  if (status !== 201) return
  const { file } = z.object({ file: z.string() }).parse(body)
  if ((await client.importLicense(file)).ok) {
    one.change((reached) => withFile(reached, signedIn(file), one.now()))
  }
}

async function vendor(what: string, { id, begin }: License): Promise<void> {
  const at = api.ledger.clock.now().toISOString()
  const why = { reason: null, at }
  const commands: Record<string, LicenseCommand> = {
    revoke: { type: 'RevokeLicense', ...why },
    reinstate: { type: 'UndoRevocation', keyTypeIsThere: true, ...why },
    suspend: { type: 'SuspendLicense', ...why },
    resume: { type: 'ResumeLicense', ...why },
  }
  const command = commands[what]
  if (command) {
    await commandLicense(api.ledger, id, command).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error
    })
  }
  if (what.startsWith('updates')) {
    const updatesUntil = what === 'updates end' ? new Date(begin * 1000).toISOString() : null
    await api.ask('PATCH', `/v1/licenses/${id}`, { token: tenant.token, body: { updatesUntil } })
  }
}

async function play(steps: readonly Step[]): Promise<void> {
  const begin = Math.floor(trueTime() / 1000)
  const license = { ...(await mint(api.ask, tenant.token, 'editor')), begin }
  const machines = [0, 1, 2].map((index) => computerWith(index, begin))
  for (const one of machines) await one.start()
  for (const one of [...beginning, ...steps]) {
    api.ledger.clock.advance(61_000)
    const before = machines.map((machine) => machine.client().state())
    // What was noted of the time is written before a storage is copied.
    await turn()
    await take(one, machines, license)
    for (const [index, machine] of machines.entries()) {
      const verdict = machine.verdict()
      const state = machine.client().state()
      if (verdict === 'too close to an end') continue
      const about = { after: one, index, state, reached: machine.reached(), now: machine.now() }
      const said = saidBy(state)
      // Without a good lease, the unsigned word of the server only says why there is none.
      const isExplained = verdict === 'nothing' && said === 'not covered'
      expect({ ...about, said: isExplained ? 'nothing' : said }).toStrictEqual({ ...about, said: verdict })
      const was = before[index]
      if (one.what === 'the clock is set back' && was && !('entitlements' in was)) {
        expect({ ...about, has: machine.client().has('export') }).toStrictEqual({ ...about, has: false })
      }
    }
  }
}

test('its state is what the newest statement for its machine allows, and nothing more', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 50, size: 'max' }), play), {
    numRuns: runs,
    examples: rare.map((steps): [Step[]] => [steps]),
  })
})
