import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { socketName } from '../../infra/local/postgres/settings.ts'

/** `URL` rejects the empty host of a socket URL. */
const socketAddress = /^postgresql:\/\/([^@]+)@\/(\w+)\?host=(.+)$/

/** @returns the path of the socket in a URL of the embedded Postgres */
export function directUrl(url: string): { socket: string } {
  return { socket: join(decodeURIComponent(partsOf(url)[2]), socketName) }
}

/** The same URL through a proxy on this machine. */
export function proxiedUrl(url: string, port: number): string {
  const [user, database] = partsOf(url)
  return `postgresql://${user}@127.0.0.1:${port}/${database}`
}

function partsOf(url: string): [string, string, string] {
  const [, user, database, host] = socketAddress.exec(url) ?? []
  if (user === undefined || database === undefined || host === undefined) {
    throw new Error('the embedded Postgres has another address than was expected')
  }
  return [user, database, host]
}

/** Adds settings to a running cluster, which applies them at once. */
export function appendPostgresSettings(directory: string, settings: string, pid: number): void {
  appendFileSync(join(directory, 'data', 'postgresql.conf'), settings)
  process.kill(pid, 'SIGHUP')
}
