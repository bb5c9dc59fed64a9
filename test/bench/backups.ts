import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Figure, ms } from './figures.ts'
import { fillLicenses } from './fill.ts'
import { runLoad } from './latency.ts'
import { rebuildAll, type Scratch, scratchLedger } from './ledger.ts'
import { type Server, startLedger } from './processes.ts'

const eventsOfLicense = 2
const validatesPerSecond = 300
const runSeconds = 15
/** Each pair is one run beside a backup and one without. */
const pairs = 10
const maxMs = 2

/**
 * Compares the p99 of validates during a backup with the p99 without one. Runs of both kinds alternate under the
 * same load, so that other work of the machine affects both.
 */
export async function benchBackups(log: (line: string) => void, events: number): Promise<Figure[]> {
  const scratch = await scratchLedger()
  try {
    const licenses = Math.ceil(events / eventsOfLicense)
    log(`filling ${events.toLocaleString('en-US')} events`)
    await fillLicenses(scratch.directory, 0, licenses)
    await rebuildAll(scratch.directory)
    const server = await startLedger(scratch.directory)
    try {
      return [figureOf(events, await measureAlternating(scratch, server, licenses, log))]
    } finally {
      await server.stop()
    }
  } finally {
    scratch.remove()
  }
}

type Latencies = { without: number[]; beside: number[] }

async function measureAlternating(
  { directory, token }: Scratch,
  { address: url }: Server,
  licenses: number,
  log: (line: string) => void,
): Promise<Latencies> {
  const latencies: Latencies = { without: [], beside: [] }
  const p99Of = async (pair: number) => {
    const offset = pair * 1000
    const options = { url, token, kind: 'validate', perSecond: validatesPerSecond, licenses, offset } as const
    return (await runLoad({ ...options, seconds: runSeconds })).p99Ms
  }
  log(`warming up, p99 ${ms(await p99Of(0))}`)
  for (let pair = 1; pair <= pairs; pair++) {
    const take = {
      without: () => p99Of(pair),
      beside: () => besideBackup(directory, () => p99Of(pair)),
    }
    // The order changes with each pair, so that after-effects of one kind do not always hit the other.
    const order = pair % 2 === 1 ? (['without', 'beside'] as const) : (['beside', 'without'] as const)
    for (const kind of order) latencies[kind].push(await take[kind]())
    log(
      `without p99 ${ms(latencies.without.at(-1) ?? 0)}, beside a backup ${ms(latencies.beside.at(-1) ?? 0)}`,
    )
  }
  return latencies
}

/** Runs the work beside a backup, which takes longer and is killed afterwards. */
async function besideBackup<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const partial = join(directory, '.bench.backup.partial')
  const backup = spawn(
    process.execPath,
    [join(import.meta.dirname, '../../src/cli/keyledger.ts'), 'backup', join(directory, 'bench.backup')],
    { env: { ...process.env, KEYLEDGER_DATA_DIR: directory }, stdio: 'ignore' },
  )
  try {
    await untilReadingTheLog(partial, backup)
    const found = await work()
    if (hasEnded(backup)) throw new Error('the backup ended before the turn: take more events')
    return found
  } finally {
    if (!hasEnded(backup)) {
      backup.kill('SIGTERM')
      await once(backup, 'exit')
    }
    rmSync(partial, { force: true })
  }
}

/** The tables come first, and are small here. */
const tablesBytes = 200_000

async function untilReadingTheLog(partial: string, backup: ChildProcess): Promise<void> {
  while (!existsSync(partial) || statSync(partial).size < tablesBytes) {
    if (hasEnded(backup)) throw new Error(`the backup ended with ${backup.exitCode}`)
    await sleep(50)
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

function figureOf(events: number, { without, beside }: Latencies): Figure {
  const change = median(beside) - median(without)
  const spread = ms((Math.max(...without) - Math.min(...without)) / 2)
  return {
    what: `p99 of validates at ${validatesPerSecond}/s beside a backup of ${events.toLocaleString('en-US')} events`,
    measured: ms(median(beside)),
    against: `without one ${ms(median(without))} ± ${spread}`,
    ratio: `${change < 0 ? '−' : '+'}${ms(Math.abs(change))}`,
    bar: `< +${maxMs} ms`,
    holds: change < maxMs,
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
