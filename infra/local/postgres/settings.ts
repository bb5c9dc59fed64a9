/** `full` loses nothing that was acknowledged. `none` is for tests that throw the cluster away. */
export type Durability = 'full' | 'none'

export const port = 5432

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
    shared_buffers: '128MB',
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
