import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { startEventStore } from '../../infra/local/eventstore/server.ts'
import { freePort } from './port.ts'

export type TestEventStore = { url: string; stop(): Promise<unknown> }

/**
 * An event store for a test: the shared one of KEYLEDGER_TEST_EVENTSTORE_URL, or its own one. In `npm run
 * test:containers` that is a container or a process, otherwise it runs in this process.
 * @param port 0 for a store in this process that listens on a port instead of a socket
 */
export async function openTestEventStore(port?: 0): Promise<TestEventStore> {
  const given = process.env.KEYLEDGER_TEST_EVENTSTORE_URL
  if (given) return { url: given, stop: async () => undefined }
  const kind = process.env.KEYLEDGER_TEST_EVENTSTORE
  if (kind === 'container') return inContainer()
  if (kind === 'process') return inProcess()
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const store = await startEventStore({ directory, port, durability: 'none' })
  return {
    url: store.url,
    async stop() {
      await store.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function inContainer(): Promise<TestEventStore> {
  const { openEngine } = await import('./container-engine.ts')
  const { startEventStoreContainer } = await import('./containers.ts')
  const engine = await openEngine()
  if (!engine) throw new Error('the container engine of this run does not answer any more')
  const { url, container } = await startEventStoreContainer(engine, await freePort())
  return { url, stop: () => container.stop() }
}

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const Endpoint = z.object({ url: z.string() })

/** The guardian stops it and removes its files, also when this process is killed. */
async function inProcess(): Promise<TestEventStore> {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const guardian = spawn(process.execPath, [fileOf('process-guardian.ts')], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  guardian.stdin.write(`${directory}\n`)
  const stop = async () => {
    const exited = once(guardian, 'exit')
    guardian.stdin.end()
    await exited
  }
  const program = fileOf('../../infra/local/eventstore/main.ts')
  const store = spawn(process.execPath, [program, '--directory', join(directory, 'events'), '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: store.stdout })) {
    return { url: Endpoint.parse(JSON.parse(line)).url, stop }
  }
  await stop()
  throw new Error('the event store did not start: its message stands above')
}
