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
  const child = spawn(process.execPath, [join(root, bin.keyledger), 'serve'], {
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
