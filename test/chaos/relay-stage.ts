import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { freePort } from '../harness/port.ts'
import { createVendor, productId, type Vendor } from '../relay/vendor.ts'
import { canMount, mountSmallDisk, type SmallDisk } from './disk.ts'
import { keepRunning, type OnEnd, type RunningPart } from './parts.ts'
import { program } from './stage.ts'

const clockImport = pathToFileURL(join(import.meta.dirname, 'shifted-clock.ts')).href

type Finished = { code: number | null; stdout: string; stderr: string }

/** A relay that runs, on a disk of its own, with a clock that can be set. */
export type RelayStage = {
  vendor: Vendor
  address: string
  relay: RunningPart
  /** undefined when file systems cannot be mounted. */
  disk: SmallDisk | undefined
  /** Sets the clock of the machine forward or back. */
  setClock: (shiftMs: number) => void
  /** Runs `keyledger relay …` on the directory of the relay. @param killAfterMs kills it then, if it still runs */
  command: (args: readonly string[], killAfterMs?: number) => Promise<Finished>
  /** Whether the relay gives out seats within this time. */
  isReady: (withinMs: number) => Promise<boolean>
  log: () => string
  /** Copies the files of the relay to a place that outlives its disk. */
  keep: () => void
}

/** Enrolls a relay with a vendor of its own, and starts it. */
export async function openRelayStage(
  directory: string,
  terms: { seats: number; seatSeconds: number },
  onEnd: OnEnd,
): Promise<RelayStage> {
  const vendor = createVendor()
  const [place, clock, logFile] = ['disk', 'clock', 'relay.log'].map((name) => join(directory, name))
  if (!place || !clock || !logFile) throw new Error('three paths')
  const disk = canMount(join(directory, 'trial')) ? mountSmallDisk(place, 16) : undefined
  const data = join(place, 'relay')
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const environment = { PATH: process.env.PATH, HOME: directory, CHAOS_CLOCK_FILE: clock }
  const node = ['--import', clockImport, program, 'relay']

  async function command(args: readonly string[], killAfterMs?: number): Promise<Finished> {
    const child = spawn(process.execPath, [...node, ...args, '--data', data], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(killAfterMs !== undefined && { timeout: killAfterMs, killSignal: 'SIGKILL' as const }),
    })
    const exited = once(child, 'exit')
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    await exited
    return { code: child.exitCode, stdout, stderr }
  }

  const [key, password] = [join(directory, 'key'), join(directory, 'password')]
  writeFileSync(key, vendor.licenseKey)
  writeFileSync(password, 'correct horse battery staple')
  const enrolling = ['--tenant', 'acme', '--product', productId, '--name', 'Chaos']
  const secrets = ['--license-key-file', key, '--password-file', password]
  const asked = await command(['enroll', ...enrolling, '--seats', String(terms.seats), ...secrets])
  if (asked.code !== 0) throw new Error(asked.stderr)
  const answer = join(directory, 'first-answer')
  writeFileSync(answer, vendor.answer(asked.stdout, { seatSeconds: terms.seatSeconds }))
  const accepted = await command(['accept', answer])
  if (accepted.code !== 0) throw new Error(accepted.stderr)

  const port = await freePort()
  const address = `http://127.0.0.1:${String(port)}`
  const serving = [process.execPath, ...node, 'serve', '--data', data, '--port', String(port)]
  return {
    vendor,
    address,
    relay: keepRunning(serving, environment, logFile, onEnd),
    disk,
    setClock: (shiftMs) => writeFileSync(clock, String(shiftMs)),
    command,
    async isReady(withinMs) {
      const until = performance.now() + withinMs
      while (performance.now() < until) {
        const answered = await fetch(`${address}/health`).catch(() => undefined)
        if (answered?.ok) return true
        await sleep(50)
      }
      return false
    },
    log: () => readFileSync(logFile, 'utf8'),
    keep: () => cpSync(data, join(directory, 'kept'), { recursive: true }),
  }
}
