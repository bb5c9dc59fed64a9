import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import {
  type Client,
  createClient,
  type Notice,
  type Outcome,
} from '../../../src/sdk/javascript/app/index.ts'
import { insideOf } from '../../../src/sdk/javascript/app/inside.ts'
import { fileStorage } from '../../../src/sdk/javascript/node/index.ts'
import { impatientClock } from '../asking.ts'

/** A program that takes a step in each line of its input, as JSON, and prints a line with what it has led to. */
export type StoryProgram = { language: string; path: string; words: string[]; environment: NodeJS.ProcessEnv }

/** How an app is set up. Without `baseUrl` it never has a network, and without a machine it has no identity. */
export type Setup = {
  tenantId: string
  productId: string
  storage: string
  baseUrl?: string
  sdkKey?: string
  keys?: Record<string, string>
  machineHash?: string
  components?: Record<string, string>
  /** Unix seconds. */
  appBuiltAt?: number
  enforceSettings?: boolean
  defaultTrialDays?: number
  deviceName?: string
}

/** What an app is told to do, by a clock of its device that shows `now`, in milliseconds. */
type Step = { do: string; text?: string | undefined; now: number }
export type Told = Record<string, unknown>
export type App = { step(step: Step, setup: Setup): Promise<Told>; end(): void }

const plain = (told: object): Told => JSON.parse(JSON.stringify(told)) as Told

/** The client in JavaScript, with which the others are compared. */
export function javascriptApp(): App {
  let now = 0
  let client: Client
  let noticed: Notice[] = []
  const open = async ({ storage, machineHash, components, baseUrl, keys, sdkKey, ...more }: Setup) => {
    const isKnown = machineHash !== undefined || components !== undefined
    client = createClient({
      ...more,
      ...(isKnown && { identity: () => ({ machineHash, device: components }) }),
      ...(baseUrl === undefined ? { keys: keys ?? {} } : { baseUrl, sdkKey: sdkKey ?? '', keys: keys ?? {} }),
      storage: fileStorage(storage),
      clock: impatientClock(() => now),
    })
    client.onNotice((one) => noticed.push(one))
    const before = client.state()
    const { identity, keeper } = insideOf(client).ports
    await identity.ask()
    await keeper.load()
    return { before }
  }
  const outcome = ({ problem }: Outcome) => (problem ? { problem: problem.code } : {})
  const steps: Record<string, (text: string, setup: Setup) => Promise<object> | object> = {
    open: (_, setup) => open(setup),
    // What the state has noticed is stored before the next step.
    look: async () => {
      client.state()
      await insideOf(client).ports.keeper.load()
      return {}
    },
    activate: async (text) => outcome(await client.activate(text)),
    validate: async () => outcome(await client.validate()),
    activateInBrowser: async () => outcome(await client.activateInBrowser(() => undefined)),
    startTrial: async () => outcome(await client.startTrial()),
    deactivate: async () => outcome(await client.deactivate()),
    importLicense: async (text) => outcome(await client.importLicense(text)),
    borrow: async (text) => outcome(await client.borrow(Number(text))),
    close: async () => outcome(await client.close()),
    request: async (text) => ({ text: (await client.createOfflineRequest(text)).text }),
    release: async () => ({ text: (await client.release())?.text }),
    has: (text) => ({ granted: client.has(text) }),
    value: (text) => ({ value: client.value(text) }),
    refreshAfterPurchase: async () => ({ changed: await client.refreshAfterPurchase() }),
  }
  return {
    async step({ do: what, text = '', now: at }, setup) {
      now = at
      const told = await steps[what]?.(text, setup)
      if (!told) throw new Error(`${what} is no step`)
      const answer = plain({ ...told, state: client.state(), notices: noticed })
      noticed = []
      return answer
    },
    end: () => undefined,
  }
}

/** An app in another language. */
export function otherApp({ path, words, environment }: StoryProgram): App {
  const running = spawn(path, words, { stdio: ['pipe', 'pipe', 'inherit'], env: environment })
  const lines = createInterface({ input: running.stdout })[Symbol.asyncIterator]()
  return {
    async step(step, setup) {
      running.stdin.write(`${JSON.stringify({ ...setup, ...step })}\n`)
      const { value } = await lines.next()
      return z.record(z.string(), z.unknown()).parse(JSON.parse(String(value)))
    },
    end: () => running.stdin.end(),
  }
}
