// `npm run bench:scale -- --licenses 10000000 --directory DIR`: the figures of a ledger with many licenses. Fills a log
// with 2.5 events per license, rebuilds the read models, and measures validate at fixed rates, list, search, export
// and the size on disk. DIR is kept, so that a second run measures it again without filling it.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { createLog } from '../../src/app/log.ts'
import { openStores } from '../../src/app/stores.ts'
import { parseConfig } from '../../src/config.ts'
import { newToken } from '../../src/credentials/token.ts'
import { wholeNumberOf } from '../../src/numbers.ts'
import { search } from '../../src/search/search.ts'
import { cpuMsOfTree } from './cpu.ts'
import { exportOnce, openOperator } from './export.ts'
import { type Figure, ms, perSecond, report } from './figures.ts'
import { deviceId, fillLicenses, fillTenants, idOf, keyOf, tenantId } from './fill.ts'
import { figuresText, type Measured, medianOf, runLoad } from './latency.ts'
import { rebuildAll } from './ledger.ts'
import { wholeOption } from './number-option.ts'
import { type Server, startLedger } from './processes.ts'

const { values } = parseArgs({
  options: { licenses: { type: 'string', default: '1000000' }, directory: { type: 'string' } },
})
const licenses = wholeOption('--licenses', values.licenses, 1000, 1_000_000_000)
const directory = resolve(z.string('Pass --directory DIR').parse(values.directory))
const rounds = 5
const roundSeconds = 10
const pages = 20

const say = (line: string) => process.stderr.write(`${line}\n`)
const count = (value: number) => value.toLocaleString('en-US')
const figure = (what: string, measured: string): Figure => ({
  what,
  measured,
  against: `${count(licenses)} licenses`,
  ratio: '',
  bar: '',
  holds: true,
})

/** The server with a token of its tenant. */
type Target = Server & { token: string }

/** Written once the log is filled, so that a run that was stopped while it rebuilt does not fill it again. */
const logFilled = join(directory, 'log-filled.json')
const LogFilled = z.object({ token: z.string() })

/** Written once the read models are rebuilt as well. */
const filled = join(directory, 'filled.json')
const Filled = LogFilled.extend({ rebuiltPerSecond: z.number(), rebuiltSeconds: z.number() })

const Page = z.object({ nextCursor: z.string().nullable() })

const questions: Record<string, (license: number) => string> = {
  'pasted key': keyOf,
  'license id': idOf,
  'a device id that every license has': () => deviceId,
}

async function fillLog(): Promise<z.infer<typeof LogFilled>> {
  if (existsSync(logFilled)) return LogFilled.parse(JSON.parse(readFileSync(logFilled, 'utf8')))
  mkdirSync(join(directory, 'eventstore'), { recursive: true, mode: 0o700 })
  const { token, tokenHash } = newToken('pat', randomBytes)
  await fillTenants(directory, 1, tokenHash)
  const startedAt = performance.now()
  await fillLicenses(directory, 0, licenses, {
    secondDevices: true,
    onFilled: (done) => {
      if (done % 100_000 === 0) say(`filled ${count(done)} after ${secondsSince(startedAt)} s`)
    },
  })
  writeFileSync(logFilled, JSON.stringify({ token }), { mode: 0o600 })
  return { token }
}

async function fill(): Promise<z.infer<typeof Filled>> {
  const { token } = await fillLog()
  const rebuilding = performance.now()
  const { perSecond: rebuiltPerSecond } = await rebuildAll(directory)
  const taken = { token, rebuiltPerSecond, rebuiltSeconds: (performance.now() - rebuilding) / 1000 }
  writeFileSync(filled, JSON.stringify(taken), { mode: 0o600 })
  return taken
}

const secondsSince = (moment: number) => Math.round((performance.now() - moment) / 1000)

function sizeOf(part: string): string {
  const [kib = ''] = execFileSync('du', ['-sk', join(directory, part)], { encoding: 'utf8' }).split('\t')
  return `${(wholeNumberOf('The size', kib, 0, Number.MAX_SAFE_INTEGER) / 2 ** 20).toFixed(1)} GiB`
}

async function validates({ address, pid, token }: Target, rate: number): Promise<Figure> {
  const measured: Measured[] = []
  for (let round = 0; round <= rounds; round++) {
    const before = cpuMsOfTree(pid)
    const { calls, ...latency } = await runLoad({
      url: address,
      token,
      kind: 'validate',
      perSecond: rate,
      seconds: roundSeconds,
      licenses,
      offset: (round * 1_234_567) % licenses,
    })
    // The first round is a warm-up.
    if (round > 0) measured.push({ ...latency, cpuMs: (cpuMsOfTree(pid) - before) / calls })
  }
  return figure(`validate at ${rate}/s`, figuresText(medianOf(measured)))
}

/** The newest page, a page in the middle, and filters that match all or none. */
async function lists({ address, token }: Target): Promise<Figure[]> {
  const get = async (query: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${address}/v1/licenses?limit=100${query}`, { headers })
    if (!answer.ok) throw new Error(`${query} ${answer.status} ${await answer.text()}`)
    return Page.parse(await answer.json())
  }
  const figures: Figure[] = []
  for (const query of ['', '&status=active', '&status=revoked', '&product=bench-app']) {
    figures.push(figure(`list of 100${query}`, await timed(pages, () => get(query))))
  }
  let cursor = ''
  const next = async () => {
    const page = await get(cursor)
    cursor = `&cursor=${encodeURIComponent(page.nextCursor ?? '')}`
  }
  figures.push(figure('list of 100, page after page', await timed(pages * 10, next)))
  return figures
}

async function searches(): Promise<Figure[]> {
  const { ports, close } = await openStores(parseConfig({ KEYLEDGER_DATA_DIR: directory }), createLog('warn'))
  try {
    const figures: Figure[] = []
    for (const [kind, textOf] of Object.entries(questions)) {
      let nth = 0
      const find = async () => {
        const found = await search(ports, tenantId, textOf((++nth * 4_999_999) % licenses))
        if (found.licenses.length + found.devices.length === 0) throw new Error(`found nothing by ${kind}`)
      }
      figures.push(figure(`search by ${kind}`, await timed(pages, find)))
    }
    return figures
  } finally {
    await close()
  }
}

async function exported({ address, pid, token }: Target): Promise<Figure> {
  const operator = await openOperator(directory)
  try {
    const url = `${address}/v1/licenses/export?format=ndjson`
    const { seconds, mib, maxMiB } = await exportOnce(url, token, operator, pid, licenses)
    return figure(
      'export as NDJSON',
      `${perSecond(licenses / seconds)}, ${Math.round(mib)} MiB, at most ${Math.round(maxMiB)} MiB resident`,
    )
  } finally {
    await operator.close()
  }
}

/** The median and the slowest of some sequential calls. */
async function timed(calls: number, call: () => Promise<unknown>): Promise<string> {
  const times: number[] = []
  for (let nth = 0; nth < calls; nth++) {
    const startedAt = performance.now()
    await call()
    times.push(performance.now() - startedAt)
  }
  times.sort((a, b) => a - b)
  return `p50 ${ms(times[Math.floor(calls / 2)] ?? 0)}, slowest ${ms(times.at(-1) ?? 0)}`
}

const { token, rebuiltPerSecond, rebuiltSeconds } = existsSync(filled)
  ? Filled.parse(JSON.parse(readFileSync(filled, 'utf8')))
  : await fill()
const figures = [
  figure(
    'rebuild of all read models',
    `${perSecond(rebuiltPerSecond)}, ${Math.round(rebuiltSeconds / 60)} min`,
  ),
  figure('event store on disk', sizeOf('eventstore')),
  figure('Postgres on disk', sizeOf('postgres')),
]
const ledger = { ...(await startLedger(directory)), token }
try {
  for (const rate of [300, 1000]) figures.push(await validates(ledger, rate))
  figures.push(...(await lists(ledger)), ...(await searches()), await exported(ledger))
} finally {
  await ledger.stop()
}
process.stdout.write(`${report(figures)}\n`)
