import type { SealedNote } from '../../../projections/customer-notes.ts'
import { customers } from '../../domain/customers/customer.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { requireCustomer } from './customers.ts'

/** A note about a customer; its text is null once its person was erased. */
export type Note = Omit<SealedNote, 'subjectId' | 'text'> & { text: string | null }

/**
 * Adds a note about a customer, sealed under the key of the customer's person.
 * @throws Refusal `customer_not_found`, `customer_erased`, `too_many_notes`
 */
export async function addNote(
  ports: Ports<'db' | 'execute' | 'newId' | 'now' | 'subjects'>,
  { tenantId, customerId }: { tenantId: string; customerId: string },
  text: string,
  origin: Origin,
): Promise<Note> {
  await requireCustomer(ports, tenantId, customerId)
  const noteId = ports.newId('nte')
  const at = momentOf(ports)
  const { state } = await ports.execute(
    customers,
    customerId,
    async (before) => {
      if (before.status === 'absent') throw new Refusal('customer_not_found')
      const { subjectId } = before
      const sealed = await ports.subjects.sealNote(tenantId, subjectId, text)
      if (sealed === null) throw new Refusal('customer_erased')
      return { type: 'AddNote', noteId, subjectId, text: sealed, at }
    },
    causeOf(origin, at),
    { run: origin.run },
  )
  // A repeated request may come after an erasure: it gets the note as it is now.
  const isKept = state.status === 'present' && state.erasedAt === null
  return { noteId, text: isKept ? text : null, actor: origin.actor, at }
}

/**
 * Removes a note about a customer; nothing changes if it is not there.
 * @throws Refusal `customer_not_found`
 */
export async function removeNote(
  ports: Ports<'db' | 'execute' | 'now'>,
  { tenantId, customerId }: { tenantId: string; customerId: string },
  noteId: string,
  origin: Origin,
): Promise<void> {
  await requireCustomer(ports, tenantId, customerId)
  const at = momentOf(ports)
  await ports.execute(customers, customerId, { type: 'RemoveNote', noteId, at }, causeOf(origin, at))
}

export async function openNotes(
  { subjects }: Ports<'subjects'>,
  tenantId: string,
  sealed: readonly SealedNote[],
): Promise<Note[]> {
  const texts = await subjects.openNotes(tenantId, sealed)
  return sealed.map(({ noteId, actor, at }, index) => ({ noteId, actor, at, text: texts[index] ?? null }))
}
