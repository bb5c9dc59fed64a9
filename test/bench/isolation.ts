import { setTimeout } from 'node:timers/promises'
import type { PresentProduct } from '../../projections/products/queries.ts'
import type { Stores } from '../../src/app/stores.ts'
import { deliveryIdOf } from '../../src/commands/deliveries.ts'
import { type Figure, ms } from './figures.ts'
import { makePending, openShops, type Pending, schedule } from './shops.ts'

const endpoints = 1000
const rounds = 9
const roundSeconds = 10
/**
 * The share of the maximum delivery rate for all ordinary tenants, and for each of the two special ones; nothing
 * has to queue.
 */
const shareOfOthers = 0.15
const shareOfEach = 0.015
/** Nothing listens there. */
const refusing = 'http://127.0.0.1:1/hook'

/**
 * How much later ordinary tenants receive deliveries when one endpoint hangs and one refuses, compared with two
 * that respond under the same load. Rounds of both kinds alternate. The endpoint that hangs has the same origin as
 * the ordinary ones.
 * @param perSecond the delivery rate when all are due
 */
export async function benchIsolation(
  stores: Stores,
  sink: string,
  perSecond: number,
  log: (line: string) => void,
): Promise<Figure> {
  const others = await openShops(stores, 'other', `${sink}/hook`, endpoints - 2)
  const without: number[] = []
  const beside: number[] = []
  const countOf = (share: number) => Math.ceil(share * perSecond * roundSeconds)
  const take = async (two: readonly PresentProduct[]) => {
    const ordinary = repeated(others, countOf(shareOfOthers))
    const p99 = await measureRound(
      stores,
      ordinary,
      two.map((one) => repeated([one], countOf(shareOfEach))),
    )
    await fetch(`${sink}/release`, { method: 'POST' })
    return p99
  }
  log(`warming up, p99 ${ms(await take(others.slice(0, 2)))}`)
  for (let round = 0; round < rounds; round++) {
    without.push(await take(await openShops(stores, `well-${round}`, `${sink}/hook`, 2)))
    // New tenants each round: an endpoint that failed is not tried again in later rounds.
    const [hangs] = await openShops(stores, `hanging-${round}`, `${sink}/hang`, 1)
    const [refuses] = await openShops(stores, `refusing-${round}`, refusing, 1)
    if (!hangs || !refuses) throw new Error('there are two')
    beside.push(await take([hangs, refuses]))
    log(`without p99 ${ms(without[round] ?? 0)}, beside the two ${ms(beside[round] ?? 0)}`)
  }
  const rise = median(beside) / median(without) - 1
  return {
    what: "others' p99 beside an endpoint that hangs and one that refuses, of 1,000",
    measured: ms(median(beside)),
    against: `beside two that answer ${ms(median(without))}`,
    ratio: `${rise < 0 ? '−' : '+'}${Math.round(Math.abs(rise) * 100)} %`,
    bar: '< +10 %',
    holds: rise < 0.1,
  }
}

const repeated = (products: readonly PresentProduct[], count: number): PresentProduct[] =>
  Array.from({ length: Math.ceil(count / products.length) }, () => products)
    .flat()
    .slice(0, count)

/** @returns the p99 of the ordinary tenants, from scheduling to the recorded delivery, in ms */
async function measureRound(
  stores: Stores,
  others: readonly PresentProduct[],
  two: readonly (readonly PresentProduct[])[],
): Promise<number> {
  const ofOthers = await makePending(stores, others)
  const ofTwo = await Promise.all(two.map((one) => makePending(stores, one)))
  await Promise.all([ofOthers, ...ofTwo].map((pending) => atPace(stores, pending)))
  return at99(await latenciesOf(stores, ofOthers))
}

/** Schedules the deliveries evenly over a round, without waiting for them. */
async function atPace(stores: Stores, pending: readonly Pending[]): Promise<void> {
  const started = performance.now()
  const scheduling: Promise<void>[] = []
  for (const [index, one] of pending.entries()) {
    const due = started + (index / pending.length) * roundSeconds * 1000
    await setTimeout(Math.max(0, due - performance.now()))
    scheduling.push(schedule(stores, one))
  }
  await Promise.all(scheduling)
}

async function latenciesOf({ ports, db }: Stores, pending: readonly Pending[]): Promise<number[]> {
  const ids = pending.map((one) => deliveryIdOf(ports, one))
  for (;;) {
    const { rows } = await db.query<{ status: string; tookMs: number }>(
      `select status, 1000 * extract(epoch from
         (state ->> 'endedAt')::timestamptz - (state ->> 'scheduledAt')::timestamptz)::float as "tookMs"
       from deliveries where delivery_id = any($1)`,
      [ids],
    )
    if (rows.every(({ status }) => status === 'delivered')) return rows.map(({ tookMs }) => tookMs)
    await setTimeout(100)
  }
}

const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b)
const at99 = (values: readonly number[]) => sorted(values)[Math.floor(values.length * 0.99)] ?? Number.NaN
const median = (values: readonly number[]) => sorted(values)[Math.floor(values.length / 2)] ?? Number.NaN
