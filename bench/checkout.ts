import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limitVariables } from '../src/config.ts'
import { cpuMsOfTree } from './cpu.ts'

/** A running ledger that is only known from outside, so that it may be another version's. */
export type Checkout = {
  name: string
  address: string
  /** The first start's: every scope in tenant `demo`. */
  token: string
  pid: number
  /** What the application and the stores that it started have used of the processor so far, in ms. */
  cpuMs(): number
  stop(): Promise<void>
}

const farAbove = Object.fromEntries(limitVariables.map((name) => [name, '100000000']))

/**
 * Starts the ledger of a checkout on a new data directory, with limits in force and far above any load.
 * @param root the checkout's directory, with its packages installed
 * @param eventstore the address of an event store, which must hold no ledger yet; undefined: the embedded one
 * @param settings more of the environment
 */
export async function startCheckout(
  name: string,
  root: string,
  eventstore?: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Checkout> {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-bench-'))
  const child = spawn(process.execPath, [join(root, 'bin/keyledger.js'), 'serve'], {
    cwd: root,
    env: {
      ...process.env,
      KEYLEDGER_DATA_DIR: directory,
      KEYLEDGER_PORT: '0',
      KEYLEDGER_LOG_LEVEL: 'warn',
      ...(eventstore !== undefined && { KEYLEDGER_EVENTSTORE_URL: eventstore }),
      ...farAbove,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const { address, token } = await greetingOf(child)
    const pid = child.pid ?? 0
    return { name, address, token, pid, cpuMs: () => cpuMsOfTree(pid), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Reads the first start's output up to the address and the token. */
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
