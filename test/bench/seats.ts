import { join } from 'node:path'
import { startCheckout } from './checkout.ts'
import { type Figure, percent } from './figures.ts'
import { fill, licenses, runLoad } from './latency.ts'

const heartbeats = { kind: 'heartbeat', perSecond: 2000 } as const
const validates = { kind: 'validate', perSecond: 300 } as const
/** The first one warms up. */
const rounds = 4
const seconds = 3
/** How much slower each may be beside the other than alone. */
const most = 1.3

type Load = typeof heartbeats | typeof validates

/** Heartbeats of floating seats beside validates: the slowest hundredth of each, against each alone, in alternating turns. */
export async function benchSeats(log: (line: string) => void): Promise<Figure[]> {
  const ledger = await startCheckout('this', join(import.meta.dirname, '../..'))
  try {
    const floatingSeats = { seatSeconds: 600, overdraft: null, scope: 'device' }
    await fill(ledger, log, { floatingSeats })
    const run = async (load: Load, round: number) => {
      const { address: url, token } = ledger
      const offset = (round * 1000 + load.perSecond) % licenses
      return (await runLoad({ ...load, url, token, seconds, licenses, offset })).p99Ms
    }
    const alone = { heartbeat: [] as number[], validate: [] as number[] }
    const beside = { heartbeat: [] as number[], validate: [] as number[] }
    for (let round = 0; round < rounds; round++) {
      const own = [await run(heartbeats, round), await run(validates, round)] as const
      const both = await Promise.all([run(heartbeats, round), run(validates, round)])
      log(`p99 alone ${own.map(fine).join(' and ')}, together ${both.map(fine).join(' and ')}`)
      if (round === 0) continue
      alone.heartbeat.push(own[0])
      alone.validate.push(own[1])
      beside.heartbeat.push(both[0])
      beside.validate.push(both[1])
    }
    return [heartbeats, validates].map(({ kind, perSecond }) => {
      const [mine, theirs] = [medianOf(beside[kind]), medianOf(alone[kind])]
      return {
        what: `${kind}s at ${perSecond.toLocaleString('en-US')}/s beside the other, p99`,
        measured: fine(mine),
        against: `${fine(theirs)} alone`,
        ratio: percent(mine / theirs),
        bar: `≤ ${percent(most)}`,
        holds: mine <= theirs * most,
      }
    })
  } finally {
    await ledger.stop()
  }
}

const fine = (value: number): string => `${value.toFixed(2)} ms`

const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
