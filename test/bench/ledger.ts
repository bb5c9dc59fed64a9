import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { z } from 'zod'
import { joinLocalStack } from '../../infra/local/stack/stack.ts'
import { rebuild } from '../../projections/runner/rebuild.ts'
import type { Progress } from '../../projections/runner/replay.ts'
import { verify } from '../../projections/runner/verify.ts'
import { newToken } from '../../src/credentials/token.ts'
import { connectLedger, type Ledger } from '../../src/ledger/ledger.ts'
import { openEmptyReadModels } from '../harness/empty-read-models.ts'
import { fillTenants } from './fill.ts'

export type Scratch = { directory: string; token: string; remove(): void }

/** A data directory with only tenants and a token in its event store. */
export async function scratchLedger(tenants = 1): Promise<Scratch> {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-bench-'))
  mkdirSync(join(directory, 'eventstore'))
  const { token, tokenHash } = newToken('pat', randomBytes)
  await fillTenants(directory, tenants, tokenHash)
  return { directory, token, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

export type Replayed = { events: number; perSecond: number; earlyMiB: number; lateMiB: number }

/** Rebuilds every read model. */
export const rebuildAll = (directory: string): Promise<Replayed> =>
  measured(directory, ({ db, ledger }, onProgress) =>
    rebuild(db, ledger, {
      onParked: ({ stream, problem }) => {
        throw new Error(`${stream}: ${problem}`)
      },
      onProgress,
    }),
  )

/** Replays the log and compares it with the read models, as `audit replay` does. */
export const replayAll = (directory: string): Promise<Replayed> =>
  measured(directory, async ({ db, ledger }, onProgress) => {
    const { differences } = await verify(db, ledger, onProgress)
    if (differences.length > 0) throw new Error(`${differences.length} differences`)
  })

/** Only reads and parses the log: the lower bound of a replay. */
export const readAll = (directory: string): Promise<Replayed> =>
  measured(directory, async ({ ledger }, onProgress) => {
    const head = (await ledger.head()) ?? 0n
    let events = 0
    for (let after: bigint | undefined; ; ) {
      const { entries, through } = await ledger.readPage(after, 2000)
      if (through === undefined) return
      after = through
      events += entries.length
      onProgress({ events, position: after, head })
    }
  })

export type Opened = { db: Pool; ledger: Ledger; eventstoreUrl: string }

/** Measures the memory of this process after a fifth of the events and at the end. */
async function measured(
  directory: string,
  work: (opened: Opened, onProgress: (progress: Progress) => void) => Promise<void>,
): Promise<Replayed> {
  return withStores(directory, async (opened) => {
    const started = performance.now()
    let events = 0
    let earlyMiB = 0
    const resident = () => process.memoryUsage.rss() / 2 ** 20
    await work(opened, (progress) => {
      events = Math.max(events, progress.events)
      if (earlyMiB === 0 && progress.position * 5n > progress.head) earlyMiB = resident()
    })
    const seconds = (performance.now() - started) / 1000
    return { events, perSecond: events / seconds, earlyMiB, lateMiB: resident() }
  })
}

/** Opens the stores of a data directory without catching up the read models, as a server would. */
export async function withStores<T>(directory: string, work: (opened: Opened) => Promise<T>): Promise<T> {
  const stack = await joinLocalStack({
    dataDirectory: directory,
    parts: { postgres: true, eventStore: true },
    log: () => undefined,
  })
  try {
    const { databaseUrl, migrationUrl, eventstoreUrl } = Addresses.parse(stack)
    const db = await openEmptyReadModels(databaseUrl, migrationUrl)
    const ledger = connectLedger(eventstoreUrl)
    try {
      return await work({ db, ledger, eventstoreUrl })
    } finally {
      await ledger.close()
      await db.end()
    }
  } finally {
    await stack.leave()
  }
}

const Addresses = z.object({ databaseUrl: z.string(), migrationUrl: z.string(), eventstoreUrl: z.string() })
