import type { Pool } from 'pg'
import { type Keyset, orderOf, type PageOf, pageOf } from './page.ts'
import type { Projector } from './projector.ts'
import type { Statement } from './statements.ts'
import { defineTable, type RowIn } from './table.ts'

const notes = defineTable(
  'customer_notes',
  {
    noteId: 'text not null',
    customerId: 'text not null',
    tenantId: 'text not null',
    // Whose key it is sealed under.
    subjectId: 'text not null',
    // Sealed; null once it is removed.
    text: 'text',
    actor: 'text not null',
    at: 'timestamptz not null',
  },
  {
    key: ['noteId'],
    over: 'nothing',
    indexes: {
      notes_of_customer: '(customer_id, at desc, note_id desc) where text is not null',
      notes_of_subject: '(tenant_id, subject_id) where text is not null',
    },
  },
)

/**
 * The notes about customers, until they are removed or the customer's person is erased. Their rows stay without the text, so that no
 * event that is applied again brings it back.
 */
export const customerNotesProjector: Projector = {
  name: 'customer_notes',
  tables: [notes],
  applyIndexes: ['notes_of_customer'],
  async apply(_db, entries) {
    const added: RowIn<typeof notes>[] = []
    const removed: string[] = []
    const erased: string[] = []
    for (const { category, stream, event, metadata } of entries) {
      if (category !== 'customer') continue
      const customerId = stream.slice('customer-'.length)
      if (event.type === 'CustomerNoteAdded') added.push({ ...event.data, customerId, actor: metadata.actor })
      if (event.type === 'CustomerNoteRemoved') removed.push(event.data.noteId)
      if (event.type === 'CustomerErased') erased.push(customerId)
    }
    return [...notes.write(added), ...withoutText(removed, erased)]
  },
}

const withoutText = (noteIds: readonly string[], customerIds: readonly string[]): Statement[] =>
  noteIds.length + customerIds.length === 0
    ? []
    : [
        {
          name: 'remove-customer-notes',
          text: `update customer_notes set text = null
                 where note_id = any($1) or (customer_id = any($2) and text is not null)`,
          values: [noteIds, customerIds],
        },
      ]

/** A note about a customer, sealed. */
export type SealedNote = {
  noteId: string
  subjectId: string
  text: string
  /** Who wrote it, as events name an actor. */
  actor: string
  at: string
}

/** Newest first; ties by id. */
export async function listSealedNotes(
  db: Pool,
  tenantId: string,
  customerId: string,
  { after, limit, order }: Keyset,
): Promise<PageOf<SealedNote>> {
  const { by, past } = orderOf(order, 'at', 'note_id')
  const { rows } = await db.query<SealedNote>(
    `select note_id as "noteId", subject_id as "subjectId", text, actor, at from customer_notes
     where tenant_id = $1 and customer_id = $2 and text is not null and ($3::timestamptz is null or ${past('$3', '$4')})
     order by ${by} limit $5`,
    [tenantId, customerId, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  )
  return pageOf(rows, limit, ({ at, noteId }) => ({ createdAt: at, id: noteId }))
}

/** The notes that are sealed under a person's key. */
export async function findNotesOfPerson(
  db: Pool,
  tenantId: string,
  subjectId: string,
): Promise<{ subjectId: string; text: string }[]> {
  const { rows } = await db.query<{ subjectId: string; text: string }>(
    `select subject_id as "subjectId", text from customer_notes where tenant_id = $1 and subject_id = $2 and text is not null
     order by note_id`,
    [tenantId, subjectId],
  )
  return rows
}
