import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { z } from 'zod'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { decideForApp } from '../../../src/access/browser-activations.ts'
import { rotateSigningKey } from '../../../src/commands/signing-keys.ts'
import { sha256 } from '../../../src/credentials/sha256.ts'
import type { Method } from '../../harness/api.ts'
import { commandLicense, origin } from '../../harness/ledger.ts'
import { mint } from '../../http/samples.ts'
import type { Fault } from '../bad-network.ts'
import { type App, javascriptApp, otherApp, type Setup, type StoryProgram, type Told } from './apps.ts'
import type { Stage } from './stage.ts'

/** A license for each of the apps, so that what happens to one of them is not seen by the other. */
export type Licenses = {
  keys: string[]
  ids: string[]
  /** Calls the management API for the license of each. @param path below the license; @param body by the number of the app */
  each(
    method: Method,
    path: string,
    body?: Record<string, unknown> | ((index: number) => object),
  ): Promise<unknown[]>
}

type Doing = {
  /** What an app is told with it: the same for each, or one for each. */
  text?: string | readonly (string | undefined)[]
  /** What happens to the requests of each. */
  faults?: readonly Fault[]
  /** The notices that are told. */
  notices?: readonly string[]
}

/** What a story happens with: one app, or two in two languages that live through the same. */
type Scene = {
  stage: Stage
  /**
   * Starts the app, anew or as another machine or build, and expects its stored state. @param setup what is not as usual
   * @param storage the name of the storage, which stays between two starts
   */
  open(
    leads: string,
    setup?: { [Name in keyof Omit<Setup, 'storage'>]?: Setup[Name] | undefined },
    storage?: string,
    notices?: readonly string[],
  ): Promise<void>
  /**
   * Lets each app do something. @param leads what it leads to: a status, or a problem and a status, as `offline: licensed`
   * @returns the texts that were given out
   */
  does(what: string, leads: string, doing?: Doing): Promise<string[]>
  /** Expects what an entitlement is to the app. */
  sees(what: 'has' | 'value', name: string, is: unknown): Promise<void>
  licenses(keyTypeId: string, fields?: object): Promise<Licenses>
  /** Revokes the license of each. */
  revoke(licenses: Licenses): Promise<void>
  /** The person decides in the browser as soon as an app asks: for the license of each, or for none. */
  decideInBrowser(licenses: Licenses | undefined): void
  /** The vendor takes the seats of each away. */
  takeSeats(licenses: Licenses): Promise<void>
  /** Other keys sign from now on. */
  replaceKeys(): Promise<void>
  /** The public keys that an app may ship. */
  publishedKeys(): Promise<Record<string, string>>
  /** Lets time pass for everybody. */
  pass(seconds: number): void
  nowSeconds(): number
  isoIn(seconds: number): string
  /** Sets the clocks to the true time. */
  trueTime(): void
  /** Sets the clock of the device ahead of the true time, or behind it. */
  setClock(secondsAhead: number): void
  /** Changes what is stored by hand. */
  editStorage(change: (text: string) => string): void
  copyStorage(to: string): void
  /** The calls that have reached the server, by the last part of their paths, since the story began. */
  calls(): string[]
}

/** A story. The clock of the device is that of the server unless the story sets it. */
export type Story = {
  name: string
  tell: (scene: Scene) => Promise<void>
  /** The times of floating seats are those of the database, which two apps do not share. */
  isTimed?: boolean
}

/** Times that fail a call: it is attempted three times. */
export const three = (fault: Fault): Fault[] => [fault, fault, fault]
export const day = 86_400

/**
 * Tells a story to the client in JavaScript and, if there is a program, to the client in its language, and expects both to tell the
 * same of each step. @returns the statuses that they have passed through
 */
export async function tellStory(
  { name, tell, isTimed = true }: Story,
  stage: Stage,
  program?: StoryProgram,
): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const { api, tenant } = stage
  const apps: App[] = [javascriptApp(), ...(program ? [otherApp(program)] : [])]
  const networks = [stage.network, stage.second]
  const first = networks.map(({ given }) => given.length)
  const languages = ['js', program?.language ?? ''].slice(0, apps.length)
  const passed: string[] = []
  let setup: NonNullable<Parameters<Scene['open']>[1]> = {}
  let storage = 'license'
  let skewMs = 0
  const pathOf = (index: number, of = storage) => join(directory, `${of}-${languages[index]}.json`)
  const setupOf = (index: number): Setup => ({
    tenantId: tenant.tenantId,
    ...{ productId: 'editor', baseUrl: networks[index]?.url ?? '', sdkKey: stage.sdkKey },
    machineHash: `hash-of-the-machine-${Buffer.from(`${name} ${index}`).toString('hex').slice(-60)}`,
    ...(setup as Partial<Setup>),
    storage: pathOf(index),
  })

  /** Lets each do the same, and expects the same of them. */
  async function each(what: string, { text, faults = [], notices = [] }: Doing = {}) {
    const told: Told[] = []
    for (const [index, app] of apps.entries()) {
      const network = networks[index]
      if (network) network.faults = [...faults]
      const now = api.ledger.clock.now().getTime() + skewMs
      told.push(
        await app.step(
          { do: what, text: typeof text === 'object' ? text[index] : text, now },
          setupOf(index),
        ),
      )
      if (network) network.faults = []
    }
    const [reference = {}, other] = told.map((one) => comparable(one, isTimed))
    if (other) expect({ what, ...other }).toStrictEqual({ what, ...reference })
    const seen = Seen.parse(told[0])
    expect({ what, notices: seen.notices.map(({ notice }) => notice) }).toStrictEqual({ what, notices })
    return { seen, texts: told.map((one) => String(one.text)) }
  }
  const leadTo = (what: string, leads: string, { problem, state }: z.infer<typeof Seen>) => {
    expect([what, problem ? `${problem}: ${state.status}` : state.status]).toStrictEqual([what, leads])
    if (passed.at(-1) !== state.status) passed.push(state.status)
  }

  try {
    await tell({
      stage,
      async open(leads, next = {}, as = 'license', notices = []) {
        setup = next
        storage = as
        leadTo('open', leads, (await each('open', { notices })).seen)
      },
      async does(what, leads, doing) {
        const { seen, texts } = await each(what, doing)
        leadTo(what, leads, seen)
        return texts
      },
      async sees(what, name, is) {
        const { seen } = await each(what, { text: name })
        expect(what === 'has' ? seen.granted : seen.value).toStrictEqual(is)
      },
      async licenses(keyTypeId, fields = {}) {
        const { productId = 'editor' } = setup
        const made = await Promise.all(
          apps.map(() => mint(api.ask, tenant.token, productId, { keyTypeId, ...fields })),
        )
        const { token } = tenant
        return {
          keys: made.map(({ licenseKey }) => licenseKey),
          ids: made.map(({ id }) => id),
          each: (method, path, body) =>
            Promise.all(
              made.map(async ({ id }, index) => {
                const sent = typeof body === 'function' ? body(index) : body
                const answer = await api.ask(method, `/v1/licenses/${id}${path}`, {
                  token,
                  ...(sent && { body: sent }),
                })
                expect(answer.text, `${method} ${path}`).not.toContain('"error"')
                return answer.body
              }),
            ),
        }
      },
      async revoke({ ids }) {
        const at = api.ledger.clock.now().toISOString()
        for (const id of ids)
          await commandLicense(api.ledger, id, { type: 'RevokeLicense', reason: null, at })
      },
      decideInBrowser(licenses) {
        for (const index of apps.keys()) {
          const network = networks[index]
          if (!network) continue
          network.onGiven = async (path, { body }) => {
            if (!path.endsWith('/browser-activations')) return
            const { device_code } = z.object({ device_code: z.string() }).parse(JSON.parse(body.toString()))
            const licenseId = licenses?.ids[index]
            const entry =
              licenseId === undefined
                ? undefined
                : await findLicense(api.ledger.ports.db, tenant.tenantId, licenseId)
            const subjectId = entry?.license.holder?.subjectId
            const chosen =
              licenseId === undefined || subjectId === undefined
                ? undefined
                : { licenseId, subjectId, personId: null }
            const now = api.ledger.clock.now()
            await decideForApp(api.ledger.ports.db, { deviceCodeHash: sha256(device_code) }, chosen, now)
          }
        }
      },
      async takeSeats({ each }) {
        const found = await each('GET', '')
        const devices = found.map((body) => Devices.parse(body).license.devices)
        await each('POST', '/deactivate-device', (index) => ({ deviceId: devices[index]?.[0]?.deviceId }))
      },
      replaceKeys: () => rotateSigningKey(api.ledger.ports, tenant.tenantId, origin),
      async publishedKeys() {
        const { body } = await api.ask('GET', `/${tenant.tenantId}/.well-known/service-keys`)
        return z.object({ keys: z.record(z.string(), z.string()) }).parse(body).keys
      },
      nowSeconds: () => Math.floor(api.ledger.clock.now().getTime() / 1000),
      isoIn: (seconds) => new Date(api.ledger.clock.now().getTime() + seconds * 1000).toISOString(),
      trueTime: () => api.ledger.clock.set(new Date().toISOString()),
      pass: (seconds) => api.ledger.clock.advance(seconds * 1000),
      setClock: (secondsAhead) => {
        skewMs = secondsAhead * 1000
      },
      editStorage: (change) => {
        for (const index of apps.keys())
          writeFileSync(pathOf(index), change(readFileSync(pathOf(index), 'utf8')))
      },
      copyStorage: (to) => {
        for (const index of apps.keys()) writeFileSync(pathOf(index, to), readFileSync(pathOf(index)))
      },
      calls: () => networks[0]?.given.slice(first[0]).map(({ path }) => path.split('/').at(-1) ?? '') ?? [],
    })
    const modes = [...apps.keys()].map((index) => statSync(pathOf(index)).mode & 0o777)
    expect(new Set(modes)).toStrictEqual(new Set([0o600]))
    return passed
  } finally {
    for (const app of apps) app.end()
    for (const network of networks) network.onGiven = async () => undefined
    rmSync(directory, { recursive: true })
  }
}

const Devices = z.object({ license: z.object({ devices: z.array(z.object({ deviceId: z.string() })) }) })

const Seen = z.looseObject({
  problem: z.string().optional(),
  state: z.looseObject({ status: z.string() }),
  notices: z.array(z.looseObject({ notice: z.string() })),
  granted: z.boolean().optional(),
  value: z.union([z.number(), z.string(), z.literal(true)]).optional(),
})

/** What two apps have to tell alike: texts to carry are signed with keys of their own. */
function comparable({ text, state, before, ...told }: Told, isTimed: boolean): Told {
  const timeless = (of: unknown): unknown => {
    const { until: _, at: __, ...more } = { ...(of as object) } as Told
    return isTimed ? of : more
  }
  return {
    ...told,
    state: timeless(state),
    ...(before !== undefined && { before: timeless(before) }),
    ...(text !== undefined && { text: 'a text' }),
  }
}
