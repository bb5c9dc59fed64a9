import type { EntitlementValue } from '../lease2.ts'
import { type ActivationPage, askInBrowser, givenUp, pollBrowser } from './browser-activation.ts'
import { withInside } from './inside.ts'
import { borrow, deactivate, giveSeatBack } from './leaving.ts'
import type { Notice } from './notices.ts'
import { type Carried, createRequest, giveBack, importText } from './offline/operations.ts'
import { activate, type Failure, type Ports, startTrial, validate } from './operations.ts'
import { type ClientOptions, portsOf } from './options.ts'
import { isPassing, type Problem, sleep } from './problem.ts'
import { refreshAfterPurchase } from './purchase.ts'
import { createRefresh, type Outcome } from './refresh.ts'
import { has, type State, value } from './states.ts'

export type Client = {
  /**
   * Takes a seat with a license key that a person has typed. The same device never takes a second one.
   * @example
   * ```ts
   * const { ok, problem } = await client.activate('ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7')
   * if (!ok && problem.code === 'seat_limit_reached') console.log('give another device back first')
   * ```
   */
  activate(licenseKey: string): Promise<Outcome>
  /**
   * Takes a seat with a license that a person chooses in the vendor's portal, without typing a key.
   * @param show opens the page in their browser, and shows the code beside it
   * @param signal ends the wait, which else ends after ten minutes with the problem `refused`
   * @example
   * ```ts
   * await client.activateInBrowser(({ url, code }) => {
   *   window.open(url)
   *   console.log(`The page shows ${code}.`)
   * })
   * ```
   */
  activateInBrowser(show: (page: ActivationPage) => void, signal?: AbortSignal): Promise<Outcome>
  /**
   * Asks the server now. Calls at the same time share one request.
   * @example
   * ```ts
   * const { state } = await client.validate()
   * console.log(state.status)
   * ```
   */
  validate(): Promise<Outcome>
  /**
   * Gives the seat back and forgets the license.
   * @example
   * ```ts
   * const { ok } = await client.deactivate()
   * if (!ok) console.log('connect first, so that others can have the seat')
   * ```
   */
  deactivate(): Promise<Outcome>
  /**
   * Borrows the floating seat of this device for a time without a network. `deactivate` gives it back before its end, and without
   * a network the text of `release`.
   * @param seconds for how long; it may be less
   * @example
   * ```ts
   * await client.borrow(14 * 86_400)
   * ```
   */
  borrow(seconds: number): Promise<Outcome>
  /**
   * Call it when the user comes back from the page of a purchase: it validates every 3 seconds for half a minute, until what the
   * license grants is another than before.
   * @returns whether it is
   * @example
   * ```ts
   * if (await client.refreshAfterPurchase()) console.log('thank you')
   * ```
   */
  refreshAfterPurchase(): Promise<boolean>
  /**
   * Starts the trial of this machine, also without a connection when its length is known.
   * @example
   * ```ts
   * const state = client.state()
   * if (state.status === 'unlicensed' && state.trialDays) await client.startTrial()
   * ```
   */
  startTrial(): Promise<Outcome>
  /**
   * Asks for a license file, the first or the next one, with a license key that a person has typed: a text to carry to the
   * vendor. @throws Error when the storage cannot be written
   * @example
   * ```ts
   * const { text, token } = await client.createOfflineRequest('ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7')
   * console.log(text, `or as a QR code: ${token}`)
   * ```
   */
  createOfflineRequest(licenseKey: string): Promise<Carried>
  /**
   * Takes a text that was carried here: the answer to the last request, or the list of withdrawn files.
   * @example
   * ```ts
   * const { ok, problem } = await client.importLicense(pasted)
   * if (!ok) console.log(problem.message)
   * ```
   */
  importLicense(text: string): Promise<Outcome>
  /**
   * Gives the license file and its seat back: the device stops using them, and the text frees the seat at the vendor.
   * @returns undefined without a file; the same text again for a file that was given back before
   * @throws Error when the storage cannot be written
   * @example
   * ```ts
   * const given = await client.release()
   * if (given) console.log(given.text)
   * ```
   */
  release(): Promise<Carried | undefined>
  /**
   * The present state; it may change by itself as time passes.
   * @example
   * ```ts
   * const state = client.state()
   * if (state.status === 'offline') console.log(`connect before ${new Date(state.until * 1000)}`)
   * ```
   */
  state(): State
  /**
   * Whether the present state grants an entitlement.
   * @example
   * ```ts
   * if (client.has('export')) console.log('show the export')
   * ```
   */
  has(entitlement: string): boolean
  /**
   * Its value: a number or text, or true when it has none; undefined when the present state does not grant it.
   * @example
   * ```ts
   * const most = client.value('projects')
   * console.log(typeof most === 'number' ? most : 3)
   * ```
   */
  value(entitlement: string): EntitlementValue | undefined
  /**
   * Calls the listener with each new state.
   * @returns what ends it
   * @example
   * ```ts
   * const end = client.subscribe((state) => console.log(state.status))
   * end()
   * ```
   */
  subscribe(listener: (state: State) => void): () => void
  /**
   * Calls the listener with what happens to the license and concerns the user: renewed, restored, revoked, expiring.
   * @returns what ends it
   * @example
   * ```ts
   * client.onNotice((one) => {
   *   if (one.notice === 'revoked') console.log(`withdrawn: ${one.reason}`)
   * })
   * ```
   */
  onNotice(listener: (notice: Notice) => void): () => void
  /**
   * Reads the storage, validates, and goes on validating in the background.
   * @returns the state that was stored
   * @example
   * ```ts
   * const stored = await client.start()
   * console.log(stored.status)
   * ```
   */
  start(): Promise<State>
  /**
   * Ends what goes on in the background; the license stays.
   * @example
   * ```ts
   * client.stop()
   * ```
   */
  stop(): void
  /**
   * Stops, and gives a floating seat back for others to use; the license stays stored, and the next `start` takes a seat again.
   * Call it when the app ends. A seat of another kind is kept.
   * @example
   * ```ts
   * window.addEventListener('pagehide', () => void client.close())
   * ```
   */
  close(): Promise<Outcome>
}

/**
 * The client of an app: browsers, Electron, Node, Deno and workers. Without `baseUrl` it sends nothing, and what needs the server
 * answers `no_server`.
 */
export function createClient(options: ClientOptions): Client {
  const { ports, clock, random } = portsOf(options)
  const { keeper, identity } = ports
  const inTurn = createTurns()
  let validating: Promise<Outcome> | undefined

  const asked = <T>(step: (ports: Ports) => Promise<T>): Promise<T> =>
    inTurn(async () => {
      await identity.ask()
      return step(ports)
    })
  const run = (step: (ports: Ports) => Promise<Failure>): Promise<Outcome> =>
    asked(async () => {
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
    validate: options.baseUrl === undefined && options.relays === undefined ? undefined : validateOnce,
    everySeconds: options.refreshSeconds ?? 43_200,
  })

  const client: Client = {
    activate: (licenseKey) => run((given) => activate(given, licenseKey)),
    async activateInBrowser(show, signal) {
      const asking = await asked(askInBrowser)
      if ('problem' in asking) return { ok: false, ...asking, state: keeper.state() }
      const { url, code, deviceCode, pollMs, polls } = asking.value
      show({ url, code })
      let problem: Problem = givenUp
      for (let left = polls; left > 0 && !signal?.aborted; left--) {
        await sleep(clock, pollMs)
        const found = await asked((given) => pollBrowser(given, deviceCode))
        if ('value' in found) {
          if (found.value !== undefined) return client.activate(found.value)
        } else if (!isPassing(found.problem)) {
          problem = found.problem
          break
        }
      }
      return { ok: false, problem, state: keeper.state() }
    },
    validate: validateOnce,
    deactivate: () => run(deactivate),
    borrow: (seconds) => run((given) => borrow(given, seconds)),
    startTrial: () => run(startTrial),
    createOfflineRequest: (licenseKey) => asked((given) => createRequest(given, licenseKey)),
    importLicense: (text) => run((given) => importText(given, text)),
    release: () => asked(giveBack),
    state: () => keeper.state(),
    has: (name) => has(keeper.state(), name),
    value: (name) => value(keeper.state(), name),
    subscribe: keeper.subscribe,
    onNotice: keeper.onNotice,
    refreshAfterPurchase: () => refreshAfterPurchase(clock, keeper.state, validateOnce),
    async start() {
      // Asked first, so that a copied storage shows no license even for a moment.
      await identity.ask()
      await keeper.load()
      refresh.start()
      return keeper.state()
    },
    stop: () => refresh.stop(),
    async close() {
      refresh.stop()
      return run(giveSeatBack)
    },
  }
  return withInside(client, { ports, clock, random })
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
