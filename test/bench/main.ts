// `npm run bench [felt] [latency] [validate] [commands] [store] [export] [import] [deliveries] [sales] [history] [search] [replay]
// [meters] [lost-answers] [notary] [expiries] [workers] [relay] [seats] [hostile] [copy] [backup]`: measures the figures of docs/performance.md as ratios to a bare baseline
// in the same run, and writes them there when all parts ran. Each part runs in its own process, because a process
// can have only one client of the event store.
// `--events 1000000` sets the length of the log for `replay`, `notary`, `copy` and `backup`. `--against ../before` compares
// `felt` or `latency` with another checkout, in alternating runs; it may be given more than once. BENCH_EVENTSTORE_URL compares this checkout with itself on
// that event store; it is no argument, because it may contain a password.
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { benchBackups } from './backups.ts'
import { benchCommands } from './commands.ts'
import { benchCopy } from './copy.ts'
import { benchDeliveries } from './deliveries.ts'
import { benchEventStore } from './eventstore.ts'
import { benchExpiries } from './expiries.ts'
import { benchExport } from './export.ts'
import { benchFelt } from './felt.ts'
import { type Figure, ms, perSecond, report } from './figures.ts'
import { benchHistory } from './history.ts'
import { benchHostile } from './hostile.ts'
import { benchImports } from './imports.ts'
import { benchLatency } from './latency.ts'
import { benchLostAnswers } from './lost-answers.ts'
import { benchMeters } from './meters.ts'
import { benchNotary } from './notary.ts'
import { wholeOption } from './number-option.ts'
import { benchRelay } from './relay.ts'
import { benchReplay } from './replay.ts'
import { benchSales } from './sales.ts'
import { benchSearch } from './search.ts'
import { benchSeats } from './seats.ts'
import { benchValidate } from './validate.ts'
import { benchWorkers } from './workers.ts'

const parts = {
  felt: (log: (line: string) => void) => benchFelt(log, options),
  latency: (log: (line: string) => void) => benchLatency(log, options),
  store: benchStore,
  commands: benchCommands,
  validate: benchValidate,
  export: benchExport,
  import: benchImports,
  deliveries: benchDeliveries,
  sales: benchSales,
  history: benchHistory,
  search: benchSearch,
  meters: benchMeters,
  'lost-answers': benchLostAnswers,
  replay: (log: (line: string) => void) => benchReplay(log, options.events),
  notary: (log: (line: string) => void) => benchNotary(log, options.events),
  expiries: benchExpiries,
  workers: benchWorkers,
  relay: benchRelay,
  hostile: benchHostile,
  copy: (log: (line: string) => void) => benchCopy(log, options.events),
  backup: (log: (line: string) => void) => benchBackups(log, options.events),
  seats: benchSeats,
}
const Part = z.enum([
  'felt',
  'latency',
  'store',
  'commands',
  'validate',
  'export',
  'import',
  'deliveries',
  'sales',
  'history',
  'search',
  'meters',
  'lost-answers',
  'replay',
  'notary',
  'expiries',
  'workers',
  'relay',
  'hostile',
  'copy',
  'backup',
  'seats',
])
const options = readArguments()
const say = (line: string) => process.stderr.write(`  ${line}\n`)

async function benchStore(log: (line: string) => void): Promise<Figure[]> {
  const { openMs, readPerSecond, appendPerSecond } = await benchEventStore(log)
  const bare = { against: '1,000,000 events', ratio: '' }
  return [
    { ...bare, what: 'event store opens', measured: ms(openMs), bar: '< 2 s', holds: openMs < 2000 },
    {
      ...bare,
      what: 'event store reads through the client',
      measured: perSecond(readPerSecond),
      bar: '≥ 20,000/s',
      holds: readPerSecond >= 20_000,
    },
    {
      ...bare,
      what: 'bare appends, 64 at a time',
      measured: perSecond(appendPerSecond),
      bar: '',
      holds: true,
    },
  ]
}

const Figures = z.array(
  z.object({
    what: z.string(),
    measured: z.string(),
    against: z.string(),
    ratio: z.string(),
    bar: z.string(),
    holds: z.boolean(),
  }),
)

async function inProcess(part: z.infer<typeof Part>): Promise<Figure[]> {
  const given = ['--events', String(options.events)]
  for (const root of options.against) given.push('--against', root)
  const child = spawn(process.execPath, [import.meta.filename, '--part', part, ...given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const chunk of child.stdout) text += String(chunk)
  return Figures.parse(JSON.parse(text))
}

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      part: { type: 'string' },
      against: { type: 'string', multiple: true, default: [] },
      events: { type: 'string', default: '200000' },
    },
  })
  return {
    part: Part.optional().parse(values.part),
    against: values.against.map((root) => resolve(root)),
    eventstore: process.env.BENCH_EVENTSTORE_URL,
    events: wholeOption('--events', values.events, 1000, 1_000_000_000),
    parts: positionals.length > 0 ? z.array(Part).parse(positionals) : Part.options,
  }
}

if (options.part !== undefined) {
  process.stdout.write(JSON.stringify(await parts[options.part](say)))
} else {
  const started = performance.now()
  const figures: Figure[] = []
  for (const part of options.parts) {
    process.stderr.write(`${part}\n`)
    figures.push(...(await inProcess(part)))
  }
  const table = report(figures)
  process.stdout.write(`${table}\n`)
  process.stderr.write(`taken in ${Math.round((performance.now() - started) / 1000)} s\n`)
  if (options.parts.length === Part.options.length) writeTable(table)
}

/** Writes the table between the two marks of the page. */
function writeTable(table: string): void {
  const path = join(import.meta.dirname, '../../docs/performance.md')
  const machine = `Taken on ${new Date().toISOString().slice(0, 10)} with Node ${process.version} on ${cpus().length} cores.`
  const page = readFileSync(path, 'utf8')
  const marked = /<!-- figures -->[\s\S]*<!-- end of figures -->/
  writeFileSync(
    path,
    page.replace(marked, `<!-- figures -->\n${machine}\n\n${table}\n<!-- end of figures -->`),
  )
}
