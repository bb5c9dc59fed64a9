import type { Ports } from './operations.ts'
import type { Clock } from './ports.ts'

/** What a client consists of, for the other parts of the SDK that work with it. */
export type Inside = { ports: Ports; clock: Clock; random: () => number }

const known = new WeakMap<object, Inside>()

/** Remembers what a client consists of. */
export function withInside<Client extends object>(client: Client, inside: Inside): Client {
  known.set(client, inside)
  return client
}

/** @throws TypeError for what `createClient` has not made */
export function insideOf(client: object): Inside {
  const inside = known.get(client)
  if (!inside) throw new TypeError('this is no client of @keyledger/client')
  return inside
}
