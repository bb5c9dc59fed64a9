import { join } from 'node:path'
import { startCheckout } from './checkout.ts'
import { memoryMiBOfTree } from './cpu.ts'
import type { Figure } from './figures.ts'
import { ms, percent } from './figures.ts'
import { alternating, figuresText, fill, type LoadOfKind, type Measured, medianOf } from './latency.ts'

const fewest = 1
const loads: readonly LoadOfKind[] = [
  { kind: 'validate', perSecond: 500 },
  { kind: 'mixed', perSecond: 300 },
]

/** The cost of workers: the same load on ledgers with one, two and four of them, alternately. */
export async function benchWorkers(log: (line: string) => void): Promise<Figure[]> {
  const ledgers = []
  try {
    const started: { workers: number; startMs: number; memoryMiB: number }[] = []
    for (const workers of [fewest, 2, 4]) {
      const from = performance.now()
      const ledger = await startCheckout(
        `${workers} workers`,
        join(import.meta.dirname, '../..'),
        undefined,
        {
          KEYLEDGER_WORKERS: String(workers),
        },
      )
      ledgers.push(ledger)
      started.push({ workers, startMs: performance.now() - from, memoryMiB: 0 })
      await fill(ledger, log)
    }
    for (const [index, ledger] of ledgers.entries()) {
      const one = started[index]
      if (one) one.memoryMiB = memoryMiBOfTree(ledger.pid)
    }
    const figures = started.map(({ workers, startMs, memoryMiB }) => ({
      what: `${workers} workers start`,
      measured: ms(startMs),
      against: `${Math.round(memoryMiB)} MiB with the stores, after 20,000 licenses were imported`,
      ratio: '',
      bar: '',
      holds: true,
    }))
    for (const load of loads) figures.push(...figuresOf(load, await alternating(ledgers, load, log)))
    return figures
  } finally {
    for (const ledger of ledgers) await ledger.stop()
  }
}

function figuresOf({ kind, perSecond }: LoadOfKind, measured: readonly Measured[][]): Figure[] {
  const [one, ...more] = measured.map(medianOf)
  return more.flatMap((several, index) => {
    const workers = [2, 4][index] ?? 0
    const growth = one ? several.cpuMs / one.cpuMs : Number.NaN
    return {
      what: `${kind} at ${perSecond}/s, ${workers} workers`,
      measured: figuresText(several),
      against: one ? figuresText(one) : '',
      ratio: `CPU ${percent(growth)}`,
      bar: workers === 4 && kind === 'validate' ? '≤ 110 %' : '',
      holds: workers !== 4 || kind !== 'validate' || growth <= 1.1,
    }
  })
}
