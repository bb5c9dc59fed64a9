import { placesOf, programAt } from './debian.ts'
import { freePort, type Host, type Running } from './process.ts'

const advice =
  'The dispatcher is tested and measured with nats-server: install it (Debian: apt-get install nats-server) and put it on the PATH'

/**
 * The path of nats-server, installed if necessary.
 * @throws Error with instructions to install it
 */
export const natsServer = (): string => programAt(placesOf('nats-server'), ['nats-server'], advice)

/** A real NATS with JetStream in its own process, which ends with the test. */
export function startNats(
  host: Host,
  port: number,
  directory: string,
  more: readonly string[] = [],
): Running {
  return host.start(
    [natsServer(), '-a', '127.0.0.1', '-p', String(port), '-js', '-sd', directory, ...more],
    {},
  )
}

/**
 * The NATS of a test: the shared one of KEYLEDGER_TEST_NATS_URL, or its own.
 * @returns its URL
 */
export async function natsFor(host: Host): Promise<string> {
  const given = process.env.KEYLEDGER_TEST_NATS_URL
  if (given) return given
  const port = await freePort()
  startNats(host, port, host.path('nats'))
  return `nats://127.0.0.1:${port}`
}
