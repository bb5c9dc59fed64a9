import { spawn } from 'node:child_process'
import { basename, join } from 'node:path'
import { type Checkout, startCheckout } from './checkout.ts'
import { type Figure, ms, percent } from './figures.ts'
import {
  type LoadKind,
  LoadMeasured,
  type LoadOptions,
  loadedDeviceId,
  loadedKeyOf,
  loadedProductId,
} from './latency-keys.ts'

export const licenses = 20_000
const importedAtOnce = 1000
const thorough: Turns = { rounds: 5, seconds: 6 }

/** Rates below the machine's capacity: the latency of a call is measured, not the throughput. */
const loads: readonly LoadOfKind[] = [
  { kind: 'validate', perSecond: 10 },
  { kind: 'validate', perSecond: 300 },
  { kind: 'validate', perSecond: 1000 },
  { kind: 'validate', perSecond: 2000 },
  { kind: 'mint', perSecond: 5 },
  { kind: 'mint', perSecond: 50 },
  { kind: 'mint', perSecond: 200 },
  { kind: 'activate', perSecond: 50 },
  { kind: 'mixed', perSecond: 300 },
]

/** At a rate, or, with callers, as fast as they are answered. */
export type LoadOfKind = { kind: LoadKind; perSecond: number; callers?: number }
export type Measured = {
  p50Ms: number
  p95Ms: number
  p99Ms: number
  p999Ms: number
  cpuMs: number
  perSecond: number
}
/** How often each ledger is measured, and for how long. */
export type Turns = { rounds: number; seconds: number }
/** Whatever answers the load. */
export type Target = Pick<Checkout, 'name' | 'address' | 'token' | 'cpuMs'>

/** The comparison: other checkouts by their directories, or this one on the given event store. */
export type Compared = { against: readonly string[]; eventstore?: string | undefined }

/**
 * Latency at fixed rates, and processor time per call of the application and its embedded stores. The compared
 * ledgers run at the same time and are loaded alternately.
 */
export async function benchLatency(
  log: (line: string) => void,
  { against, eventstore }: Compared,
): Promise<Figure[]> {
  const root = join(import.meta.dirname, '../..')
  const ledgers: Checkout[] = []
  try {
    ledgers.push(await startCheckout('this', root))
    for (const other of against) ledgers.push(await startCheckout(basename(other), other))
    if (eventstore !== undefined) {
      ledgers.push(await startCheckout('on the given event store', root, eventstore))
    }
    for (const ledger of ledgers) await fill(ledger, log)
    const figures: Figure[] = []
    for (const options of loads) figures.push(figureOf(options, await alternating(ledgers, options, log)))
    return figures
  } finally {
    for (const ledger of ledgers) await ledger.stop()
  }
}

/**
 * Creates a product and licenses with one device each through the API, which every version has.
 * @param own further fields of the key type
 */
export async function fill(ledger: Checkout, log: (line: string) => void, own: object = {}): Promise<void> {
  log(`importing ${licenses.toLocaleString('en-US')} licenses into ${ledger.name}`)
  const keyType = { keyTypeId: 'default', name: 'Default', deviceLimit: 1000, entitlements: ['pro'] }
  const keyTypes = [{ ...keyType, ...own }]
  await send(ledger, 'POST', '/v1/products', { productId: loadedProductId, name: 'Bench', keyTypes })
  for (let from = 0; from < licenses; from += importedAtOnce) {
    const rows = Array.from({ length: importedAtOnce }, (_, index) => ({
      licenseKey: loadedKeyOf(from + index),
      devices: [{ deviceId: loadedDeviceId }],
    }))
    await send(ledger, 'POST', '/v1/licenses/import', { productId: loadedProductId, licenses: rows })
  }
}

/** Sends a request and parses its answer. @throws Error for any but a success */
export async function send(
  { address, token }: Pick<Checkout, 'address' | 'token'>,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const answer = await fetch(`${address}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path} ${answer.status} ${text}`)
  return JSON.parse(text)
}

/** The order changes each round, so that after-effects of one ledger do not always hit the other. */
export async function alternating(
  ledgers: readonly Target[],
  load: LoadOfKind,
  log: (line: string) => void,
  { rounds, seconds }: Turns = thorough,
): Promise<Measured[][]> {
  const { kind, perSecond } = load
  const measured: Measured[][] = ledgers.map(() => [])
  for (let round = 0; round <= rounds; round++) {
    const order = [...ledgers.keys()]
    if (round % 2 === 1) order.reverse()
    for (const index of order) {
      const ledger = ledgers[index]
      if (!ledger) continue
      const { address: url, token } = ledger
      const offset = (round * 1000 + perSecond) % licenses
      const taken = await measure(ledger, {
        url,
        token,
        ...load,
        seconds,
        licenses,
        offset,
      })
      // The first round is a warm-up.
      if (round > 0) measured[index]?.push(taken)
    }
  }
  for (const [index, taken] of measured.entries()) {
    log(`${ledgers[index]?.name}: ${kind} at ${perSecond}/s: ${figuresText(medianOf(taken))}`)
  }
  return measured
}

async function measure(ledger: Target, options: LoadOptions): Promise<Measured> {
  const before = ledger.cpuMs()
  const { calls, ...latency } = await runLoad(options)
  return { ...latency, cpuMs: (ledger.cpuMs() - before) / calls }
}

/** Runs the open-loop load in its own process. @throws Error when a call failed */
export async function runLoad(options: LoadOptions): Promise<Omit<LoadMeasured, 'failed' | 'failure'>> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'latency-load.ts'), JSON.stringify(options)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let text = ''
  for await (const chunk of child.stdout) text += String(chunk)
  const { calls, failed, failure, ...latency } = LoadMeasured.parse(JSON.parse(text))
  if (failed > 0) throw new Error(`${failed} of ${calls} failed: ${failure}`)
  return { calls, ...latency }
}

function figureOf({ kind, perSecond }: LoadOfKind, measured: Measured[][]): Figure {
  const [own = [], ...others] = measured
  const mine = medianOf(own)
  const all = others.map(medianOf)
  const [theirs] = all
  return {
    what: `${kind} at ${perSecond.toLocaleString('en-US')}/s`,
    measured: figuresText(mine),
    against: all.map(figuresText).join('; '),
    ratio: theirs
      ? `p50 ${percent(mine.p50Ms / theirs.p50Ms)}, CPU ${percent(mine.cpuMs / theirs.cpuMs)}`
      : '',
    bar: '',
    holds: true,
  }
}

export const figuresText = ({ p50Ms, p95Ms, p99Ms, cpuMs }: Measured) =>
  `p50 ${fine(p50Ms)}, p95 ${fine(p95Ms)}, p99 ${fine(p99Ms)}; CPU ${fine(cpuMs)} a call`

const fine = (value: number) => (value < 10 ? `${value.toFixed(2)} ms` : ms(value))

/** The median of each value separately, so that a slow round does not distort the result. */
export function medianOf(rounds: readonly Measured[]): Measured {
  const of = (figure: keyof Measured) =>
    rounds.map((round) => round[figure]).toSorted((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? 0
  return {
    p50Ms: of('p50Ms'),
    p95Ms: of('p95Ms'),
    p99Ms: of('p99Ms'),
    p999Ms: of('p999Ms'),
    cpuMs: of('cpuMs'),
    perSecond: of('perSecond'),
  }
}
