import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { checkAcknowledged } from './acknowledged-checks.ts'
import type { Arrival } from './arrivals.ts'
import { checkAttempts, checkDelivered, checkEnded, checkOrder } from './delivery-checks.ts'
import type { Injector } from './faults.ts'
import { type Load, Stuck } from './load.ts'
import { checkLog, checkPrefix, type Violation } from './log-checks.ts'
import { LogLine } from './operator-commands.ts'
import { OperatorFailed } from './operator-process.ts'
import { longestFaultMs } from './schedule.ts'
import { NotReady, program, type Stage } from './stage.ts'

/** After all faults have ended, all work completes within this time, also on a busy machine. */
const restMs = 180_000
/** The longest duration of a delivery attempt, without the time for which its process was frozen. */
const tryMs = 30_000

/** How long after its removal a webhook may still receive a delivery. */
const graceMs = longestFaultMs + tryMs

const Verified = z.looseObject({ events: z.int(), differences: z.array(z.unknown()) })

/** Compares the state of the stage with everything acknowledged since the start. */
export function createCheck(stage: Stage, injector: Injector, load: Load, say: (line: string) => void) {
  let earlier: LogLine[] = []
  let checks = 0

  /** Ends all faults, pauses the load, and waits until no work is left. */
  async function rest(): Promise<{ log: LogLine[]; arrivals: Arrival[] }> {
    await injector.heal()
    await stage.untilReady(restMs)
    say('everything is healed, and both applications are ready')
    await load.pause(restMs)
    say('every call has come to its end')
    await untilDone()
    say('nothing is left to do')
    return readAll()
  }

  async function untilDone(): Promise<void> {
    const deadline = performance.now() + restMs
    let left = ''
    while (performance.now() < deadline) {
      left = await leftToDo()
      if (left === '') return
      await sleep(200)
    }
    throw new Stuck(left)
  }

  /** The remaining work in words; empty when there is none. */
  async function leftToDo(): Promise<string> {
    try {
      const left = await stage.operator.send('hurry', {})
      const open = Object.entries(left).filter(([, count]) => count > 0)
      return open.map(([what, count]) => `${what}: ${count}`).join(', ')
    } catch (error) {
      if (error instanceof OperatorFailed) return error.message
      throw error
    }
  }

  /** A request that got 503 or no response may still be executed: waits until its deliveries have arrived, too. */
  async function readAll(): Promise<{ log: LogLine[]; arrivals: Arrival[] }> {
    for (let tries = 0; tries < 20; tries++) {
      const log = await readLog()
      await untilDone()
      const arrivals = stage.arrivals()
      if ((await readLog()).length === log.length) return { log, arrivals }
    }
    throw new Stuck('the log goes on without anybody asking for anything')
  }

  async function readLog(): Promise<LogLine[]> {
    const file = join(stage.directory, `log-${++checks}.jsonl`)
    await stage.operator.send('readLog', { file })
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => LogLine.parse(JSON.parse(line)))
  }

  /** @returns the number of events in the log, and all violations */
  return async function check(): Promise<{ events: number; violations: Violation[] }> {
    let found: { log: LogLine[]; arrivals: Arrival[] }
    try {
      found = await rest()
    } catch (error) {
      if (!(error instanceof Stuck || error instanceof NotReady)) throw error
      const expected = `to come to rest within ${restMs / 1000} s of being healed`
      return { events: earlier.length, violations: [{ what: 'the stage', expected, found: error.message }] }
    }
    const { log, arrivals } = found
    const { selling, webhookChanges, context } = load
    const known = { licenses: context.licenses, sales: selling.sales, refunded: selling.refunded }
    const violations = [
      ...checkPrefix(earlier, log),
      ...checkLog(log),
      ...checkAcknowledged(known, log),
      ...checkDelivered(arrivals, log),
      ...checkAttempts(arrivals, log),
      ...checkOrder(arrivals, log),
      ...checkEnded(arrivals, webhookChanges.removed, graceMs),
      ...stage.crashes().map((found) => ({ what: 'a process', expected: 'no end by an error', found })),
      ...(await runVerification(stage, ['projections', 'verify'])),
      ...(await runVerification(stage, ['audit', 'replay'])),
    ]
    earlier = log
    await load.seatCalls.validateKnown()
    return { events: log.length, violations }
  }
}

/** Runs a command that compares the read models with the log. */
async function runVerification(stage: Stage, args: readonly string[]): Promise<Violation[]> {
  const child = spawn(process.execPath, [program, ...args, '--json'], {
    env: stage.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const what = `keyledger ${args.join(' ')}`
  const expected = 'no difference'
  if (!stdout.startsWith('{')) return [{ what, expected, found: stderr.slice(-500) }]
  const { differences } = Verified.parse(JSON.parse(stdout))
  return differences.slice(0, 5).map((difference) => ({ what, expected, found: JSON.stringify(difference) }))
}
