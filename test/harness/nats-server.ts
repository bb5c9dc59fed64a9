import { delimiter, join } from 'node:path'
import { programAt } from './debian.ts'
import type { Host, Running } from './process.ts'

const inPath = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, 'nats-server'))
const advice =
  'The tests of the dispatcher need nats-server: install it (Debian: apt-get install nats-server) and put it on the PATH'

/** A real NATS with JetStream in a process of its own, which ends with the test. */
export function startNats(host: Host, port: number, directory: string): Running {
  const program = programAt([...inPath, '/usr/sbin/nats-server'], 'nats-server', advice)
  return host.start([program, '-a', '127.0.0.1', '-p', String(port), '-js', '-sd', directory], {})
}
