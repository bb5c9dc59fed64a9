import { totalmem } from 'node:os'
import type { Durability } from '../durability.ts'

const port = 5432

/** The file name of Postgres' socket. */
export const socketName = `.s.PGSQL.${port}`

const minBuffersMiB = 128
const maxBuffersMiB = 2048

/**
 * The size of shared buffers: a quarter of the memory of the machine, as the manual advises, or of this
 * process's limit. A look-up of a page outside them needs a system call, which takes longer than the look-up.
 * @see https://www.postgresql.org/docs/current/runtime-config-resource.html#GUC-SHARED-BUFFERS
 */
function sharedBuffersMiB(): number {
  // Without a limit, this is 0 or more than the machine has.
  const allowed = process.constrainedMemory() || Infinity
  const quarter = Math.floor(Math.min(totalmem(), allowed) / 4 / 2 ** 20)
  return Math.max(minBuffersMiB, Math.min(quarter, maxBuffersMiB))
}

/** The server's settings. They are arguments instead of a file, so that existing clusters get new ones. */
export function serverSettings(socketDirectory: string, durability: Durability): string[] {
  const durable = durability === 'full' ? 'on' : 'off'
  const settings = {
    listen_addresses: '',
    port,
    unix_socket_directories: `"${socketDirectory.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    fsync: durable,
    synchronous_commit: durable,
    full_page_writes: durable,
    shared_buffers: `${durability === 'full' ? sharedBuffersMiB() : minBuffersMiB}MB`,
    // The servers of all tests that run at once share one.
    max_connections: durability === 'full' ? 100 : 400,
    // Containers often have a /dev/shm of 64 MB, and its contents outlive a killed server.
    dynamic_shared_memory_type: 'mmap',
    timezone: 'UTC',
    log_timezone: 'UTC',
    logging_collector: 'off',
    log_destination: 'stderr',
    // The client gets the error of a failed statement. In the log it would show data, and fill the disk.
    log_min_messages: 'log',
    log_checkpoints: 'off',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** The URL for `pg`, with the socket's directory as the host. */
export function databaseUrl(socketDirectory: string, role: string, password: string): string {
  return `postgresql://${role}:${password}@/keyledger?host=${encodeURIComponent(socketDirectory)}`
}
