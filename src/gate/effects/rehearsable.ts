import { AsyncLocalStorage } from 'node:async_hooks'
import { createCounting } from '../../commands/meters/counting.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { ProviderEndpoints } from '../../payments/endpoints.ts'
import type { Ports } from '../../ports.ts'
import { createKeyHashing, keyHashSecret } from '../../vault/key-hashing.ts'
import { createTenantKeys } from '../../vault/tenant-keys.ts'
import type { OperationPorts } from '../ports.ts'
import type { Decided } from './rehearsal-ledger.ts'
import { rehearse } from './rehearse.ts'

export type RehearsablePorts = OperationPorts &
  Ports<'findMeter' | 'keptKeys' | 'keyHashing' | 'providers' | 'usage'>

/** Why work cannot be rehearsed, as the rest of a sentence after "because". */
export class NotRehearsable extends Error {}

/** The endpoints at a provider for a rehearsal: none is created or removed. */
const untouched: ProviderEndpoints = {
  find: async () => [],
  create: async ({ secret }) => ({ id: 'rehearsed', secret }),
  remove: async () => undefined,
}

/** The services of the rehearsal that the present work belongs to. */
const present = new AsyncLocalStorage<object>()

/**
 * Ports for work that may be rehearsed: within {@link rehearsed} they decide and record nothing, and otherwise they are those
 * that are given. Work must read each of them when it uses it, not when it is set up.
 */
export const rehearsable = <S extends object>(ports: S): S =>
  new Proxy(ports, {
    get(own, name) {
      const stands: unknown = Reflect.get(present.getStore() ?? own, name)
      return stands === undefined ? Reflect.get(own, name) : stands
    },
  })

/**
 * Runs work that uses {@link rehearsable} ports. Nothing is recorded, kept or counted.
 * @returns what it decided, a stream each
 * @throws what the work throws; NotRehearsable when it calls a payment provider
 */
export const rehearsed = (ports: RehearsablePorts, work: () => Promise<unknown>): Promise<Decided[]> =>
  rehearse(ports, (own) => {
    const nothing = async () => undefined
    const keptKeys = { ...own.keptKeys, keep: nothing, recheck: nothing, clearPeriods: nothing }
    // A tenant's first secret of key hashes is not kept either.
    const keyHashing = createKeyHashing(createTenantKeys(own.secrets, keyHashSecret, own.randomBytes))
    const providers = { ...unusable(own.providers), endpoints: () => untouched }
    const usage = { ...own.usage, count: () => undefined }
    const counting = createCounting({ ...own, ledger: refusingStale(own.ledger) })
    return present.run({ ...own, counting, keptKeys, keyHashing, providers, usage }, work)
  })

/**
 * Counting appends after what it knows of a meter, which may be older than the log, and learns that from the refusal. A rehearsal
 * does not append to the log, so it asks it.
 */
const refusingStale = (ledger: Ledger): Ledger => ({
  ...ledger,
  async append(stream, expected, events, cause) {
    const next = expected === 'no_stream' ? 0 : expected + 1
    for await (const _ of ledger.readStreamFrom(stream, next)) return { appended: false }
    return ledger.append(stream, expected, events, cause)
  },
})

/** Every function of it, and of what it holds, refuses. */
const unusable = <T extends object>(part: T): T =>
  new Proxy(part, {
    get(own, name) {
      const value: unknown = Reflect.get(own, name)
      if (typeof value === 'function') return refuse
      return typeof value === 'object' && value !== null ? unusable(value) : value
    },
  })

function refuse(): never {
  throw new NotRehearsable('it asks a payment provider, which takes part only in the call itself')
}
