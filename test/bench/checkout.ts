import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { limitVariables } from '../../src/config.ts'
import { cpuMsOfTree } from './cpu.ts'

/** A running ledger that is only used from outside, so that it may be another version. */
export type Checkout = {
  name: string
  dataDirectory: string
  address: string
  /** The token of the first start: every scope of the tenant `demo`. */
  token: string
  pid: number
  /** Processor time of the application and its embedded stores so far, in ms. */
  cpuMs(): number
  /** Stops it and starts it again on its data and address, until it is ready; its pid is another one then. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Where a checkout has its command, which differs between versions. */
const Package = z.object({ bin: z.object({ keyledger: z.string() }) })
const farAbove = Object.fromEntries(limitVariables.map((name) => [name, '100000000']))

/**
 * Starts the ledger of a checkout on a new data directory, with rate limits far above any load.
 * @param root the checkout's directory, with its packages installed
 * @param eventstore the URL of an event store without a ledger; undefined: the embedded one
 * @param settings further environment variables
 */
export async function startCheckout(
  name: string,
  root: string,
  eventstore?: string,
  settings: Readonly<Record<string, string | undefined>> = {},
): Promise<Checkout> {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-bench-'))
  const { bin } = Package.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
  const start = (port = '0') =>
    spawn(process.execPath, [join(root, bin.keyledger), 'serve'], {
      cwd: root,
      env: {
        ...process.env,
        KEYLEDGER_DATA_DIR: directory,
        KEYLEDGER_PORT: port,
        KEYLEDGER_LOG_LEVEL: 'warn',
        ...(eventstore !== undefined && { KEYLEDGER_EVENTSTORE_URL: eventstore }),
        ...knownIn(root, farAbove),
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  let child = start()
  const end = async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  }
  const stop = async () => {
    await end()
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const greeting = await greetingOf(child)
    const running: Checkout = {
      name,
      dataDirectory: directory,
      address: greeting.address,
      token: greeting.token,
      pid: child.pid ?? 0,
      cpuMs: () => cpuMsOfTree(running.pid),
      async restart() {
        await end()
        child = start(new URL(running.address).port)
        child.stdout?.resume()
        running.pid = child.pid ?? 0
        await untilReady(running.address, child)
      },
      stop,
    }
    return running
  } catch (error) {
    await stop()
    throw error
  }
}

/** Without the variables that an older checkout would refuse, since it does not know them. */
function knownIn(root: string, variables: Readonly<Record<string, string>>): Record<string, string> {
  const config = readFileSync(join(root, 'src/config.ts'), 'utf8')
  return Object.fromEntries(Object.entries(variables).filter(([name]) => config.includes(name)))
}

/** Reads the URL and the token from the output of the first start. */
async function greetingOf(child: ChildProcess): Promise<{ address: string; token: string }> {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk)
    const address = /(?:listens|is listening) on (http:\/\/[^\s;]+?)[;.]\s/.exec(text)?.[1]
    const token = /\bkl_pat_\w+/.exec(text)?.[0]
    if (address === undefined || token === undefined) continue
    child.stdout?.resume()
    return { address, token }
  }
  throw new Error(`the ledger ended before it listened: ${text.slice(-500)}`)
}

/** Not every version prints a line when it starts again. */
async function untilReady(address: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const answer = await fetch(`${address}/readyz`).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer?.ok) return
    await sleep(20)
  }
  throw new Error('the ledger ended before it was ready')
}
