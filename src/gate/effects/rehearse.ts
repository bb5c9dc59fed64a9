import { countSeatedDevices } from '../../../projections/licenses/active-devices.ts'
import { countProducts } from '../../../projections/products/queries.ts'
import { createKeyedMutex } from '../../async/keyed-mutex.ts'
import type { Origin } from '../../commands/origin.ts'
import { planLimits } from '../../domain/tenants/tenant.ts'
import { createExecute } from '../../ledger/execute.ts'
import type { Secrets } from '../../vault/secrets.ts'
import type { OperationPorts } from '../ports.ts'
import { type Decided, rehearsalLedger } from './rehearsal-ledger.ts'

/** The cause of commands that are not recorded. */
export const rehearsalOrigin: Origin = { requestId: 'rehearsal', actor: 'system:rehearsal' }

/**
 * Runs work whose commands decide on the present state and record nothing. Locks are not taken, because nothing
 * is changed that they would protect; secrets are neither kept nor destroyed.
 * @returns what was decided, a stream each, in the order of their first events
 * @throws what the work throws, such as the Refusal of a decision
 */
export async function rehearse<S extends OperationPorts>(
  ports: S,
  work: (ports: S) => Promise<unknown>,
): Promise<Decided[]> {
  const { ledger, decided } = rehearsalLedger(ports.ledger)
  await work({ ...ports, ...withoutEffect(ports, ledger) })
  return decided()
}

function withoutEffect(
  ports: OperationPorts,
  ledger: OperationPorts['ledger'],
): Omit<OperationPorts, 'db' | 'deriveId' | 'now' | 'randomBytes'> {
  const { db, secrets, subjects, mailing, idempotency, refusals, keyTypes } = ports
  const counts = { products: countProducts, activeDevices: countSeatedDevices }
  const free = { prove: async () => undefined, leave: () => undefined }
  const visible = async () => undefined
  return {
    ledger,
    execute: createExecute(ledger, { advanceTo: visible, catchUp: visible }, createKeyedMutex()),
    untilVisible: visible,
    keyTypes: { ...keyTypes, enter: async () => free, alone: (_, work) => work(free.prove) },
    planCapacity: {
      async reserve({ tenantId, plan, what, needed }, work) {
        const limit = planLimits[plan][what]
        if (!Number.isFinite(limit)) return work(needed)
        return work(Math.min(needed, Math.max(0, limit - (await counts[what](db, tenantId)))))
      },
    },
    secrets: rehearsedSecrets(secrets),
    subjects: { ...subjects, ...unsealed(subjects), destroy: async () => undefined },
    idempotency: { ...idempotency, forgetAnswersWith: async () => 0 },
    refusals: { ...refusals, forget: async () => undefined },
    mailing: withoutMails(mailing),
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

/** New secrets are only remembered, and present ones are left as they are. */
function rehearsedSecrets({ open }: Secrets): Secrets {
  const kept = new Map<string, string>()
  return {
    async keep(tenantId, name, secret) {
      const stored = kept.get(name) ?? (await open(tenantId, name)) ?? secret
      kept.set(name, stored)
      return stored
    },
    open: async (tenantId, name) => kept.get(name) ?? open(tenantId, name),
    destroy: async () => undefined,
  }
}

/** Whether there is a mail server stays as it is, since commands depend on it. */
function withoutMails(mailing: OperationPorts['mailing']): OperationPorts['mailing'] {
  const send = () => Promise.reject(new Error('a rehearsal sends no mail'))
  const { mailer, mailbox } = mailing
  return {
    ...mailing,
    mailer: { ...mailer, send },
    mailbox: mailbox && { ...mailbox, send, remove: async () => false },
  }
}
