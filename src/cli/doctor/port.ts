import { readdir, readFile, readlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { z } from 'zod'
import { whyNotListening } from '../../app/start/own-address.ts'
import type { Config } from '../../config.ts'
import { wholeNumberIn } from '../../numbers.ts'
import { type Check, type CheckResult, codeOf } from './check.ts'

/**
 * Checks that `serve` could listen, or that a running keyledger uses the port; else names the process that does.
 */
export const portCheck = (config: Pick<Config, 'host' | 'port'>): Check => ({
  name: 'port',
  run: (signal) => checkPort(config, signal),
})

async function checkPort(
  { host, port }: Pick<Config, 'host' | 'port'>,
  signal: AbortSignal,
): Promise<CheckResult> {
  const place = `${host}:${port}`
  try {
    await listenOnce(host, port)
    return { ok: true, required: false, detail: port === 0 ? 'any free port' : `${place} is free` }
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') {
      return { ok: false, required: false, detail: whyNotListening(error, { host, port }) }
    }
  }
  if (await isKeyledger(host, port, signal)) {
    return { ok: true, required: false, detail: `keyledger is listening on ${place}` }
  }
  const owner = await listenerOf(port)
  return {
    ok: false,
    required: false,
    detail: `${place} is in use by ${owner ? `${owner.name} (process ${owner.pid})` : 'another program'}`,
    remedy: 'stop that program, or choose another port with KEYLEDGER_PORT',
  }
}

function listenOnce(host: string, port: number): Promise<void> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => server.close(() => resolve()))
  })
}

/** The URL at which a server is reached that listens on a host. */
export function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

const Live = z.object({ live: z.literal(true) })

async function isKeyledger(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(5000)])
    const answer = await fetch(`${urlOf(host, port)}/livez`, { signal: within, redirect: 'manual' })
    return Live.safeParse(await answer.json()).success
  } catch {
    return false
  }
}

/** The state LISTEN in /proc/net/tcp. */
const listening = '0A'

/** The process that listens on a port. Linux shows other users' processes only to root; other systems show none. */
async function listenerOf(port: number): Promise<{ pid: number; name: string } | undefined> {
  const sockets = new Set<string>()
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const lines = await readFile(table, 'utf8').catch(() => '')
    for (const line of lines.split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
      if (state === listening && local.endsWith(`:${hexPort}`)) sockets.add(`socket:[${inode}]`)
    }
  }
  if (sockets.size === 0) return undefined
  const pids = (await readdir('/proc').catch(() => [])).flatMap(
    (name) => wholeNumberIn(name, 1, 2 ** 31) ?? [],
  )
  for (const pid of pids) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => [])
    for (const descriptor of descriptors) {
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '')
      if (!sockets.has(target)) continue
      const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'a program')
      return { pid, name: name.trim() }
    }
  }
  return undefined
}
