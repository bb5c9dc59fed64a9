import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { openRawLog, type RawLog } from '../../src/ledger/raw/log.ts'
import { auditLog } from '../../src/notary/audit/audit.ts'
import { followLog } from '../../src/notary/notary.ts'
import { privateKeyOf } from '../../src/transparency/note/keys.ts'
import { type Figure, ms, perSecond } from './figures.ts'
import { fillLicenses } from './fill.ts'
import { type Opened, scratchLedger, withStores } from './ledger.ts'

const eventsOfLicense = 2
const appendsPerSecond = 50
const appendSeconds = 30
const origin = 'bench.example/log'

/** Lets the notary catch up with a filled log, compares the log with its tree, and measures from an append to its checkpoint. */
export async function benchNotary(log: (line: string) => void, events: number): Promise<Figure[]> {
  const scratch = await scratchLedger()
  try {
    log(`filling ${events.toLocaleString('en-US')} events`)
    await fillLicenses(scratch.directory, 0, Math.ceil(events / eventsOfLicense))
    return await withStores(scratch.directory, async (stores) => {
      const rawLog = openRawLog(stores.eventstoreUrl)
      try {
        const caughtUp = await catchUp(stores, rawLog)
        log(`hashed ${perSecond(caughtUp.perSecond)}`)
        const tileBytes = await bytesOfTiles(stores.db)
        const audited = await audit(stores, rawLog)
        log(`audited ${perSecond(audited.perSecond)}`)
        const latency = await appendAndWait(stores, rawLog, caughtUp.size)
        const against = `${caughtUp.size.toLocaleString('en-US')} events`
        return [
          rateFigure('notary catches up', caughtUp, against, 5000),
          memoryFigure('notary catches up, memory', caughtUp),
          sizeFigure(tileBytes / caughtUp.size, against),
          ...latencyFigures(latency),
          rateFigure('audit of the log', audited, `${against} in ${ms(audited.tookMs)}`, 5000),
          memoryFigure('audit of the log, memory', audited),
        ]
      } finally {
        await rawLog.close()
      }
    })
  } finally {
    scratch.remove()
  }
}

type Measured = { size: number; perSecond: number; tookMs: number; earlyMiB: number; lateMiB: number }

const residentMiB = () => process.memoryUsage.rss() / 2 ** 20

const optionsOf = ({ db, ledger }: Opened, log: RawLog) => ({
  db,
  log,
  ledger,
  signer: { origin, privateKeys: [privateKeyOf(Buffer.alloc(32, 1))] },
  now: () => new Date(),
})

/** From an empty tree to a checkpoint over the whole log. */
async function catchUp(stores: Opened, log: RawLog): Promise<Measured> {
  const total = await countEvents(log)
  const stop = new AbortController()
  const started = performance.now()
  let [size, earlyMiB] = [0, 0]
  await followLog(
    {
      ...optionsOf(stores, log),
      onCheckpoint(checkpoint) {
        ;({ size } = checkpoint)
        if (earlyMiB === 0 && size * 5 > total) earlyMiB = residentMiB()
        if (size >= total) stop.abort()
      },
    },
    stop.signal,
  )
  return measuredSince(started, size, earlyMiB)
}

function measuredSince(started: number, size: number, earlyMiB: number): Measured {
  const tookMs = performance.now() - started
  const lateMiB = residentMiB()
  return { size, perSecond: size / (tookMs / 1000), tookMs, earlyMiB: earlyMiB || lateMiB, lateMiB }
}

async function countEvents(log: RawLog): Promise<number> {
  let total = 0
  for await (const { events } of log.pages(undefined, 2000)) total += events.length
  return total
}

/** With its index and what the storage wastes, as it is on disk. */
async function bytesOfTiles(db: Pool): Promise<number> {
  const { rows } = await db.query<{ bytes: string }>(`select pg_total_relation_size('notary.tiles') as bytes`)
  return Number(rows[0]?.bytes)
}

async function audit({ db, ledger }: Opened, log: RawLog): Promise<Measured> {
  const started = performance.now()
  let earlyMiB = 0
  const { size, problems } = await auditLog({
    db,
    log,
    ledger,
    keys: [],
    onProgress(events, all) {
      if (earlyMiB === 0 && events * 5 > all) earlyMiB = residentMiB()
    },
  })
  if (problems.length > 0) throw new Error(problems[0]?.says)
  return measuredSince(started, size, earlyMiB)
}

/** Appends at a fixed rate while the notary runs. @returns how long each event waited for its checkpoint, in ms */
async function appendAndWait(stores: Opened, log: RawLog, before: number): Promise<number[]> {
  const appendedAt: number[] = []
  const waited: number[] = []
  const stop = new AbortController()
  const total = appendsPerSecond * appendSeconds
  const running = followLog(
    {
      ...optionsOf(stores, log),
      onCheckpoint({ size }) {
        const now = performance.now()
        while (waited.length < size - before) waited.push(now - (appendedAt[waited.length] ?? now))
        if (waited.length >= total) stop.abort()
      },
    },
    stop.signal,
  )
  const appends = await log.openAppends()
  const started = performance.now()
  for (let number = 0; number < total; number += 1) {
    await sleep(Math.max(0, started + (number * 1000) / appendsPerSecond - performance.now()))
    const data = Buffer.from(JSON.stringify({ number }))
    const stream = `license-${randomUUID()}`
    appendedAt.push(performance.now())
    await appends.append([
      { id: randomUUID(), stream, revision: 0, type: 'Recorded', isJson: true, data, metadata: data },
    ])
  }
  await running
  appends.close()
  return waited.toSorted((one, other) => one - other)
}

const rateFigure = (what: string, { perSecond: rate }: Measured, against: string, bar: number): Figure => ({
  what,
  measured: perSecond(rate),
  against,
  ratio: '',
  bar: `≥ ${perSecond(bar)}`,
  holds: rate >= bar,
})

const memoryFigure = (what: string, { earlyMiB, lateMiB }: Measured): Figure => ({
  what,
  measured: `${Math.round(lateMiB)} MiB at the end`,
  against: `${Math.round(earlyMiB)} MiB at a fifth`,
  ratio: `${Math.round((lateMiB / earlyMiB) * 100)} %`,
  bar: 'flat (≤ 125 %)',
  holds: lateMiB <= 1.25 * earlyMiB,
})

const sizeFigure = (bytesAnEvent: number, against: string): Figure => ({
  what: 'tiles in Postgres, a million events',
  measured: `${Math.round(bytesAnEvent)} MB`,
  against,
  ratio: '',
  bar: '< 100 MB',
  holds: bytesAnEvent < 100,
})

function latencyFigures(waited: readonly number[]): Figure[] {
  const at = (share: number) => waited[Math.min(waited.length - 1, Math.floor(waited.length * share))] ?? 0
  const against = `${String(appendsPerSecond)} appends/s for ${String(appendSeconds)} s`
  const figure = (what: string, measured: number): Figure => ({
    what: `append to checkpoint, ${what}`,
    measured: ms(measured),
    against,
    ratio: '',
    bar: '< 2 s',
    holds: measured < 2000,
  })
  return [figure('p50', at(0.5)), figure('p99', at(0.99))]
}
