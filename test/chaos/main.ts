// `npm run chaos [-- --seed 1 --minutes 3 --clients 12 --json]`: a load on two applications under faults of every
// kind, and a check after each minute that nothing acknowledged is lost, duplicated or wrong. See
// docs/operating/faults.md.
// `--fault "kill Postgres" --seconds 20` runs a single fault; `--shift=-3600` is the number of seconds by which a
// clock is moved.
import { parseArgs } from 'node:util'
import { decimalOption, wholeOption } from '../bench/number-option.ts'
import { runChaos, type Summary } from './run.ts'
import { singleFault } from './schedule.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string', default: '3' },
    clients: { type: 'string', default: '12' },
    json: { type: 'boolean', default: false },
    fault: { type: 'string' },
    seconds: { type: 'string', default: '20' },
    shift: { type: 'string', default: '-3600' },
  },
})
const seed = wholeOption('--seed', values.seed ?? String(Math.floor(Math.random() * 2 ** 32)), 0, 2 ** 32 - 1)
const minutes = decimalOption('--minutes', values.minutes, 0.1, 600)
const clients = wholeOption('--clients', values.clients, 1, 200)

const say = (line: string) => void process.stderr.write(`${line}\n`)

const lastsMs = decimalOption('--seconds', values.seconds, 0.1, 600) * 1000
const shiftMs = decimalOption('--shift', values.shift, -100_000_000, 100_000_000) * 1000

/** The faults of a round; the rest of its minute is for the check. */
const wholeRoundMs = 45_000
/** Time without faults before and after a single fault. */
const calmMs = 8000

const single = values.fault === undefined ? undefined : singleFault(values.fault, calmMs, lastsMs, shiftMs)
if (values.fault !== undefined && single === undefined) {
  say(`No fault is called "${values.fault}". The kinds and the parts are in test/chaos/schedule.ts.`)
  process.exit(2)
}
const roundMs = single ? calmMs + lastsMs + calmMs : wholeRoundMs

say(`seed ${seed}: the same seed plays the same faults again`)
const summary = await runChaos({
  seed,
  rounds: single ? 1 : Math.max(1, Math.round(minutes)),
  single,
  roundMs,
  more: 12,
  clients,
  thinkMs: 120,
  onLine: say,
})
process.stdout.write(values.json ? `${JSON.stringify(summary)}\n` : `${summaryText(summary)}\n`)
if (summary.violations.length > 0) process.exitCode = 1

function summaryText(found: Summary): string {
  const { seed: played, kept, violations, ended_by_itself: ended } = found
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  const counted = Object.entries(found.faults).map(([kind, times]) => `${times} × ${kind}`)
  const endings = Object.entries(ended).map(([what, times]) => `${times} × ${what}`)
  const calls = Object.entries(found.by_call).map(
    ([path, { answered, unavailable, lost, slowestMs }]) =>
      `  ${path}: ${answered} answered, ${unavailable} 503, ${lost} not at all; slowest ${seconds(slowestMs)}`,
  )
  const lines = [
    `seed ${played}: ${found.requests} requests in ${Math.round(found.seconds)} s, of which ${found.unavailable} were answered 503 and ${found.lost} not at all`,
    `acknowledged: ${found.acknowledged} changes, ${found.licenses} licenses minted, ${found.sales} sales; ${found.events} events in the log`,
    `faults: ${counted.join(', ')}`,
    `longest pause of writes: ${seconds(found.longest_pause_of_writes_ms)}; slowest request: ${seconds(found.slowest_request_ms)} (${found.slowest_request})`,
    ...calls,
    ...(endings.length > 0 ? [`ended by themselves: ${endings.join(', ')}`] : []),
    ...violations.map(
      ({ at_s, what, expected, found: instead }) =>
        `WRONG after ${at_s} s: ${what}: expected ${expected}; found ${instead}`,
    ),
    violations.length > 0
      ? `${violations.length} violations; the data and the logs are in ${kept}`
      : 'nothing acknowledged is missing, doubled or wrong',
  ]
  return lines.join('\n')
}
