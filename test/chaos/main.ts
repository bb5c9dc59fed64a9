// `npm run chaos [-- --seed 1 --minutes 3 --clients 12 --json]`: a load on two applications under faults of every
// kind, and a check after each minute that nothing acknowledged is lost, duplicated or wrong. See
// docs/operating/faults.md.
// `--fault "kill Postgres" --seconds 20` runs a single fault; `--shift=-3600` is the number of seconds by which a
// clock is moved.
// `--relay --seed 1 --minutes 10` plays faults on a relay instead.
import { parseArgs } from 'node:util'
import { decimalOption, wholeOption } from '../bench/number-option.ts'
import { type RelaySummary, runRelayChaos } from './relay.ts'
import { runChaos, type Summary } from './run.ts'
import { singleFault } from './schedule.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string', default: '3' },
    clients: { type: 'string', default: '12' },
    json: { type: 'boolean', default: false },
    relay: { type: 'boolean', default: false },
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
const { found, text } = values.relay ? await playRelay() : await playServer()
process.stdout.write(values.json ? `${JSON.stringify(found)}\n` : `${text}\n`)
if (found.violations.length > 0) process.exitCode = 1

async function playServer() {
  const found = await runChaos({
    seed,
    rounds: single ? 1 : Math.max(1, Math.round(minutes)),
    single,
    roundMs,
    more: 12,
    clients,
    thinkMs: 120,
    onLine: say,
  })
  return { found, text: summaryText(found) }
}

async function playRelay() {
  const found = await runRelayChaos({ seed, minutes, devices: clients, onLine: say })
  return { found, text: relayText(found) }
}

function summaryText(found: Summary): string {
  const { seed: played } = found
  const calls = Object.entries(found.by_call).map(
    ([path, { answered, unavailable, lost, slowestMs }]) =>
      `  ${path}: ${answered} answered, ${unavailable} 503, ${lost} not at all; slowest ${seconds(slowestMs)}`,
  )
  const lines = [
    `seed ${played}: ${found.requests} requests in ${Math.round(found.seconds)} s, of which ${found.unavailable} were answered 503 and ${found.lost} not at all`,
    `acknowledged: ${found.acknowledged} changes, ${found.licenses} licenses minted, ${found.sales} sales; ${found.events} events in the log`,
    `faults: ${counted(found.faults)}`,
    `longest pause of writes: ${seconds(found.longest_pause_of_writes_ms)}; slowest request: ${seconds(found.slowest_request_ms)} (${found.slowest_request})`,
    ...calls,
    ...ending(found),
  ]
  return lines.join('\n')
}

function relayText(found: RelaySummary): string {
  const lines = [
    `seed ${found.seed}: ${found.takings} seats taken in ${Math.round(found.seconds)} s, ${found.renewals} renewals`,
    `answers: ${counted(found.answers)}`,
    `faults: ${counted(found.faults)}`,
    `longest recovery: ${seconds(found.longest_recovery_ms)}`,
    ...ending(found),
  ]
  return lines.join('\n')
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function counted(times: Record<string, number>): string {
  return Object.entries(times)
    .map(([what, count]) => `${count} × ${what}`)
    .join(', ')
}

function ending({
  ended_by_itself: ended,
  violations,
  kept,
}: Pick<Summary, 'ended_by_itself' | 'violations' | 'kept'>): string[] {
  return [
    ...(Object.keys(ended).length > 0 ? [`ended by themselves: ${counted(ended)}`] : []),
    ...violations.map(
      ({ at_s, what, expected, found }) =>
        `WRONG after ${at_s} s: ${what}: expected ${expected}; found ${found}`,
    ),
    violations.length > 0
      ? `${violations.length} violations; the data and the logs are in ${kept}`
      : 'nothing acknowledged is missing, doubled or wrong',
  ]
}
