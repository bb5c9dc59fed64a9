import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { openEventStore } from '../../infra/local/eventstore/engine/event-store.ts'
import type { ProposedEvent } from '../../infra/local/eventstore/storage/event.ts'
import { compareLogs } from '../../src/ledger/raw/compare-logs.ts'
import { copyLog } from '../../src/ledger/raw/copy.ts'
import { openRawLog } from '../../src/ledger/raw/log.ts'
import { cpuMsOfTree } from './cpu.ts'
import { readyUrl } from './eventstore.ts'
import { type Figure, perSecond } from './figures.ts'

const entry = join(import.meta.dirname, '../../infra/local/eventstore/main.ts')
const bytesAnEvent = 600
const bar = 5000

/**
 * Copies a log between two stores, each in its own process, and compares them, as `keyledger copy --verify` does.
 */
export async function benchCopy(log: (line: string) => void, events: number): Promise<Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-bench-'))
  const stores: ChildProcessByStdio<null, Readable, null>[] = []
  const start = async (name: string) => {
    const args = [entry, '--directory', join(directory, name), '--port', '0']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    stores.push(child)
    return { pid: child.pid ?? 0, url: await readyUrl(child.stdout) }
  }
  try {
    log(`filling ${events.toLocaleString('en-US')} events`)
    await fill(join(directory, 'source'), events)
    const rate = await copyAndCompare(log, await start('source'), await start('target'), events)
    return [
      {
        what: 'copy of a log to another event store',
        measured: perSecond(rate),
        against: `${events.toLocaleString('en-US')} events of ${bytesAnEvent} bytes, no two of a stream in a row`,
        ratio: '',
        bar: `≥ ${perSecond(bar)}`,
        holds: rate >= bar,
      },
    ]
  } finally {
    for (const store of stores) if (store.kill('SIGTERM')) await once(store, 'exit')
    rmSync(directory, { recursive: true, force: true })
  }
}

type Store = { pid: number; url: string }

async function copyAndCompare(
  log: (line: string) => void,
  from: Store,
  to: Store,
  events: number,
): Promise<number> {
  const [source, target] = [openRawLog(from.url), openRawLog(to.url)]
  const usedMs = () => {
    const [ofSource, ofTarget] = [cpuMsOfTree(from.pid), cpuMsOfTree(to.pid)]
    // Both stores are children of this process.
    return [ofSource, cpuMsOfTree(process.pid) - ofSource - ofTarget, ofTarget]
  }
  const before = usedMs()
  const started = performance.now()
  const onRetry = (error: Error) => log(error.message)
  const copied = await copyLog(source, target, { onProgress: () => undefined, onRetry })
  const seconds = (performance.now() - started) / 1000
  const [ofSource, own, ofTarget] = usedMs().map((ms, index) =>
    (((ms - (before[index] ?? 0)) * 1000) / copied).toFixed(),
  )
  log(
    `copied: ${perSecond(copied / seconds)}; CPU an event: source ${ofSource} µs, copy ${own} µs, target ${ofTarget} µs`,
  )
  const comparing = performance.now()
  const { equal } = await compareLogs(source, target, events, () => undefined)
  if (copied !== events || !equal) throw new Error('the copy differs from its source')
  log(`compared: ${perSecond((copied * 1000) / (performance.now() - comparing))}`)
  await Promise.all([source.close(), target.close()])
  return copied / seconds
}

/** Writes to streams alternately, so that no two events share an append. */
async function fill(directory: string, events: number): Promise<void> {
  const store = await openEventStore(directory)
  const streams = 1000
  for (let start = 0; start < events; start += streams) {
    const turn = Array.from({ length: Math.min(streams, events - start) }, (_, index) => start + index)
    await Promise.all(
      turn.map((event) => {
        const life = Math.floor(event / (4 * streams))
        const revision = Math.floor(event / streams) % 4
        const stream = `license-lic_${String(life * streams + (event % streams)).padStart(26, '0')}`
        return store.append(stream, revision === 0 ? 'no_stream' : revision - 1, [proposal()])
      }),
    )
  }
  store.close()
}

function proposal(): ProposedEvent {
  const requestId = `req_${randomUUID()}`
  const cause = { requestId, causationId: requestId, correlationId: requestId, actor: 'token:bench' }
  const metadata = Buffer.from(JSON.stringify({ ...cause, at: new Date().toISOString(), schema: 1 }))
  const bare = { deviceId: randomUUID(), name: '' }
  const name = 'x'.repeat(bytesAnEvent - metadata.length - JSON.stringify(bare).length)
  const data = Buffer.from(JSON.stringify({ ...bare, name }))
  return { id: randomUUID(), type: 'DeviceActivated', isJson: true, metadata, data }
}
