import { delimiter, join } from 'node:path'
import { programAt } from './debian.ts'
import type { Host, Running } from './process.ts'

const inPath = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, 'nats-server'))
const advice =
  'The dispatcher is tested and measured with nats-server: install it (Debian: apt-get install nats-server) and put it on the PATH'

/**
 * Where it lies, installed if need be.
 * @throws Error that says how to install it
 */
export const natsServer = (): string =>
  programAt([...inPath, '/usr/sbin/nats-server'], ['nats-server'], advice)

/** A real NATS with JetStream in a process of its own, which ends with the test. */
export function startNats(host: Host, port: number, directory: string): Running {
  return host.start([natsServer(), '-a', '127.0.0.1', '-p', String(port), '-js', '-sd', directory], {})
}
