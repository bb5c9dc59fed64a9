import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallFigures } from './calls.ts'
import { createCheck } from './check.ts'
import { createInjector, type Injector } from './faults.ts'
import { type Load, startLoad } from './load.ts'
import type { Violation } from './log-checks.ts'
import { type Fault, type FaultKind, inWords, scheduleOf } from './schedule.ts'
import { type Ended, openStage, type Stage } from './stage.ts'

export type Options = {
  seed: number
  rounds: number
  /** The duration of the faults in a round. */
  roundMs: number
  /** The maximum number of faults in a round, in addition to one of each kind. */
  more: number
  /** This single fault in each round, instead of the seed's schedule. */
  single?: Fault | undefined
  clients: number
  thinkMs: number
  /** Receives a line for each thing that happens. */
  onLine: (line: string) => void
}

export type Violations = (Violation & { at_s: number })[]

export type Summary = {
  seed: number
  rounds: number
  seconds: number
  requests: number
  acknowledged: number
  unavailable: number
  lost: number
  licenses: number
  sales: number
  events: number
  faults: Partial<Record<FaultKind, number>>
  /** Faults that this machine does not support. */
  left_out: FaultKind[]
  /** Processes that ended by themselves, by exit code. */
  ended_by_itself: Record<string, number>
  longest_pause_of_writes_ms: number
  slowest_request_ms: number
  slowest_request: string
  by_call: Record<string, CallFigures>
  violations: Violations
  /** The directory of the data and the logs; null when there was no violation and they were removed. */
  kept: string | null
}

/** Exit codes of a process that cannot run at the moment; the supervisor starts it again. */
export const explained: ReadonlySet<number | null> = new Set([0, 1, 3])

/** Runs a schedule of faults under load, and checks after each round that nothing is lost, duplicated or wrong. */
export async function runChaos(options: Options): Promise<Summary> {
  const directory = mkdtempSync(join(tmpdir(), 'kl-chaos-'))
  const guardian = startGuardian(directory)
  const journal = createJournal(options.onLine)
  try {
    const stage = await openStage(directory, onEnded(journal))
    try {
      return await play(stage, options, journal)
    } finally {
      if (journal.violations.length > 0) keep(stage, guardian)
      await stage.stop()
    }
  } finally {
    guardian.stdin.end()
    await once(guardian, 'exit')
  }
}

type Journal = ReturnType<typeof createJournal>

/** The events of the run so far. The first violation ends it. */
export function createJournal(onLine: (line: string) => void) {
  const began = performance.now()
  const stopping = new AbortController()
  const violations: Violations = []
  const endings: Record<string, number> = {}
  const seconds = () => Math.round((performance.now() - began) / 100) / 10
  const say = (line: string) => onLine(`${seconds().toFixed(1).padStart(7)} s  ${line}`)
  const onViolation = (violation: Violation) => {
    violations.push({ at_s: seconds(), ...violation })
    say(`WRONG  ${violation.what}: expected ${violation.expected}; found ${violation.found}`)
    stopping.abort()
  }
  return {
    signal: stopping.signal,
    violations,
    endings,
    seconds,
    say,
    onViolation,
    /** @param isWrong an unexplained exit code is a violation */
    onEnded(part: string, how: string | number | null, isWrong: boolean) {
      const ending = `${part} ${how}`
      endings[ending] = (endings[ending] ?? 0) + 1
      say(`${part} has ended (${how}), and is started again`)
      if (!isWrong) return
      onViolation({ what: part, expected: 'no end without a reason', found: `it ended with ${how}` })
    },
  }
}

const onEnded =
  ({ onEnded }: Journal) =>
  ({ part, code, signal }: Ended) =>
    onEnded(
      part,
      part === 'Postgres' ? 'by itself' : (code ?? signal),
      part.startsWith('app') && !explained.has(code),
    )

async function play(stage: Stage, options: Options, journal: Journal): Promise<Summary> {
  const { seed, rounds, clients, thinkMs } = options
  const { say, onViolation, violations } = journal
  const injector = createInjector(stage)
  await stage.untilReady(120_000)
  const load = startLoad(stage, { seed, clients, thinkMs, onViolation })
  const check = createCheck(stage, injector, load, say)
  const leftOut: FaultKind[] = stage.disks ? [] : ['fill disk']
  if (!stage.disks) say('No disk is filled: only root on Linux can mount the file systems for that.')
  say(`two applications and their stores are ready, ${clients} clients begin`)
  const counted: Counted = { events: 0, faults: {}, leftOut }
  const schedule = options.single
    ? Array.from({ length: rounds }, () => [options.single].flatMap((fault) => fault ?? []))
    : scheduleOf(options)
  for (const [index, planned] of schedule.entries()) {
    load.resume()
    const possible = planned.filter(({ kind }) => !leftOut.includes(kind))
    for (const { kind } of possible) counted.faults[kind] = (counted.faults[kind] ?? 0) + 1
    await playRound(injector, possible, options.roundMs, journal)
    say(`round ${index + 1} of ${rounds} is over: everything is healed, and checked once it has come to rest`)
    const found = await check()
    found.violations.forEach(onViolation)
    counted.events = found.events
    const { acknowledged, requests } = load.figures
    say(`${requests} requests, ${acknowledged} changes acknowledged, ${found.events} events`)
    if (violations.length > 0) break
  }
  const summary = summaryOf(stage, options, journal, load, counted)
  await load.close()
  return summary
}

type Counted = { events: number; faults: Partial<Record<FaultKind, number>>; leftOut: FaultKind[] }

function summaryOf(
  { directory }: Stage,
  { seed, rounds }: Options,
  { seconds, endings, violations }: Journal,
  load: Load,
  { events, faults, leftOut }: Counted,
): Summary {
  const { figures } = load
  return {
    seed,
    rounds,
    seconds: seconds(),
    requests: figures.requests,
    acknowledged: figures.acknowledged,
    unavailable: figures.unavailable,
    lost: figures.lost,
    licenses: load.context.licenses.length,
    sales: load.selling.sales.length,
    events,
    faults,
    left_out: leftOut,
    ended_by_itself: endings,
    longest_pause_of_writes_ms: Math.round(figures.longestPauseMs),
    slowest_request_ms: Math.round(figures.slowestMs),
    slowest_request: figures.slowest,
    by_call: figures.byCall,
    violations,
    kept: violations.length > 0 ? directory : null,
  }
}

async function playRound(
  injector: Injector,
  faults: readonly Fault[],
  roundMs: number,
  { signal, say }: Journal,
): Promise<void> {
  const began = performance.now()
  const until = (atMs: number) =>
    sleep(Math.max(0, began + atMs - performance.now()), undefined, { signal }).catch(() => undefined)
  for (const fault of faults) {
    await until(fault.atMs)
    if (signal.aborted) return
    say(inWords(fault))
    void injector.inject(fault).catch((error: unknown) => say(`failed: ${String(error)}`))
  }
  await until(roundMs)
}

export function startGuardian(directory: string) {
  const script = join(import.meta.dirname, '../harness/process-guardian.ts')
  const guardian = spawn(process.execPath, [script], { detached: true, stdio: ['pipe', 'ignore', 'inherit'] })
  guardian.stdin.write(`${directory}\n`)
  return guardian
}

/** Saves the content of the file systems in memory, which disappear with them. */
function keep(stage: Stage, guardian: ReturnType<typeof startGuardian>): void {
  guardian.stdin.write('keep\n')
  for (const [name, disk] of Object.entries(stage.disks ?? {})) {
    disk.keep(join(stage.directory, `kept-${name.replace(' ', '-')}`))
  }
}
