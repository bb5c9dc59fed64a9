import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { promisify } from 'node:util'

/** What is read of the machine, which tests replace. What fails is left out. */
export type System = {
  /** As Node names it: `linux`, `darwin`, `win32`. */
  platform: string
  /** @returns undefined when it cannot be read */
  readFile(path: string): Promise<string | undefined>
  /** The names in a folder; none when it cannot be read. */
  list(folder: string): Promise<string[]>
  /** What a program prints, without a shell. @returns undefined when it fails or takes longer than ten seconds */
  run(program: string, args: readonly string[]): Promise<string | undefined>
  /** The MAC addresses of the network interfaces that have an address, by their names. */
  interfaces(): Readonly<Record<string, string>>
}

/** What a system says of its machine. */
export type Reading = {
  /** Together they tell the machine from every other. An undefined one could not be read, though the system has it. */
  machine: readonly (string | undefined)[]
  /** By the names of the components. */
  components: Readonly<Record<string, string | undefined>>
}

const timeout = 10_000

/** The machine that this process runs on. */
export const thisSystem: System = {
  platform: process.platform,
  readFile: (path) => readFile(path, 'utf8').catch(() => undefined),
  list: (folder) => readdir(folder).catch(() => []),
  async run(program, args) {
    try {
      const running = promisify(execFile)(program, args, { timeout, windowsHide: true })
      // Some versions of PowerShell wait for the end of their input.
      running.child.stdin?.end()
      return (await running).stdout
    } catch {
      return undefined
    }
  },
  interfaces() {
    try {
      const found = Object.entries(networkInterfaces())
      return Object.fromEntries(found.map(([name, addresses]) => [name, addresses?.[0]?.mac ?? '']))
    } catch {
      return {}
    }
  },
}
