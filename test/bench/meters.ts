import { join } from 'node:path'
import { type Checkout, startCheckout } from './checkout.ts'
import { type Figure, ms, perSecond } from './figures.ts'
import { fill, licenses, runLoad, send } from './latency.ts'
import { type LoadKind, loadedProductId } from './latency-keys.ts'

const callers = 64
const seconds = 6
const validatesPerSecond = 300
/** What the two kinds have to reach. */
const goals = { 'consume-one': 1000, 'consume-many': 3000 } as const
const names = { 'consume-one': 'one license', 'consume-many': 'many licenses' } as const

/** Consumes a second on one license and on many, their latency at half of the goal, and what they do to validates. */
export async function benchMeters(log: (line: string) => void): Promise<Figure[]> {
  const ledger = await startCheckout('this', join(import.meta.dirname, '../..'))
  try {
    await fill(ledger, log)
    const meter = {
      meter: 'calls',
      unit: 'calls',
      included: '100000000000',
      period: 'license',
      overage: 'block',
    }
    const path = `/v1/products/${loadedProductId}/key-types/default`
    await send(ledger, 'PATCH', path, { meters: [meter] })
    const run = loadsOf(ledger)
    await run('validate', { perSecond: validatesPerSecond })
    const alone = await run('validate', { perSecond: validatesPerSecond })
    const minted = await run('mint', { perSecond: 0, callers })
    log(`mint: ${perSecond(minted.perSecond)}`)
    const figures: Figure[] = []
    for (const kind of ['consume-one', 'consume-many'] as const) {
      const goal = goals[kind]
      await run(kind, { perSecond: 0, callers })
      const most = await run(kind, { perSecond: 0, callers })
      log(`${kind}: ${perSecond(most.perSecond)}, p99 ${ms(most.p99Ms)}`)
      const half = await run(kind, { perSecond: goal / 2 })
      log(`${kind} at ${goal / 2}/s: p50 ${ms(half.p50Ms)}, p99 ${ms(half.p99Ms)}`)
      const [, beside] = await Promise.all([
        run(kind, { perSecond: goal / 2 }),
        run('validate', { perSecond: validatesPerSecond }),
      ])
      log(`validates alone: p99 ${ms(alone.p99Ms)}; beside ${kind}: p99 ${ms(beside.p99Ms)}`)
      figures.push(
        {
          what: `consume on ${names[kind]}, ${callers} callers`,
          measured: perSecond(most.perSecond),
          against: `mint ${perSecond(minted.perSecond)}`,
          ratio: `${(most.perSecond / minted.perSecond).toFixed(1)} ×`,
          bar: `≥ ${perSecond(goal)}`,
          holds: most.perSecond >= goal,
        },
        {
          what: `consume on ${names[kind]} at ${goal / 2}/s: p99`,
          measured: ms(half.p99Ms),
          against: `p50 ${ms(half.p50Ms)}`,
          ratio: '',
          bar: '< 25 ms',
          holds: half.p99Ms < 25,
        },
        {
          what: `validate at ${validatesPerSecond}/s beside that: p99`,
          measured: ms(beside.p99Ms),
          against: `alone ${ms(alone.p99Ms)}`,
          ratio: `${(beside.p99Ms / alone.p99Ms).toFixed(1)} ×`,
          bar: '≤ 1.3 ×',
          holds: beside.p99Ms <= 1.3 * alone.p99Ms,
        },
      )
    }
    return figures
  } finally {
    await ledger.stop()
  }
}

const loadsOf = ({ address: url, token }: Checkout) => {
  let offset = 0
  return (kind: LoadKind, load: { perSecond: number; callers?: number }) => {
    // Different keys in each run.
    offset += 1_000_000
    return runLoad({ url, token, kind, ...load, seconds, licenses, offset })
  }
}
