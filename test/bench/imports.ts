import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { type Shape, shapes } from '../import/shapes.ts'
import { type Figure, perSecond } from './figures.ts'
import { productId, tenantId } from './fill.ts'
import { scratchLedger } from './ledger.ts'
import { residentMiB } from './processes.ts'

const few = 10_000
const many = 50_000
const program = join(import.meta.dirname, '../../src/cli/keyledger.ts')
const Result = z.looseObject({ imported: z.int() })

/** Imports of each system's shape from files, by a process of its own that starts the stores, and its memory. */
export async function benchImports(log: (line: string) => void): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const shape of shapes) {
    const small = await importOnce(shape, few)
    const large = await importOnce(shape, many)
    log(`${shape.source}: ${perSecond(large.perSecond)}, ${Math.round(large.maxMiB)} MiB at most`)
    figures.push({
      what: `import from ${shape.source}, from a file`,
      measured: perSecond(large.perSecond),
      against: `${many.toLocaleString('en-US')} licenses, the start included`,
      ratio: '',
      bar: '≥ 1,000/s',
      holds: large.perSecond >= 1000,
    })
    figures.push({
      what: `import from ${shape.source}, memory`,
      measured: `${Math.round(large.maxMiB)} MiB at most`,
      against: `${Math.round(small.maxMiB)} MiB with a fifth`,
      ratio: `${Math.round((large.maxMiB / small.maxMiB) * 100)} %`,
      bar: 'flat (≤ 125 %)',
      holds: large.maxMiB <= 1.25 * small.maxMiB,
    })
  }
  return figures
}

async function importOnce(shape: Shape, licenses: number): Promise<{ perSecond: number; maxMiB: number }> {
  const scratch = await scratchLedger()
  try {
    const path = join(scratch.directory, 'export')
    await shape.write(path, licenses)
    const words = [
      'import',
      '--from',
      shape.source,
      '--tenant',
      tenantId,
      '--product',
      productId,
      '--apply',
      '--json',
      path,
    ]
    const env = { ...process.env, KEYLEDGER_DATA_DIR: scratch.directory }
    execFileSync(process.execPath, [program, 'init'], { env })
    const started = performance.now()
    const child = spawn(process.execPath, [program, ...words], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let maxMiB = 0
    const watch = setInterval(() => {
      if (child.pid !== undefined && child.exitCode === null)
        maxMiB = Math.max(maxMiB, residentMiB(child.pid))
    }, 100)
    const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]).finally(() =>
      clearInterval(watch),
    )
    const seconds = (performance.now() - started) / 1000
    if (Result.parse(JSON.parse(printed)).imported !== licenses) throw new Error('not all were imported')
    return { perSecond: licenses / seconds, maxMiB }
  } finally {
    scratch.remove()
  }
}
