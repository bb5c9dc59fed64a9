import { createRandom, type Random } from './random.ts'

/** All processes. */
const parts = ['app 1', 'app 2', 'event store', 'Postgres', 'NATS', 'receiver'] as const
export type Part = (typeof parts)[number]

/** All connections between processes, each through its own proxy. */
const links = [
  'clients to app 1',
  'clients to app 2',
  'app 1 to event store',
  'app 2 to event store',
  'app 1 to Postgres',
  'app 2 to Postgres',
  'app 1 to NATS',
  'app 2 to NATS',
  'apps to receiver',
] as const
export type Link = (typeof links)[number]

/** The parts with a disk that can be filled. */
const disks = ['event store', 'Postgres'] as const
export type Disk = (typeof disks)[number]

/** The clocks that can be moved; `all` moves them together, as when the clock of one machine is set. */
const clocks = ['app 1', 'app 2', 'event store', 'all'] as const
export type Clock = (typeof clocks)[number]

const floodedLinks = ['clients to app 1', 'clients to app 2'] as const
type FloodedLink = (typeof floodedLinks)[number]

type Planned =
  /**
   * `kill`: SIGKILL, and a start after a while. `freeze`: SIGSTOP, and SIGCONT after a while. `restart`: SIGTERM,
   * and a start as soon as it has ended.
   */
  | { kind: 'kill' | 'freeze' | 'restart'; on: Part }
  /**
   * `cut`: open connections are closed, and new ones are accepted. `reset`: the same, in the middle of what is on its
   * way. `silence`: connections stay open but transfer nothing. `deafen`: requests pass, and their responses are lost.
   */
  | { kind: 'cut' | 'reset' | 'silence' | 'deafen'; on: Link }
  /** Postgres ends connections of the applications at random moments. */
  | { kind: 'end backends'; on: 'Postgres' }
  /** Clients without a token send the largest and deepest requests that they can. */
  | { kind: 'flood'; on: FloodedLink }
  | { kind: 'delay'; on: Link; delayMs: number }
  | { kind: 'fill disk'; on: Disk }
  | { kind: 'move clock'; on: Clock; shiftMs: number }

/** A fault, from `atMs` after the beginning of its round, for `lastsMs`. */
export type Fault = { atMs: number; lastsMs: number } & Planned
export type FaultKind = Fault['kind']

export const faultKinds: readonly FaultKind[] = [
  'kill',
  'freeze',
  'restart',
  'cut',
  'reset',
  'silence',
  'deafen',
  'delay',
  'end backends',
  'flood',
  'fill disk',
  'move clock',
]

export type ScheduleOptions = {
  seed: number
  rounds: number
  /** The duration of the faults in each round, before everything is healed and checked: at least half a minute. */
  roundMs: number
  /** The maximum number of faults in a round, in addition to one of each kind. */
  more: number
}

/** The longest fault; whatever it delayed continues after that. */
export const longestFaultMs = 20_000
/** The time without faults at the beginning of a round. */
const calmMs = 1000

/**
 * The faults of each round in the order of time, as a pure function of the options. A round has a fault of every
 * kind, and two simultaneous faults never concern the same part, link, disk or clock.
 */
export function scheduleOf({ seed, rounds, roundMs, more }: ScheduleOptions): Fault[][] {
  const random = createRandom(seed)
  return Array.from({ length: rounds }, () => {
    const kinds = [...faultKinds, ...Array.from({ length: more }, () => random.pick(faultKinds))]
    let faults: Fault[]
    // A long fault of a part may leave no time for a kind that only that part can have: the round is drawn again.
    do {
      faults = []
      for (const kind of kinds) place(faults, kind, roundMs, random)
    } while (!faultKinds.every((kind) => faults.some((fault) => fault.kind === kind)))
    return faults.sort((one, other) => one.atMs - other.atMs)
  })
}

/** Skips a fault for which there is no free time. */
function place(faults: Fault[], kind: FaultKind, roundMs: number, random: Random): void {
  for (let tries = 0; tries < 40; tries++) {
    const planned = plan(kind, random)
    const lastsMs = random.between(...lengthOf(kind))
    const latest = roundMs - lastsMs
    if (latest < calmMs) continue
    const fault: Fault = { atMs: random.between(calmMs, latest), lastsMs, ...planned }
    if (faults.some((other) => overlap(fault, other))) continue
    faults.push(fault)
    return
  }
}

function plan(kind: FaultKind, random: Random): Planned {
  switch (kind) {
    case 'kill':
    case 'freeze':
    case 'restart':
      return { kind, on: random.pick(parts) }
    case 'cut':
    case 'reset':
    case 'silence':
    case 'deafen':
      return { kind, on: random.pick(links) }
    case 'end backends':
      return { kind, on: 'Postgres' }
    case 'flood':
      return { kind, on: random.pick(floodedLinks) }
    case 'delay':
      return { kind, on: random.pick(links), delayMs: random.between(20, 600) }
    case 'fill disk':
      return { kind, on: random.pick(disks) }
    case 'move clock': {
      const on = random.pick(clocks)
      // The clock of one machine may be set by an hour; clocks of several machines may differ by a minute.
      const maxMs = on === 'all' ? 3_600_000 : 60_000
      return { kind, on, shiftMs: random.chance(0.5) ? maxMs : -maxMs }
    }
  }
}

/**
 * A single fault.
 * @param named as `inWords` names it: `kill Postgres`, `fill disk event store`, `move clock all`
 * @param shiftMs for a clock
 * @returns undefined for an unknown name
 */
export function singleFault(
  named: string,
  atMs: number,
  lastsMs: number,
  shiftMs: number,
): Fault | undefined {
  const time = { atMs, lastsMs }
  const faults: Fault[] = [
    ...parts.flatMap((on) => (['kill', 'freeze', 'restart'] as const).map((kind) => ({ kind, on, ...time }))),
    ...links.flatMap((on) =>
      (['cut', 'reset', 'silence', 'deafen'] as const).map((kind) => ({ kind, on, ...time })),
    ),
    { kind: 'end backends', on: 'Postgres', ...time },
    ...floodedLinks.map((on) => ({ kind: 'flood', on, ...time }) as const),
    ...disks.map((on) => ({ kind: 'fill disk', on, ...time }) as const),
    ...clocks.map((on) => ({ kind: 'move clock', on, shiftMs, ...time }) as const),
  ]
  return faults.find(({ kind, on }) => `${kind} ${on}` === named)
}

/** The shortest and the longest duration, in milliseconds. */
function lengthOf(kind: FaultKind): [number, number] {
  switch (kind) {
    case 'kill':
      return [100, 5000]
    case 'restart':
    case 'cut':
    case 'reset':
      return [0, 0]
    case 'freeze':
      return [200, longestFaultMs]
    case 'silence':
    case 'deafen':
    case 'delay':
    case 'end backends':
    case 'flood':
      return [500, 10_000]
    case 'fill disk':
      return [2000, 10_000]
    case 'move clock':
      return [3000, 12_000]
  }
}

/** Distinguishes a part, a link, a disk and a clock of the same name. */
const thingOf = ({ kind, on }: Fault): string => {
  const what = kind === 'fill disk' ? 'disk' : kind === 'move clock' ? 'clock' : ''
  return `${what} ${on}`
}

function overlap(one: Fault, other: Fault): boolean {
  // Faults of clocks never overlap: moving all of them would undo moving one.
  const same = thingOf(one) === thingOf(other) || (one.kind === 'move clock' && other.kind === 'move clock')
  return same && one.atMs <= other.atMs + other.lastsMs && other.atMs <= one.atMs + one.lastsMs
}

/** A short name, for the line that reports its beginning. */
export function inWords(fault: Fault): string {
  const { on, lastsMs } = fault
  const during = `for ${(lastsMs / 1000).toFixed(1)} s`
  switch (fault.kind) {
    case 'kill':
      return `${on} is killed, and started again after ${(lastsMs / 1000).toFixed(1)} s`
    case 'restart':
      return `${on} is stopped in order, and started again`
    case 'freeze':
      return `${on} is frozen ${during}`
    case 'cut':
      return `connections are cut: ${on}`
    case 'reset':
      return `connections are reset: ${on}`
    case 'end backends':
      return `Postgres ends connections ${during}`
    case 'flood':
      return `hostile requests are sent ${during}: ${on}`
    case 'silence':
      return `nothing passes ${during}: ${on}`
    case 'deafen':
      return `answers are lost ${during}: ${on}`
    case 'delay':
      return `everything takes ${fault.delayMs} ms longer ${during}: ${on}`
    case 'fill disk':
      return `the disk of ${on} is full ${during}`
    case 'move clock':
      return `${on === 'all' ? 'every clock' : `the clock of ${on}`} is ${fault.shiftMs / 1000} s off ${during}`
  }
}
