import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Whether a process runs. A zombie counts as dead: in a container whose first process does not reap, a killed
 * child of another process stays in the table.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return !isZombie(pid)
}

function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The state follows the command's name, which is in parentheses and may contain anything.
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) === 'Z'
  } catch {
    return true
  }
}

/** The working directory of a process; undefined when the system does not say. */
export function workingDirectoryOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

/** The command line of a process, with blanks between the words; undefined when the system does not say. */
export function commandLineOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    }
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return undefined
  }
}

/** Waits until the condition holds. @returns false when the time is up */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  { within_ms, every_ms = 10 }: { within_ms: number; every_ms?: number },
): Promise<boolean> {
  const deadline = performance.now() + within_ms
  while (!(await condition())) {
    if (performance.now() > deadline) return false
    await sleep(every_ms)
  }
  return true
}

/** Sends a signal; does nothing if the process is gone. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
