import { port } from './settings.ts'

/** How Postgres names its socket. */
export const socketName = `.s.PGSQL.${port}`

/** The address for `pg`, with the socket's directory where a host name would stand. */
export function databaseUrl(socketDirectory: string, role: string, password: string): string {
  return `postgresql://${role}:${password}@/keyledger?host=${encodeURIComponent(socketDirectory)}`
}
