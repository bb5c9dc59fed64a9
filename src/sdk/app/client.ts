import type { Keyset } from '../keyset.ts'
import type { EntitlementValue } from '../lease2.ts'
import { createCalls } from './calls.ts'
import { askIdentity, type Identify } from './identity.ts'
import { createKeeper, type Keeper, type Listener } from './keeper.ts'
import { activate, deactivate, type Failure, type Ports, startTrial, validate } from './operations.ts'
import { type Clock, type Fetch, type Storage, systemClock } from './ports.ts'
import { fullJitter, type Problem } from './problem.ts'
import { has, type State, value } from './state.ts'
import { sdkVersion } from './version.ts'

export type ClientOptions = {
  /** The address of the license server, `https://licenses.example.com`. */
  baseUrl: string
  tenantId: string
  productId: string
  /** It identifies the app and is no secret. */
  sdkKey: string
  storage: Storage
  /** The public keys to ship with the app, so that it does not have to fetch them first. */
  keys?: Keyset['keys']
  /**
   * How the vendor and the customer see this device, such as its host name. Devices with one name have a seat each. Only a
   * seat of which nothing but its name is known, from an import or a server, is taken over by the first device of that name.
   */
  deviceName?: string
  appVersion?: string
  /** `macos`, `windows`, `linux`, `web`, `workers` … */
  platform?: string
  /**
   * Says what the device is, so that it keeps its seat when its storage is lost: `identifyDevice` of
   * `keyledger/client/node`. It is asked before each call that sends it. Without it, as in browsers, a device is recognized
   * by the random id in its storage.
   */
  identity?: Identify
  /** The app's own hash of an id of the machine, in place of the one in `identity`: 16 to 128 of `A–Z a–z 0–9 + / = _ -`. */
  machineHash?: string
  /** The length of a trial where the server has never named one. */
  defaultTrialDays?: number
  /** Refuses unsigned settings: set it for a product that has a trial length. */
  enforceSettings?: boolean
  /** How often a running app validates. A lease that ends sooner is renewed at half of its time. */
  refreshSeconds?: number
  /** How long one request may take. */
  timeoutMs?: number
  /** Called when the storage cannot be read or written. */
  onStorageError?: (error: unknown) => void
  clock?: Clock
  fetch?: Fetch
  random?: () => number
}

/** What a call has led to. The state is the present one in both cases. */
export type Outcome = { ok: true; state: State } | { ok: false; problem: Problem; state: State }

export type Client = {
  /** Takes a seat with a license key that a person has typed. The same device never takes a second one. */
  activate(licenseKey: string): Promise<Outcome>
  /** Asks the server now. Calls at the same time share one request. */
  validate(): Promise<Outcome>
  /** Gives the seat back and forgets the license. */
  deactivate(): Promise<Outcome>
  /** Starts the trial of this machine, also without a connection when its length is known. */
  startTrial(): Promise<Outcome>
  /** The present state; it may change by itself as time passes. */
  state(): State
  /** Whether the present state grants an entitlement. */
  has(entitlement: string): boolean
  /** Its value: a number or text, or true when it has none; undefined when the present state does not grant it. */
  value(entitlement: string): EntitlementValue | undefined
  /** Calls the listener with each new state. @returns what ends it */
  subscribe(listener: (state: State) => void): () => void
  /** Reads the storage, validates, and goes on validating in the background. @returns the state that was stored */
  start(): Promise<State>
  stop(): void
}

/** The client of an app: browsers, Electron, Node, Deno and workers. */
export function createClient(options: ClientOptions): Client {
  const { clock = systemClock, random = Math.random } = options
  const ports = portsOf(options, clock, random)
  const { keeper } = ports
  const inTurn = createTurns()
  let validating: Promise<Outcome> | undefined

  const run = (step: (ports: Ports) => Promise<Failure>): Promise<Outcome> =>
    inTurn(async () => {
      const problem = await step(ports)
      const state = keeper.state()
      return problem ? { ok: false, problem, state } : { ok: true, state }
    })
  const validateOnce = () => {
    validating ??= run(validate).finally(() => {
      validating = undefined
    })
    return validating
  }
  const refresh = createRefresh({
    clock,
    random,
    keeper,
    validate: validateOnce,
    everySeconds: options.refreshSeconds ?? 43_200,
  })

  return {
    activate: (licenseKey) => run((given) => activate(given, licenseKey)),
    validate: validateOnce,
    deactivate: () => run(deactivate),
    startTrial: () => run(startTrial),
    state: () => keeper.state(),
    has: (name) => has(keeper.state(), name),
    value: (name) => value(keeper.state(), name),
    subscribe: (listener: Listener) => keeper.subscribe(listener),
    async start() {
      await keeper.load()
      refresh.start()
      return keeper.state()
    },
    stop: () => refresh.stop(),
  }
}

function portsOf(options: ClientOptions, clock: Clock, random: () => number): Ports {
  const { tenantId, productId, keys = {}, appVersion, platform, defaultTrialDays } = options
  const place = { tenantId, productId }
  // Called as a method of its own object, `fetch` throws in browsers.
  const { fetch = (url, init) => globalThis.fetch(url, init) } = options
  const { baseUrl, sdkKey, timeoutMs = 15_000, storage, onStorageError = () => undefined } = options
  return {
    calls: createCalls({ baseUrl, place, sdkKey, clock, fetch, random, timeoutMs }),
    keeper: createKeeper({ place, storage, clock, keys, defaultTrialDays, onStorageError }),
    place,
    enforceSettings: options.enforceSettings ?? false,
    telemetry: {
      sdk: 'js',
      sdk_version: sdkVersion,
      app_version: appVersion,
      platform,
    },
    identity: () => askIdentity(options.machineHash, options.identity, place),
    deviceName: options.deviceName,
    defaultTrialDays,
  }
}

/** Runs one step after another, so that at most one request is under way. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(step: () => Promise<T>): Promise<T> => {
    const turn = last.then(step)
    last = turn.catch(() => undefined)
    return turn
  }
}

type RefreshSettings = {
  clock: Clock
  random: () => number
  keeper: Keeper
  validate: () => Promise<Outcome>
  everySeconds: number
}

/** Validates in the background, and announces states that end by themselves. */
function createRefresh({ clock, random, keeper, validate, everySeconds }: RefreshSettings) {
  const timers: { refresh?: () => void; watch?: () => void } = {}
  let running = 0

  async function validateAgain(run: number, failures: number): Promise<void> {
    const outcome = await validate()
    if (run !== running) return
    const waitMs = outcome.ok
      ? pauseOf(outcome.state) * (0.9 + 0.2 * random())
      : (outcome.problem.retryAfterMs ?? 0) + 1000 + fullJitter(failures, 60_000, 3_600_000, random)
    timers.refresh = clock.after(waitMs, () => void validateAgain(run, outcome.ok ? 0 : failures + 1), true)
  }
  const pauseOf = (state: State): number => {
    const isLeased = 'until' in state && 'entitlements' in state
    const seconds = isLeased ? Math.min(everySeconds, (state.until - keeper.now()) / 2) : everySeconds
    return Math.max(30, seconds) * 1000
  }
  function watch(run: number): void {
    if (run !== running) return
    const end = keeper.announce()
    const leftMs = end === undefined ? Number.POSITIVE_INFINITY : (end - keeper.now() + 1) * 1000
    // At least once an hour, which also notes the time of the clock.
    const next = () => void keeper.change((facts) => facts).then(() => watch(run))
    timers.watch = clock.after(Math.max(1000, Math.min(leftMs, 3_600_000)), next, true)
  }

  return {
    start() {
      this.stop()
      const run = ++running
      watch(run)
      void validateAgain(run, 0)
    },
    stop() {
      running++
      timers.refresh?.()
      timers.watch?.()
    },
  }
}
