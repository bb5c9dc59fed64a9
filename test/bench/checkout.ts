import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { limitVariables } from '../../src/config.ts'
import { cpuMsOfTree } from './cpu.ts'

/** A running ledger that is only used from outside, so that it may be another version. */
export type Checkout = {
  name: string
  address: string
  /** The token of the first start: every scope of the tenant `demo`. */
  token: string
  pid: number
  /** Processor time of the application and its embedded stores so far, in ms. */
  cpuMs(): number
  /** Stops it and starts it again on its data; the address and the pid are others then. */
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
  const start = () =>
    spawn(process.execPath, [join(root, bin.keyledger), 'serve'], {
      cwd: root,
      env: {
        ...process.env,
        KEYLEDGER_DATA_DIR: directory,
        KEYLEDGER_PORT: '0',
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
      address: greeting.address,
      token: greeting.token ?? '',
      pid: child.pid ?? 0,
      cpuMs: () => cpuMsOfTree(running.pid),
      async restart() {
        await end()
        child = start()
        running.address = (await greetingOf(child, false)).address
        running.pid = child.pid ?? 0
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

/** Reads the URL from the output, and the token of the first start. */
async function greetingOf(
  child: ChildProcess,
  isFirst = true,
): Promise<{ address: string; token: string | undefined }> {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk)
    const address = /(?:listens|is listening) on (http:\/\/[^\s;]+?)[;.]\s/.exec(text)?.[1]
    const token = /\bkl_pat_\w+/.exec(text)?.[0]
    if (address === undefined || (isFirst && token === undefined)) continue
    child.stdout?.resume()
    return { address, token }
  }
  throw new Error(`the ledger ended before it listened: ${text.slice(-500)}`)
}
