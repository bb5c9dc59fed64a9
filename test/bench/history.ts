import { type Figure, ms } from './figures.ts'
import { fillLongHistory, idOf } from './fill.ts'
import { rebuildAll, scratchLedger } from './ledger.ts'
import { residentMiB, startLedger } from './processes.ts'

const longLicense = 1_000_000
const shortLicense = 1_000_001
const events = 10_000
const devices = 5

/** Reads the history of a license with many events, compared with a new one. */
export async function benchHistory(log: (line: string) => void): Promise<Figure[]> {
  const scratch = await scratchLedger()
  try {
    log('filling')
    await fillLongHistory(scratch.directory, longLicense, events, devices)
    await fillLongHistory(scratch.directory, shortLicense, 10, devices)
    await rebuildAll(scratch.directory)
    const ledger = await startLedger(scratch.directory)
    const { address } = ledger
    try {
      const compare = (what: string, path: (last: number) => string, most: number) =>
        figure({ what, path, most, address, token: scratch.token }, log)
      return [
        await compare('history page, newest first', () => '/history?limit=25', 3),
        await compare('history page, oldest first', () => '/history?limit=25&order=oldest', 3),
        await compare('license as of its last event but one', (last) => `?asOf=${last - 1}`, 5),
        await compare(
          'license as of the middle of its history',
          (last) => `?asOf=${Math.floor(last / 2)}`,
          5,
        ),
        await compare('license as of a time', () => '?asOf=2026-06-01T00:00:00.000Z', 5),
        await compare('explained as of the middle', (last) => `/explain?asOf=${Math.floor(last / 2)}`, 5),
        await evidence({ address, token: scratch.token, pid: ledger.pid }, log),
      ]
    } finally {
      await ledger.stop()
    }
  } finally {
    scratch.remove()
  }
}

type Measurement = {
  what: string
  /** @param last the sequence of the license's last event */
  path: (last: number) => string
  /** The allowed ratio of the durations on the long and the short history. */
  most: number
  address: string
  token: string
}

async function figure(measurement: Measurement, log: (line: string) => void): Promise<Figure> {
  const { what, path, most } = measurement
  const long = await medianOf(measurement, `${idOf(longLicense)}${path(events - 1)}`)
  const short = await medianOf(measurement, `${idOf(shortLicense)}${path(9)}`)
  log(`${what} ${ms(long)}, with 10 events ${ms(short)}`)
  return {
    what: `${what}, of 10,000 events`,
    measured: ms(long),
    against: `with 10 events ${ms(short)}`,
    ratio: `${(long / short).toFixed(2)} ×`,
    bar: `< ${most} ×`,
    holds: long < most * short,
  }
}

/** Requests before the measured ones. */
const warmUp = 50

/** The median duration of sequential requests. */
async function medianOf({ address, token }: Measurement, path: string): Promise<number> {
  const times: number[] = []
  for (let turn = 0; turn < warmUp + 200; turn++) {
    const started = performance.now()
    const response = await fetch(`${address}/v1/licenses/${path}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    if (!response.ok) throw new Error(await response.text())
    await response.arrayBuffer()
    if (turn >= warmUp) times.push(performance.now() - started)
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}

type Server = { address: string; token: string; pid: number }

/** The memory of the server while it collects evidence for the long history, compared with the short one. */
async function evidence(server: Server, log: (line: string) => void): Promise<Figure> {
  // Code that is compiled and cached on first use should not count.
  await takeEvidence(server, longLicense)
  const short = await takeEvidence(server, shortLicense)
  const long = await takeEvidence(server, longLicense)
  log(
    `evidence: ${long.mib.toFixed(1)} MiB in ${ms(long.tookMs)}, resident at most ${long.most.toFixed(0)} MiB`,
  )
  return {
    what: `evidence on 10,000 events (${long.mib.toFixed(1)} MiB in ${ms(long.tookMs)}), memory`,
    measured: `${long.most.toFixed(0)} MiB at most`,
    against: `on 10 events ${short.most.toFixed(0)} MiB`,
    ratio: `${Math.round((long.most / short.most) * 100)} %`,
    bar: 'flat (≤ 125 %)',
    holds: long.most <= 1.25 * short.most,
  }
}

async function takeEvidence({ address, token, pid }: Server, license: number) {
  const started = performance.now()
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${address}/v1/licenses/${idOf(license)}/evidence`, { headers })
  if (!answer.ok || !answer.body) throw new Error(`no evidence: ${answer.status}`)
  let bytes = 0
  let most = residentMiB(pid)
  for await (const chunk of answer.body) {
    bytes += chunk.length
    most = Math.max(most, residentMiB(pid))
  }
  return { mib: bytes / 2 ** 20, most, tookMs: performance.now() - started }
}
