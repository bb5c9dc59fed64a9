import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { listSealedNotes } from '../../../projections/customer-notes.ts'
import type { PresentCustomer } from '../../../projections/customers.ts'
import { addNote, openNotes, removeNote } from '../../commands/customers/notes.ts'
import { isId, newId } from '../../credentials/id.ts'
import { maxNotes, maxNoteText, NoteText } from '../../domain/customers/notes.ts'
import { may } from '../../domain/members/roles.ts'
import { actorNames } from '../../history/actors.ts'
import type { Ports } from '../../ports.ts'
import { type FilledForm, newForm, readForm, typedIn } from '../forms/filled-form.ts'
import { formOf } from '../forms/forms.ts'
import { runOnce } from '../forms/once.ts'
import { refusedForm } from '../forms/refused.ts'
import { given } from '../forms/typed.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { aboveIn, type CustomerRequest, customerOf } from './choose.ts'
import { notesView, type ShownNotes } from './notes-view.ts'

const change = pageRoute({ page: 'change_licenses' })

const wrong = `Enter at most ${maxNoteText.toLocaleString('en')} characters, and at least one.`
/** Browsers send the end of each line as two characters. */
const NoteForm = z.object({
  text: given
    .transform((text) => text.replaceAll('\r\n', '\n'))
    .refine((text) => NoteText.safeParse(text).success, wrong),
})
const RemoveForm = z.object({ noteId: z.string().refine((id) => isId('nte', id)) })

/** The newest notes about a customer, with the form that adds one for members who may. */
export async function shownNotes(
  ports: Ports<'db' | 'subjects'>,
  { tenantId, customerId, erasedAt }: PresentCustomer,
  { mayChange, limit }: { mayChange: boolean; limit: number },
  form: FilledForm = newForm(),
): Promise<{ notes: ShownNotes; more: boolean }> {
  const { items, next } = await listSealedNotes(ports.db, tenantId, customerId, { after: undefined, limit })
  const notes = await openNotes(ports, tenantId, items)
  const nameOf = await actorNames(
    ports,
    tenantId,
    notes.map(({ actor }) => actor),
  )
  const operation = typedIn(form, 'operation') || newId('req')
  const add = mayChange && erasedAt === null ? { form, operation } : undefined
  return { notes: { customerId, notes, nameOf, add }, more: next !== undefined }
}

/** Where the notes about a customer are read, added and removed. */
export function notePages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = async (request: CustomerRequest, reply: FastifyReply, form: FilledForm) => {
    const { customer } = await customerOf(ports, request)
    const mayChange = may(principalOf(request).role, 'change_licenses')
    const { notes } = await shownNotes(ports, customer, { mayChange, limit: maxNotes }, form)
    return show(reply, {
      title: 'Notes',
      nav: 'customers',
      trail: aboveIn(customer.customerId),
      content: (view) => notesView(view, notes),
      form,
    })
  }

  app.get(
    '/customers/:id/notes',
    auditedPage('customers:read', 'customer'),
    (request: CustomerRequest, reply) => page(request, reply, newForm()),
  )

  app.post('/customers/:id/notes', change, async (request: CustomerRequest, reply) => {
    const { customer } = await customerOf(ports, request)
    const { tenantId, customerId } = customer
    const { filled, data } = readForm(NoteForm, request)
    if (!data) return page(request, reply, filled)
    try {
      await runOnce(ports, request, async (own, origin) => {
        const { noteId } = await addNote(own, { tenantId, customerId }, data.text, origin)
        return noteId
      })
    } catch (error) {
      return page(request, reply, refusedForm(error, filled))
    }
    return redirectWith(reply, `/dashboard/customers/${customerId}`, 'Note added.')
  })

  app.post('/customers/:id/notes/remove', change, async (request: CustomerRequest, reply) => {
    const { customer } = await customerOf(ports, request)
    const { tenantId, customerId } = customer
    const { noteId } = formOf(RemoveForm, request)
    await removeNote(ports, { tenantId, customerId }, noteId, originOfMember(request))
    return redirectWith(reply, `/dashboard/customers/${customerId}`, 'Note removed.')
  })
}
