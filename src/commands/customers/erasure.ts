import { findNotesOfPerson } from '../../../projections/customer-notes.ts'
import { isMemberBySubject } from '../../../projections/members.ts'
import { findPersonRecords } from '../../../projections/subjects.ts'
import { linkMailsOf } from '../../access/customer-links.ts'
import { type CustomerCommand, customers } from '../../domain/customers/customer.ts'
import { licenses } from '../../domain/licenses/license.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { KnownSale } from '../../domain/sales/sale.ts'
import { subjectKey } from '../../domain/streams.ts'
import type { Erased } from '../../domain/subjects/events.ts'
import { type SubjectCommand, subjects } from '../../domain/subjects/subject.ts'
import type { Ports } from '../../ports.ts'
import { invitationMailsOf } from '../organizations/invitation-mails.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { saleStreamOf } from '../sales.ts'

/** What an erasure uses. */
export type ErasurePorts = Ports<
  | 'db'
  | 'deriveId'
  | 'execute'
  | 'idempotency'
  | 'ledger'
  | 'mailing'
  | 'now'
  | 'refusals'
  | 'secrets'
  | 'subjects'
>

/**
 * Makes a person's data permanently unreadable. The beginning is recorded first, so that another process can
 * finish it after a crash; every step may be repeated. A repetition for an erased person erases what was
 * added since.
 * @returns how much was found
 * @throws Refusal `subject_is_member` for a person who can sign in to the dashboard
 */
export async function eraseSubject(
  ports: ErasurePorts,
  tenantId: string,
  subjectId: string,
  origin: Origin,
): Promise<Erased> {
  await refuseMember(ports, tenantId, subjectId)
  const { at } = await change(ports, tenantId, subjectId, origin, (now) => ({
    type: 'BeginErasure',
    tenantId,
    subjectId,
    at: now,
  }))
  const traces = await findPersonRecords(ports.db, tenantId, subjectId)
  const people = await ports.subjects.openPeople(tenantId, traces.sealed)
  // First the stored answers, which are found by the person's name and address and the notes about them: without the key these would
  // be unknown.
  const notes = await ports.subjects.openNotes(
    tenantId,
    await findNotesOfPerson(ports.db, tenantId, subjectId),
  )
  const named = people.flatMap(({ email, name }) => [email, name])
  const texts = new Set([...named, ...notes].filter((text) => text !== null))
  await ports.idempotency.forgetAnswersWith(tenantId, [...texts])
  // Before the links that lead to them are gone.
  const invitations = await invitationMailsOf(ports, { tenantId, subjectId }, traces.organizationIds)
  const linkMails = await linkMailsOf(ports.db, tenantId, subjectId)
  const portalMails = await removeMails(ports, tenantId, [...linkMails, ...invitations])
  await ports.subjects.destroy(tenantId, subjectId)
  // Again, for requests that came while the person was still readable.
  await ports.idempotency.forgetAnswersWith(tenantId, [...texts])
  // The names that apps gave to the person's devices.
  await ports.refusals.forget(traces.licenseIds)
  const erased: Erased = {
    licenses: traces.licenseIds.length,
    customers: traces.customerIds.length,
    sales: traces.sales.length,
    notifications: await destroyNotifications(ports, traces.sales),
    mails: portalMails + (await removeMails(ports, tenantId, traces.mailIds)),
  }
  for (const id of traces.licenseIds) await eraseHolder(ports, id, subjectId, at, origin)
  for (const id of traces.customerIds) await onCustomer(ports, id, { type: 'EraseCustomer', at }, origin)
  for (const id of traces.organizationIds)
    await onCustomer(ports, id, { type: 'ErasePerson', subjectId, at }, origin)
  await change(ports, tenantId, subjectId, origin, (now) => ({ type: 'EndErasure', erased, at: now }))
  return erased
}

/** @throws Refusal `subject_is_member` */
export async function refuseMember(ports: Ports<'db'>, tenantId: string, subjectId: string): Promise<void> {
  if (await isMemberBySubject(ports.db, tenantId, subjectId)) throw new Refusal('subject_is_member')
}

async function change(
  ports: Ports<'execute' | 'now'>,
  tenantId: string,
  subjectId: string,
  origin: Origin,
  command: (at: string) => SubjectCommand,
): Promise<{ at: string }> {
  const at = momentOf(ports)
  await ports.execute(subjects, subjectKey(tenantId, subjectId), command(at), causeOf(origin, at))
  return { at }
}

/** Destroys the original notifications of the sales. Only the sales' streams name them. */
async function destroyNotifications(
  ports: Ports<'ledger' | 'secrets'>,
  sales: readonly KnownSale[],
): Promise<number> {
  const names = new Set<string>()
  for (const sale of sales) {
    for await (const entry of ports.ledger.readStream(saleStreamOf(sale))) {
      if (!entry.readable || entry.category !== 'sale') continue
      const { data } = entry.event
      if ('payload' in data) names.add(data.payload)
    }
  }
  const [sale] = sales
  if (sale) for (const name of names) await ports.secrets.destroy(sale.tenantId, name)
  return names.size
}

async function removeMails(
  { mailing: { mailbox } }: Ports<'mailing'>,
  tenantId: string,
  mailIds: readonly string[],
): Promise<number> {
  let removed = 0
  for (const id of mailIds) if (await mailbox?.remove(tenantId, id)) removed++
  return removed
}

async function eraseHolder(
  ports: Ports<'execute'>,
  licenseId: string,
  subjectId: string,
  at: string,
  origin: Origin,
): Promise<void> {
  await ports.execute(licenses, licenseId, { type: 'EraseHolder', subjectId, at }, causeOf(origin, at))
}

async function onCustomer(
  ports: Ports<'execute'>,
  customerId: string,
  command: CustomerCommand,
  origin: Origin,
): Promise<void> {
  await ports.execute(customers, customerId, command, causeOf(origin, command.at))
}
