import { setTimeout } from 'node:timers/promises'
import { type Figure, ms, percent, perSecond } from './figures.ts'
import { fillLicenses } from './fill.ts'
import { rebuildAll, scratchLedger } from './ledger.ts'
import { wholeOption } from './number-option.ts'
import {
  bareAppends,
  eventStoreUrl,
  type Load,
  load,
  residentMiB,
  type Server,
  startLedger,
} from './processes.ts'

const licenses = wholeOption(
  'KEYLEDGER_BENCH_ENDS',
  process.env.KEYLEDGER_BENCH_ENDS ?? '100000',
  1000,
  100_000_000,
)
const processes = 3
const metricsToken = 'metrics-token-of-the-bench'
/** The bytes of an expiry in the log, data and metadata together. */
const endedBytes = 300
/** Licenses must not expire before everything runs. */
const startingMs = 45_000

/**
 * Licenses that all expire in the same second: how long it takes to record each expiry once, and how it affects
 * validates; first with one process, then with several.
 */
export async function benchExpiries(log: (line: string) => void): Promise<Figure[]> {
  return [...(await ends(1, log)), ...(await ends(processes, log))]
}

async function ends(count: number, log: (line: string) => void): Promise<Figure[]> {
  const scratch = await scratchLedger()
  const running: Server[] = []
  const stop = async () => {
    // The first one started the stores, and stops them last.
    for (const server of running.splice(0).reverse()) await server.stop()
  }
  try {
    log(`filling ${licenses.toLocaleString('en-US')} licenses`)
    const end = await endAfterFilling(scratch.directory)
    await fillLicenses(scratch.directory, 0, licenses, { expiresAt: end.toISOString() })
    const { events } = await rebuildAll(scratch.directory)
    for (let index = 0; index < count; index++)
      running.push(await startLedger(scratch.directory, { KEYLEDGER_METRICS_TOKEN: metricsToken }))
    const watched = await watch(running, { token: scratch.token, end, store: scratch.directory }, log)
    await stop()
    const recorded = (await rebuildAll(scratch.directory)).events - events
    return figures(count, recorded, watched)
  } finally {
    await stop()
    scratch.remove()
  }
}

/** When all licenses will have been filled in, extrapolated from a tenth as many that do not expire. */
async function endAfterFilling(directory: string): Promise<Date> {
  const started = Date.now()
  await fillLicenses(directory, licenses, licenses + Math.ceil(licenses / 10))
  await rebuildAll(directory)
  const tenthMs = Date.now() - started
  return new Date(Math.ceil((Date.now() + 6 * tenthMs + startingMs) / 1000) * 1000)
}

type Watched = {
  /** The appends of the comparison, which are in the log as well. */
  appends: number
  bare: number
  seconds: number
  before: Load
  during: Load
  earlyMiB: number
  maxMiB: number
}

async function watch(
  running: readonly Server[],
  { token, end, store }: { token: string; end: Date; store: string },
  log: (line: string) => void,
): Promise<Watched> {
  const url = running[0]?.address ?? ''
  // A low rate: the question is whether validates are delayed, not how many succeed.
  const options = { url, token, kind: 'validate', to: licenses, connections: 4 } as const
  const resident = () => Math.max(...running.map(({ pid }) => residentMiB(pid)))
  await load({ ...options, seconds: 3 })
  const before = await load({ ...options, seconds: 8 })
  const leftMs = end.getTime() - Date.now()
  if (leftMs < 0) throw new Error(`the ends came ${-leftMs} ms before all was filled`)
  await setTimeout(leftMs)
  const validating = load({ ...options, seconds: 10 })
  let earlyMiB = 0
  let maxMiB = 0
  for (let left = 1; left !== 0; ) {
    await setTimeout(250)
    left = await overdueSeconds(url)
    maxMiB = Math.max(maxMiB, resident())
    if (earlyMiB === 0 && Date.now() - end.getTime() > 5000) earlyMiB = resident()
  }
  const seconds = (Date.now() - end.getTime()) / 1000
  const during = await validating
  const appends = Math.min(licenses, 30_000)
  const bare = await bareAppends(eventStoreUrl(store), endedBytes, appends)
  log(
    `${running.length} processes: all recorded after ${seconds.toFixed(1)} s, bare append ${perSecond(bare)}`,
  )
  return { bare, appends, seconds, before, during, earlyMiB: earlyMiB || maxMiB, maxMiB }
}

/** The age of the oldest expiry that is not recorded. */
async function overdueSeconds(url: string): Promise<number> {
  const headers = { authorization: `Bearer ${metricsToken}` }
  const metrics = await (await fetch(`${url}/metrics`, { headers })).text()
  return Number(/^keyledger_expiry_overdue_seconds (\S+)$/m.exec(metrics)?.[1] ?? Number.NaN)
}

function figures(count: number, recorded: number, watched: Watched): Figure[] {
  const { bare, seconds, before, during, earlyMiB, maxMiB } = watched
  const by = count === 1 ? 'one process' : `${count} processes`
  return [
    {
      what: `${licenses.toLocaleString('en-US')} ends at one moment, ${by}`,
      measured: `${seconds.toFixed(1)} s, ${perSecond(licenses / seconds)}`,
      against: `bare append ${perSecond(bare)}`,
      ratio: percent(licenses / seconds / bare),
      bar: 'each once',
      holds: recorded === licenses,
    },
    {
      what: `validate meanwhile, p99, ${by}`,
      measured: ms(during.p99Ms),
      against: `before ${ms(before.p99Ms)}`,
      ratio: `${(during.p99Ms / before.p99Ms).toFixed(1)} ×`,
      bar: 'none fails',
      holds: before.failed + during.failed === 0,
    },
    {
      what: `ends at one moment, memory, ${by}`,
      measured: `${Math.round(maxMiB)} MiB at most`,
      against: `${Math.round(earlyMiB)} MiB after 5 s`,
      ratio: percent(maxMiB / earlyMiB),
      bar: 'flat (≤ 125 %)',
      holds: maxMiB <= 1.25 * earlyMiB,
    },
  ]
}
