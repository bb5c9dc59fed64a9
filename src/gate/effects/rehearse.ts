import { countSeatedDevices } from '../../../projections/licenses/active-devices.ts'
import { countProducts } from '../../../projections/products/queries.ts'
import type { Origin } from '../../commands/origin.ts'
import type { Category, DomainEvent } from '../../domain/events.ts'
import { streamName } from '../../domain/streams.ts'
import { planLimits } from '../../domain/tenants/tenant.ts'
import type { Execute } from '../../ledger/execute.ts'
import { loadFromLog } from '../../ledger/load.ts'
import type { OperationPorts } from '../ports.ts'

/** What a command decided on a stream, without recording it. */
export type Decided = { category: Category; id: string; events: readonly DomainEvent[] }

/** The cause of commands that are not recorded. */
export const rehearsalOrigin: Origin = { requestId: 'rehearsal', actor: 'system:rehearsal' }

/**
 * Runs work whose commands decide on the present state and record nothing. Locks are not taken, because nothing
 * is changed that they would protect; secrets are neither kept, opened nor destroyed.
 * @param work decides at most once on each stream
 * @returns what was decided, in order
 * @throws what the work throws, such as the Refusal of a decision
 */
export async function rehearse<S extends OperationPorts>(
  services: S,
  work: (services: S) => Promise<unknown>,
): Promise<Decided[]> {
  const decided: Decided[] = []
  await work({ ...services, ...withoutEffect(services, decided) })
  return decided
}

function withoutEffect(
  services: OperationPorts,
  decided: Decided[],
): Omit<OperationPorts, 'db' | 'now' | 'randomBytes'> {
  const { db, ledger, subjects, mailing, idempotency, refusals, keyTypes } = services
  const counts = { products: countProducts, activeDevices: countSeatedDevices }
  const free = { prove: async () => undefined, leave: () => undefined }
  return {
    ledger: { ...ledger, append: neverRuns },
    execute: deciding(services, decided),
    untilVisible: async () => undefined,
    keyTypes: { ...keyTypes, enter: async () => free, alone: (_, work) => work(free.prove) },
    planCapacity: {
      async reserve({ tenantId, plan, what, needed }, work) {
        const left = planLimits[plan][what] - (await counts[what](db, tenantId))
        return work(Math.min(needed, Math.max(0, left)))
      },
    },
    secrets: rehearsedSecrets(),
    subjects: { ...subjects, ...unsealed(subjects), destroy: async () => undefined },
    idempotency: { ...idempotency, forgetAnswersWith: async () => 0 },
    refusals: { ...refusals, forget: async () => undefined },
    mailing: { ...mailing, mailbox: undefined },
  }
}

/** A new person gets no key, so that what was to be sealed of them is not. */
function unsealed(
  subjects: OperationPorts['subjects'],
): Pick<OperationPorts['subjects'], 'sealPerson' | 'sealPeople'> {
  const sealPerson: OperationPorts['subjects']['sealPerson'] = async (tenantId, email, name) => ({
    subjectId: (await subjects.findSubject(tenantId, email)) ?? 'sub_rehearsed',
    email: 'sealed.1.rehearsed.AA',
    name: name === null ? null : 'sealed.1.rehearsed.AA',
  })
  return {
    sealPerson,
    sealPeople: (tenantId, people) =>
      Promise.all(people.map(({ email, name }) => sealPerson(tenantId, email, name))),
  }
}

const neverRuns = (): Promise<never> => Promise.reject(new Error('a rehearsal appends nothing'))

/** As `createExecute`, up to the append. */
function deciding({ ledger }: Pick<OperationPorts, 'ledger'>, decided: Decided[]): Execute {
  const streams = new Set<string>()
  return async (decider, id, command, _cause, { loaded, read, admit } = {}) => {
    const stream = streamName(decider.category, id)
    if (streams.has(stream)) throw new Error(`a rehearsal decides once on ${stream}`)
    const basis = loaded ?? (await (read ?? (() => loadFromLog(ledger, id, decider)))())
    const { state: before, revision } = basis
    const prepared = isPrepare(command) ? await command(before) : command
    const events = prepared === undefined ? [] : decider.decide(before, prepared)
    if (events.length > 0) {
      admit?.(events)
      streams.add(stream)
      decided.push({ category: decider.category, id, events })
    }
    return { before, state: events.reduce(decider.evolve, before), events, revision }
  }
}

const isPrepare = <State, Command>(
  command: Command | ((state: State) => Command | undefined | Promise<Command | undefined>),
): command is (state: State) => Command | undefined | Promise<Command | undefined> =>
  typeof command === 'function'

/** New secrets are only remembered; of present ones there is nothing but the name. */
function rehearsedSecrets(): OperationPorts['secrets'] {
  const kept = new Map<string, string>()
  return {
    async keep(_tenantId, name, secret) {
      kept.set(name, kept.get(name) ?? secret)
      return kept.get(name) ?? secret
    },
    open: async (_tenantId, name) => kept.get(name) ?? 'not opened',
    destroy: async () => undefined,
  }
}
