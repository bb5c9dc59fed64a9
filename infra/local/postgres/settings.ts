import { totalmem } from 'node:os'

/** `full` loses nothing that was acknowledged. `none` is for tests that throw the cluster away. */
export type Durability = 'full' | 'none'

export const port = 5432

const minBuffersMiB = 128
const maxBuffersMiB = 2048

/**
 * What Postgres keeps of its tables in its own memory: a quarter of the machine's, as its manual advises, or of what the
 * process may have. A look-up whose pages are not there asks the system for each, which takes longer than the look-up.
 * @see https://www.postgresql.org/docs/current/runtime-config-resource.html#GUC-SHARED-BUFFERS
 */
function sharedBuffersMiB(): number {
  // Without a limit of the process's own, this is 0 or more than there is.
  const allowed = process.constrainedMemory() || Infinity
  const quarter = Math.floor(Math.min(totalmem(), allowed) / 4 / 2 ** 20)
  return Math.max(minBuffersMiB, Math.min(quarter, maxBuffersMiB))
}

/** The settings of the server. They are arguments, not a file, so that an existing cluster gets new ones. */
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
    max_connections: 100,
    // Containers often have a /dev/shm of 64 MB, and what lies there outlives a killed server.
    dynamic_shared_memory_type: 'mmap',
    timezone: 'UTC',
    log_timezone: 'UTC',
    logging_collector: 'off',
    log_destination: 'stderr',
    // A failed statement is told to whoever sent it. In the log it would show its data, and fill the disk.
    log_min_messages: 'log',
    log_checkpoints: 'off',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
