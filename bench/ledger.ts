import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rebuild } from '../projections/runner/rebuild.ts'
import { createLog } from '../src/bin/log.ts'
import { openStores } from '../src/bin/stores.ts'
import { parseConfig } from '../src/config.ts'
import { newToken } from '../src/credentials/token.ts'
import { fillTenants } from './fill.ts'

export type Scratch = { directory: string; token: string; remove(): void }

/** A data directory with tenants and a token in its event store, and nothing else. */
export async function scratchLedger(tenants = 1): Promise<Scratch> {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-bench-'))
  mkdirSync(join(directory, 'eventstore'))
  const { token, tokenHash } = newToken('pat', randomBytes)
  await fillTenants(directory, tenants, tokenHash)
  return { directory, token, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

export type Rebuilt = { events: number; perSecond: number; earlyMiB: number; lateMiB: number }

/** Rebuilds every read model; memory is this process's, at a fifth of the way and at the end. */
export async function rebuildAll(directory: string): Promise<Rebuilt> {
  const config = parseConfig({ KEYLEDGER_DATA_DIR: directory })
  const stores = await openStores(config, createLog('warn'))
  try {
    const started = performance.now()
    let events = 0
    let earlyMiB = 0
    const resident = () => process.memoryUsage.rss() / 2 ** 20
    await rebuild(stores.db, stores.services.ledger, {
      onParked: ({ stream, problem }) => {
        throw new Error(`${stream}: ${problem}`)
      },
      onProgress: (progress) => {
        events = Math.max(events, progress.events)
        if (earlyMiB === 0 && progress.position * 5n > progress.head) earlyMiB = resident()
      },
    })
    const seconds = (performance.now() - started) / 1000
    return { events, perSecond: events / seconds, earlyMiB, lateMiB: resident() }
  } finally {
    await stores.close()
  }
}
