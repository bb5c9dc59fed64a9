// `npm run soak [-- --tenants 1000 --licenses 1000 --minutes 10]`: apps of many tenants validate, activate,
// deactivate and read their settings at 70 % of the maximum of a short trial. No call may fail, the p99 must stay
// low, and the memory constant. The p99 of trivial calls is measured first, at the same rate and at 70 % of their
// maximum, as the lower bound.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { type Figure, ms, percent, perSecond, report } from './figures.ts'
import { fillLicenses } from './fill.ts'
import { rebuildAll, scratchLedger } from './ledger.ts'
import { decimalOption, wholeOption } from './number-option.ts'
import { residentMiB, type Server, startLedger } from './processes.ts'

const { values } = parseArgs({
  options: {
    tenants: { type: 'string', default: '1000' },
    licenses: { type: 'string', default: '1000' },
    minutes: { type: 'string', default: '10' },
    /** Calls per second; undefined takes 70 % of the measured maximum. */
    rate: { type: 'string' },
  },
})
const tenants = wholeOption('--tenants', values.tenants, 1, 1_000_000)
const licenses = tenants * wholeOption('--licenses', values.licenses, 1, 1_000_000)
const seconds = decimalOption('--minutes', values.minutes, 0.1, 10_000) * 60
const givenRate = values.rate === undefined ? undefined : wholeOption('--rate', values.rate, 1, 1_000_000)

const connections = 64
const share = 0.7
/** Long enough to warm up the code and to open every tenant's keys. */
const trialSeconds = Math.min(30, seconds)

const Tick = z.object({ answered: z.int(), failed: z.int() })
const Counts = z.record(z.string(), z.object({ answered: z.int(), failed: z.int() }))
const Result = z.object({
  perSecond: z.number(),
  p50Ms: z.number(),
  p99Ms: z.number(),
  maxMs: z.number(),
  failed: z.int(),
  counts: Counts,
  failures: z.record(z.string(), z.int()),
})
type Result = z.infer<typeof Result>

const say = (line: string) => process.stderr.write(`${line}\n`)
/** Overwrites one line at a terminal, and prints an occasional line elsewhere. */
function showProgress(line: string, isTurn: boolean): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`)
  else if (isTurn) say(line)
}

/** Runs the load, and calls back every second. */
async function load(
  { address }: Server,
  options: { seconds: number; rate?: number; bare?: boolean },
  onSecond: (second: number, tick: z.infer<typeof Tick>) => void,
): Promise<Result> {
  const argument = JSON.stringify({ url: address, tenants, licenses, connections, ...options })
  const child = spawn(process.execPath, [new URL('soak-load.ts', import.meta.url).pathname, argument], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let second = 0
  let result: Result | undefined
  for await (const line of createInterface({ input: child.stdout })) {
    const parsed: unknown = JSON.parse(line)
    const tick = Tick.safeParse(parsed)
    if (tick.success) onSecond(++second, tick.data)
    else result = Result.parse(parsed)
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  if (!result) throw new Error('the load ended before it was over')
  return result
}

const scratch = await scratchLedger(tenants)
try {
  say(`filling ${licenses.toLocaleString('en-US')} licenses of ${tenants.toLocaleString('en-US')} tenants`)
  await fillLicenses(scratch.directory, 0, licenses, { tenants })
  await rebuildAll(scratch.directory)
  const ledger = await startLedger(scratch.directory)
  try {
    const figures = await soak(ledger)
    process.stdout.write(`${report(figures)}\n`)
    process.exitCode = figures.every(({ holds }) => holds) ? 0 : 1
  } finally {
    await ledger.stop()
  }
} finally {
  scratch.remove()
}

async function soak(ledger: Server): Promise<Figure[]> {
  const rate = givenRate ?? (await rateFor(ledger))
  const bare = await trial(ledger, 'bare', { rate, bare: true })
  const bareMost = await trial(ledger, 'bare, at most', { bare: true })
  const bareRate = Math.floor(bareMost.perSecond * share)
  const bareShare = await trial(ledger, `bare, ${percent(share)} of that`, { rate: bareRate, bare: true })
  const firstMinute = Math.min(60, Math.ceil(seconds / 5))
  let earlyMiB = 0
  let lateMiB = 0
  let before = 0
  const result = await load(ledger, { seconds, rate }, (second, { answered, failed }) => {
    lateMiB = residentMiB(ledger.pid)
    if (second === firstMinute) earlyMiB = lateMiB
    const line = `${second} of ${seconds} s  ${perSecond(answered - before)}  ${failed} failed  ${Math.round(lateMiB)} MiB`
    before = answered
    showProgress(line, second % 30 === 0)
  })
  for (const [kind, { answered, failed }] of Object.entries(result.counts)) {
    if (answered + failed > 0) say(`${kind}: ${answered.toLocaleString('en-US')} answered, ${failed} failed`)
  }
  for (const [failure, times] of Object.entries(result.failures)) say(`${times} × ${failure}`)
  const under = `at ${perSecond(rate)} requested`
  return [
    {
      what: `soak of ${Math.round(seconds)} s, errors`,
      measured: String(result.failed),
      against: `${perSecond(result.perSecond)} answered ${under}`,
      ratio: '',
      bar: '0',
      holds: result.failed === 0 && result.perSecond >= 0.95 * rate,
    },
    {
      what: 'soak, p99',
      measured: ms(result.p99Ms),
      against: `bare route at that rate ${ms(bare.p99Ms)}; p50 ${ms(result.p50Ms)}, slowest ${ms(result.maxMs)}`,
      ratio: `${(result.p99Ms / bare.p99Ms).toFixed(1)} ×`,
      bar: '< 25 ms',
      holds: result.p99Ms < 25,
    },
    {
      what: `bare route at ${percent(share)} of its most, p99`,
      measured: ms(bareShare.p99Ms),
      against: `${perSecond(bareShare.perSecond)} of ${perSecond(bareMost.perSecond)}`,
      ratio: '',
      bar: '',
      holds: true,
    },
    {
      what: 'soak, memory of the app process',
      measured: `${Math.round(lateMiB)} MiB at the end`,
      against: `${Math.round(earlyMiB)} MiB after ${firstMinute} s`,
      ratio: percent(lateMiB / earlyMiB),
      bar: 'flat (≤ 125 %)',
      holds: lateMiB <= 1.25 * earlyMiB,
    },
  ]
}

/** 70 % of the maximum rate after the warm-up. */
async function rateFor(ledger: Server): Promise<number> {
  await trial(ledger, 'warming up', {})
  const { perSecond: most } = await trial(ledger, 'measuring the most', {})
  const rate = Math.floor(most * share)
  say(`at most ${perSecond(most)}; going on at ${perSecond(rate)}`)
  return rate
}

function trial(ledger: Server, what: string, options: { rate?: number; bare?: boolean }): Promise<Result> {
  return load(ledger, { seconds: trialSeconds, ...options }, (second, { failed }) =>
    showProgress(`${what}: ${second} of ${trialSeconds} s, ${failed} failed`, false),
  )
}
