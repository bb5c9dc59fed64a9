import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Checkout, startCheckout } from './checkout.ts'
import { cpuMsOfTree, endedChildrenCpuMs, memoryMiBOfTree } from './cpu.ts'
import { type Figure, ms, perSecond } from './figures.ts'
import {
  alternating,
  fill,
  type LoadOfKind,
  licenses,
  type Measured,
  medianOf,
  type Target,
} from './latency.ts'
import { type Server, startFloor, startPeer } from './processes.ts'

const turns = { rounds: 3, seconds: 5 }
const commandRuns = 5
/** An idle ledger rests once its log has been quiet for half a minute. */
const settleMs = 45_000
const idleMs = 20_000

type Goal = { of: keyof Measured; atMost?: number; atLeast?: number }

/** What a user or an operator feels, and the goal for each. */
const loads: readonly (LoadOfKind & { what: string; goals: readonly Goal[] })[] = [
  { what: 'validate, alone', kind: 'validate', perSecond: 20, goals: [{ of: 'p50Ms', atMost: 0.45 }] },
  {
    what: 'validate at 1,000/s',
    kind: 'validate',
    perSecond: 1000,
    goals: [
      { of: 'p50Ms', atMost: 0.6 },
      { of: 'p99Ms', atMost: 6 },
      { of: 'cpuMs', atMost: 0.4 },
    ],
  },
  {
    what: 'validate at 2,000/s',
    kind: 'validate',
    perSecond: 2000,
    goals: [
      { of: 'p50Ms', atMost: 0.9 },
      { of: 'p99Ms', atMost: 8 },
    ],
  },
  {
    what: 'validate, 32 callers',
    kind: 'validate',
    perSecond: 0,
    callers: 32,
    goals: [{ of: 'perSecond', atLeast: 9000 }],
  },
  {
    what: 'mint at 50/s',
    kind: 'mint',
    perSecond: 50,
    goals: [
      { of: 'p50Ms', atMost: 5 },
      { of: 'cpuMs', atMost: 4 },
    ],
  },
]

type Candidate = { name: string; root: string; ledger: Checkout; startMs: number; restartMs: number }

/**
 * What users and operators feel: start, memory, idle processor, the command, and the latency of calls, of this checkout, of
 * others, of a server that does only what no ledger can do without on the same stores, and of one with a look-up in its own
 * process, in turns.
 */
export async function benchFelt(
  log: (line: string) => void,
  { against }: { against: readonly string[] },
): Promise<Figure[]> {
  const own = join(import.meta.dirname, '../..')
  const roots = [{ name: 'this', root: own }, ...against.map((root) => ({ name: basename(root), root }))]
  const candidates: Candidate[] = []
  const figures: Figure[] = commandFigures(roots)
  const servers: Server[] = []
  try {
    for (const { name, root } of roots) candidates.push({ name, root, ...(await started(name, root, log)) })
    figures.push(...startFigures(candidates))
    log('waiting until they are idle')
    await sleep(settleMs)
    figures.push(...(await idleFigures(candidates)))
    for (const { ledger } of candidates) await fill(ledger, log)
    const ledgers = candidates.map(({ ledger }) => ledger)
    const [mine] = ledgers
    if (!mine) return figures
    const floor = await startFloor(mine.dataDirectory, licenses)
    const peer = await startPeer(licenses)
    servers.push(floor, peer)
    const least = targetOf('floor', floor, () => cpuMsOfTree(floor.pid) + mine.cpuMs())
    const bare = targetOf('without a store', peer, () => cpuMsOfTree(peer.pid))
    for (const load of loads) {
      const targets = [...ledgers, least, ...(load.kind === 'validate' ? [bare] : [])]
      const busy = await busyShare()
      const measured = await alternating(targets, load, log, turns)
      figures.push(loadFigure(load, targets, measured.map(medianOf), busy))
    }
    return figures
  } finally {
    for (const server of servers) await server.stop()
    for (const { ledger } of candidates) await ledger.stop()
  }
}

const targetOf = (name: string, { address }: Server, cpuMs: () => number): Target => ({
  name,
  address,
  token: '',
  cpuMs,
})

async function started(
  name: string,
  root: string,
  log: (line: string) => void,
): Promise<Pick<Candidate, 'ledger' | 'startMs' | 'restartMs'>> {
  const from = performance.now()
  const ledger = await startCheckout(name, root)
  const startMs = performance.now() - from
  log(`${name}: started in ${ms(startMs)}`)
  const again = performance.now()
  await ledger.restart()
  return { ledger, startMs, restartMs: performance.now() - again }
}

function startFigures(candidates: readonly Candidate[]): Figure[] {
  const one = (what: string, goalMs: number, of: (candidate: Candidate) => number): Figure =>
    figureOf(what, candidates.map(of), ms, { atMost: goalMs })
  return [
    one('first start until it listens', 4000, ({ startMs }) => startMs),
    one('stop and restart until it listens', 2000, ({ restartMs }) => restartMs),
  ]
}

async function idleFigures(candidates: readonly Candidate[]): Promise<Figure[]> {
  const memory = candidates.map(({ ledger }) => memoryMiBOfTree(ledger.pid))
  const before = candidates.map(({ ledger }) => ledger.cpuMs())
  await sleep(idleMs)
  const shares = candidates.map(({ ledger }, index) => (ledger.cpuMs() - (before[index] ?? 0)) / idleMs)
  return [
    figureOf('memory, idle (PSS of all processes)', memory, (mib) => `${Math.round(mib)} MiB`, {
      atMost: 300,
    }),
    figureOf('processor, idle', shares, (share) => `${(share * 100).toFixed(1)} % of a core`, {
      atMost: 0.01,
    }),
  ]
}

/** The processor time of a command that calls no server, in turns. */
function commandFigures(roots: readonly { root: string }[]): Figure[] {
  return [['--help'], ['whoami']].map((words) => {
    const times = roots.map((): number[] => [])
    for (let run = 0; run <= commandRuns; run++) {
      for (const [index, { root }] of roots.entries()) {
        const before = endedChildrenCpuMs()
        spawnSync(process.execPath, [join(root, 'bin/keyledger.js'), ...words], {
          cwd: root,
          // Nobody is signed in there.
          env: { ...process.env, HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent' },
        })
        // The first run fills the cache of compiled files.
        if (run > 0) times[index]?.push(endedChildrenCpuMs() - before)
      }
    }
    const medians = times.map((of) => of.toSorted((a, b) => a - b)[Math.floor(commandRuns / 2)] ?? 0)
    return figureOf(`keyledger ${words.join(' ')}: processor time`, medians, ms, { atMost: 250 })
  })
}

function loadFigure(
  { what, goals }: (typeof loads)[number],
  targets: readonly Target[],
  [mine, ...others]: readonly Measured[],
  busy: number,
): Figure {
  const isMet = goals.every(
    ({ of, atMost = Number.POSITIVE_INFINITY, atLeast = 0 }) =>
      mine !== undefined && mine[of] <= atMost && mine[of] >= atLeast,
  )
  return {
    what: busy > 0.2 ? `${what} (the machine was ${Math.round(busy * 100)} % busy before)` : what,
    measured: mine ? textOf(mine) : '',
    against: others.map((other, index) => `${targets[index + 1]?.name}: ${textOf(other)}`).join('; '),
    ratio: '',
    bar: goals.map(goalText).join(', '),
    holds: isMet,
  }
}

const textOf = ({ p50Ms, p95Ms, p99Ms, p999Ms, cpuMs, perSecond: rate }: Measured): string =>
  `p50 ${p50Ms.toFixed(2)}, p95 ${p95Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)}, p99.9 ${p999Ms.toFixed(0)} ms; ` +
  `CPU ${cpuMs.toFixed(2)} ms; ${perSecond(rate)}`

const names = {
  p50Ms: 'p50',
  p95Ms: 'p95',
  p99Ms: 'p99',
  p999Ms: 'p99.9',
  cpuMs: 'CPU',
  perSecond: 'rate',
} as const

const goalText = ({ of, atMost, atLeast }: Goal): string =>
  atMost === undefined ? `${names[of]} ≥ ${perSecond(atLeast ?? 0)}` : `${names[of]} ≤ ${atMost} ms`

function figureOf(
  what: string,
  [mine = 0, ...others]: readonly number[],
  text: (value: number) => string,
  { atMost }: { atMost: number },
): Figure {
  return {
    what,
    measured: text(mine),
    against: others.map(text).join('; '),
    ratio: '',
    bar: `≤ ${text(atMost)}`,
    holds: mine <= atMost,
  }
}

/** The share of the machine that others use while the load rests. */
async function busyShare(): Promise<number> {
  const before = machineTicks()
  await sleep(500)
  const after = machineTicks()
  return 1 - (after.idle - before.idle) / Math.max(1, after.all - before.all)
}

/** @see https://www.kernel.org/doc/html/latest/filesystems/proc.html#miscellaneous-kernel-statistics-in-proc-stat */
function machineTicks(): { idle: number; all: number } {
  const [, ...ticks] = readFileSync('/proc/stat', 'utf8').split('\n')[0]?.trim().split(/\s+/) ?? []
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, ...rest] = ticks.slice(0, 8).map(Number)
  const all = [user, nice, system, idle, waiting, ...rest].reduce((sum, one) => sum + one, 0)
  return { idle: idle + waiting, all }
}
