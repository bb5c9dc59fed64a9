import { port } from './settings.ts'

/** The file name of Postgres' socket. */
export const socketName = `.s.PGSQL.${port}`

/** The URL for `pg`, with the socket's directory as the host. */
export function databaseUrl(socketDirectory: string, role: string, password: string): string {
  return `postgresql://${role}:${password}@/keyledger?host=${encodeURIComponent(socketDirectory)}`
}
