import { createRandom, type Random } from './random.ts'

/** Every process that runs. */
const parts = ['app 1', 'app 2', 'event store', 'Postgres', 'NATS', 'receiver'] as const
export type Part = (typeof parts)[number]

/** Every connection between two of them, each through a proxy of its own. */
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

/** Whose data lie on a disk that can be filled. */
const disks = ['event store', 'Postgres'] as const
export type Disk = (typeof disks)[number]

/** Whose clocks can be moved; `all` moves all of them together, as when the clock of one machine is set. */
const clocks = ['app 1', 'app 2', 'event store', 'all'] as const
export type Clock = (typeof clocks)[number]

type Planned =
  /**
   * `kill`: `SIGKILL`, and started again after a while. `freeze`: `SIGSTOP`, and `SIGCONT` after a while. `restart`:
   * `SIGTERM`, and started again as soon as it has ended.
   */
  | { kind: 'kill' | 'freeze' | 'restart'; on: Part }
  /**
   * `cut`: every connection that there is ends, and new ones are taken. `silence`: they stay and nothing passes.
   * `deafen`: requests pass, and their answers are lost.
   */
  | { kind: 'cut' | 'silence' | 'deafen'; on: Link }
  | { kind: 'delay'; on: Link; delayMs: number }
  | { kind: 'fill disk'; on: Disk }
  | { kind: 'move clock'; on: Clock; shiftMs: number }

/** One thing that goes wrong, from `atMs` of its round on, for `lastsMs`. */
export type Fault = { atMs: number; lastsMs: number } & Planned
export type FaultKind = Fault['kind']

export const faultKinds: readonly FaultKind[] = [
  'kill',
  'freeze',
  'restart',
  'cut',
  'silence',
  'deafen',
  'delay',
  'fill disk',
  'move clock',
]

export type ScheduleOptions = {
  seed: number
  rounds: number
  /** How long each round's faults go on, before everything is healed and checked. */
  roundMs: number
  /** How many faults a round has at most, besides one of each kind. */
  more: number
}

/** No fault lasts longer, so whatever it held up goes on after that. */
export const longestFaultMs = 12_000
/** At the beginning of a round everything works for so long. */
const calmMs = 1000

/**
 * What goes wrong in each round, in the order of time: a pure function of what is asked. A round has a fault of every
 * kind, and two that last at the same time are never on the same part, link, disk or clock.
 */
export function scheduleOf({ seed, rounds, roundMs, more }: ScheduleOptions): Fault[][] {
  const random = createRandom(seed)
  return Array.from({ length: rounds }, () => {
    const kinds = [...faultKinds, ...Array.from({ length: more }, () => random.pick(faultKinds))]
    const faults: Fault[] = []
    for (const kind of kinds) place(faults, kind, roundMs, random)
    return faults.sort((one, other) => one.atMs - other.atMs)
  })
}

/** Leaves out what finds no free time. */
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
    case 'silence':
    case 'deafen':
      return { kind, on: random.pick(links) }
    case 'delay':
      return { kind, on: random.pick(links), delayMs: random.between(20, 600) }
    case 'fill disk':
      return { kind, on: random.pick(disks) }
    case 'move clock': {
      const on = random.pick(clocks)
      // One machine's clock is set by an hour; clocks of several machines may differ by a minute.
      const mostMs = on === 'all' ? 3_600_000 : 60_000
      return { kind, on, shiftMs: random.chance(0.5) ? mostMs : -mostMs }
    }
  }
}

/**
 * One fault alone, for as long as it is asked for.
 * @param named as `inWords` names kinds and things: `kill Postgres`, `fill disk event store`, `move clock all`
 * @param shiftMs for a clock
 * @returns undefined when nothing is called so
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
    ...links.flatMap((on) => (['cut', 'silence', 'deafen'] as const).map((kind) => ({ kind, on, ...time }))),
    ...disks.map((on) => ({ kind: 'fill disk', on, ...time }) as const),
    ...clocks.map((on) => ({ kind: 'move clock', on, shiftMs, ...time }) as const),
  ]
  return faults.find(({ kind, on }) => `${kind} ${on}` === named)
}

/** In milliseconds, the shortest and the longest. */
function lengthOf(kind: FaultKind): [number, number] {
  switch (kind) {
    case 'kill':
      return [100, 5000]
    case 'restart':
    case 'cut':
      return [0, 0]
    case 'freeze':
      return [200, longestFaultMs]
    case 'silence':
    case 'deafen':
    case 'delay':
      return [500, 10_000]
    case 'fill disk':
      return [2000, 10_000]
    case 'move clock':
      return [3000, longestFaultMs]
  }
}

/** A part, a link, a disk and a clock of the same name are different things. */
const thingOf = ({ kind, on }: Fault): string => {
  const what = kind === 'fill disk' ? 'disk' : kind === 'move clock' ? 'clock' : ''
  return `${what} ${on}`
}

function overlap(one: Fault, other: Fault): boolean {
  // The clocks are one thing: what moves all of them would undo what moves one.
  const same = thingOf(one) === thingOf(other) || (one.kind === 'move clock' && other.kind === 'move clock')
  return same && one.atMs <= other.atMs + other.lastsMs && other.atMs <= one.atMs + one.lastsMs
}

/** In a few words, for the line that says that it begins. */
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
