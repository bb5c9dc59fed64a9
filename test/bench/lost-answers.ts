import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { z } from 'zod'
import { startPostgres } from '../../infra/local/postgres/postgres.ts'
import { randomNumbers } from '../harness/random.ts'
import { type Checkout, startCheckout } from './checkout.ts'
import type { Figure } from './figures.ts'
import { send } from './latency.ts'
import { type Counter, othersCounters, type Told } from './other-counters.ts'

const uses = 1000
/** More than enough, and half of what is asked for. */
const limits = [10_000, 500]
const lostShare = 0.1
const ours = 'keyledger'

/**
 * A thousand uses at once, where there is enough for all and where there is for half of them. A tenth of the answers is lost on the way,
 * after the work; a caller without an answer sends the same request again. Whose counter says what callers were told?
 * The others are not run as they are, but by their ways of counting.
 */
export async function benchLostAnswers(log: (line: string) => void): Promise<Figure[]> {
  const checkout = await startCheckout('this', join(import.meta.dirname, '../..'))
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-bench-'))
  const postgres = await startPostgres({ directory, durability: 'none' })
  const db = new pg.Pool({ connectionString: postgres.migrationUrl, max: 40 })
  try {
    const figures: Figure[] = []
    for (const limit of limits)
      for (const counter of [await keyledger(checkout, limit), ...(await othersCounters(db, limit))]) {
        const figure = figureOf(counter, limit, await race(counter), await counter.counted())
        log(`${figure.what}: ${figure.measured}, ${figure.against}`)
        figures.push(figure)
      }
    return figures
  } finally {
    await db.end()
    await postgres.stop()
    rmSync(directory, { recursive: true, force: true })
    await checkout.stop()
  }
}

function figureOf({ name }: Counter, limit: number, told: Record<Told, number>, counted: number): Figure {
  const right = Math.min(uses, limit)
  const isExact = counted === right && told.allowed === right
  return {
    what: `1,000 uses of ${limit.toLocaleString('en-US')}, a tenth of the answers lost: ${name}`,
    measured: `${counted} counted`,
    against: `${told.allowed} callers allowed${told.duplicate > 0 ? `, ${told.duplicate} not told` : ''}`,
    ratio: isExact ? 'exact' : 'not exact',
    bar: name === ours ? 'exact' : '',
    holds: isExact || name !== ours,
  }
}

/** All callers at once, each until it has an answer. @returns how many were told what */
async function race({ use }: Counter): Promise<Record<Told, number>> {
  const told: Record<Told, number> = { allowed: 0, refused: 0, conflict: 0, duplicate: 0 }
  const random = randomNumbers(34)
  // The same answers are lost in each race.
  const lost = Array.from({ length: uses }, () => {
    let count = 0
    while (random() < lostShare) count++
    return count
  })
  await Promise.all(
    lost.map(async (times, index) => {
      for (let answers = 0; ; ) {
        const answer = await use(`use-${index}`)
        if (answer === 'conflict') await sleep(Math.random() * 200)
        else if (answers++ >= times) return void told[answer]++
      }
    }),
  )
  return told
}

const Minted = z.object({ license: z.object({ id: z.string() }), licenseKey: z.string() })
const Consumed = z.object({ allowed: z.boolean() })
const Meters = z.object({ meters: z.array(z.object({ used: z.string() })) })

async function keyledger(checkout: Checkout, limit: number): Promise<Counter> {
  const productId = `api-${limit}`
  const meters = [
    { meter: 'calls', unit: 'calls', included: String(limit), period: 'license', overage: 'block' },
  ]
  await send(checkout, 'POST', '/v1/products', {
    productId,
    name: 'API',
    keyTypes: [{ name: 'Pro', meters }],
  })
  const { license, licenseKey } = Minted.parse(await send(checkout, 'POST', '/v1/licenses', { productId }))
  const use = { license_key: licenseKey, product_id: productId, meter: 'calls', amount: '1' }
  return {
    name: ours,
    async use(key) {
      const answer = await send(checkout, 'POST', '/v1/licenses/consume', { ...use, idempotency_key: key })
      return Consumed.parse(answer).allowed ? 'allowed' : 'refused'
    },
    async counted() {
      const [meter] = Meters.parse(await send(checkout, 'GET', `/v1/licenses/${license.id}/meters`)).meters
      return Number(meter?.used)
    },
  }
}
