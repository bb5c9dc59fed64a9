import { AsyncLocalStorage } from 'node:async_hooks'
import type { ProviderEndpoints } from '../../payments/endpoints.ts'
import type { Ports } from '../../ports.ts'
import type { OperationPorts } from '../ports.ts'
import { type Decided, rehearse } from './rehearse.ts'

type Rehearsed = OperationPorts & Ports<'keptKeys' | 'providers' | 'usage'>

/** The endpoints at a provider for a rehearsal: none is created or removed. */
const untouched: ProviderEndpoints = {
  find: async () => [],
  create: async ({ secret }) => ({ id: 'rehearsed', secret }),
  remove: async () => undefined,
}

/** The services of the rehearsal that the present work belongs to. */
const present = new AsyncLocalStorage<object>()

/**
 * Services for work that may be rehearsed: within {@link rehearsed} they decide and record nothing, and otherwise they are those
 * that are given. Work must read each of them when it uses it, not when it is set up.
 */
export const rehearsable = <S extends object>(services: S): S =>
  new Proxy(services, {
    get(own, name) {
      const stands: unknown = Reflect.get(present.getStore() ?? own, name)
      return stands === undefined ? Reflect.get(own, name) : stands
    },
  })

/**
 * Runs work that uses {@link rehearsable} services. Nothing is recorded, kept or counted.
 * @returns what it decided, in order
 * @throws what the work throws
 */
export const rehearsed = (services: Rehearsed, work: () => Promise<unknown>): Promise<Decided[]> =>
  rehearse(services, (own) => {
    const nothing = async () => undefined
    const keptKeys = { ...own.keptKeys, keep: nothing, recheck: nothing, clearPeriods: nothing }
    const providers = { ...own.providers, endpoints: () => untouched }
    const usage = { ...own.usage, count: () => undefined }
    return present.run({ ...own, keptKeys, providers, usage }, work)
  })
