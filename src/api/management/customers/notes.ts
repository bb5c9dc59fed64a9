import { z } from 'zod'
import { listSealedNotes } from '../../../../projections/customer-notes.ts'
import { requireCustomer } from '../../../commands/customers/customers.ts'
import { addNote, type Note, openNotes, removeNote } from '../../../commands/customers/notes.ts'
import { maxNotes, NoteText } from '../../../domain/customers/notes.ts'
import { nameActors } from '../../../history/actors.ts'
import { originOf } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { runOriginOf, runPorts } from '../../../http/idempotency.ts'
import { answer, errors, momentOut, onlyId, pageOf, pageQuery } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { actorOut } from '../actor.ts'
import { answerPage } from '../page.ts'
import { placeIn } from './schemas.ts'

const noteText = 'Moved to the annual plan by phone on 3 March.'

const noteId = z
  .string()
  .meta({ description: 'The id of the note', example: 'nte_06f5w3k8hx7vq2m4n9t1r0s5zc' })

const noteOut = z
  .object({
    id: noteId,
    text: z.string().nullable().meta({
      description: 'What was written; null once the person it was about has been erased',
      example: noteText,
    }),
    actor: actorOut.meta({ description: 'Who wrote it' }),
    createdAt: momentOut,
  })
  .meta({ id: 'CustomerNote', description: 'What a member or a program wrote about a customer' })

/** The notes about a customer. */
export function noteRoutes(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'newId' | 'now' | 'randomBytes' | 'subjects'>,
  cursors: Cursors,
): void {
  listRoute(app, ports, cursors)
  addRoute(app, ports)
  removeRoute(app, ports)
}

async function views(ports: Ports<'db' | 'subjects'>, tenantId: string, notes: readonly Note[]) {
  const nameOf = await nameActors(
    ports,
    tenantId,
    notes.map(({ actor }) => actor),
  )
  return notes.map(({ noteId, text, actor, at }) => ({
    id: noteId,
    text,
    actor: nameOf(actor),
    createdAt: at,
  }))
}

function listRoute(app: ZodApp, ports: Ports<'db' | 'subjects'>, cursors: Cursors): void {
  app.get(
    '/v1/customers/:id/notes',
    {
      config: { scope: 'customers:read' },
      schema: {
        operationId: 'listCustomerNotes',
        tags: ['Customers'],
        summary: 'List the notes about a customer, newest first',
        description:
          'A note that was removed is not among them, and none are left once the person was erased.',
        params: onlyId,
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of notes', pageOf(noteOut)), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId, customerId } = placeIn(request)
      await requireCustomer(ports, tenantId, customerId)
      return answerPage(
        cursors,
        [tenantId, 'notes of a customer', customerId],
        request.query,
        (keyset) => listSealedNotes(ports.db, tenantId, customerId, keyset),
        async (sealed) => views(ports, tenantId, await openNotes(ports, tenantId, sealed)),
      )
    },
  )
}

function addRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'newId' | 'now' | 'randomBytes' | 'subjects'>,
): void {
  app.post(
    '/v1/customers/:id/notes',
    {
      config: { scope: 'customers:write', dryRun: true },
      schema: {
        operationId: 'addCustomerNote',
        tags: ['Customers'],
        summary: 'Add a note about a customer',
        description:
          `Members read it on the page of the customer. It is stored encrypted, and erased with the person. A customer has at most ${maxNotes} ` +
          'notes; further ones are 409.',
        params: onlyId,
        body: z
          .strictObject({
            text: NoteText.meta({
              description: 'What is to be known of the customer; may have several lines',
              example: noteText,
            }),
          })
          .meta({ example: { text: noteText } }),
        response: {
          201: answer('The note', z.object({ note: noteOut })),
          ...errors(400, 403, 404, 409),
        },
      },
    },
    async (request, reply) => {
      const { tenantId, customerId } = placeIn(request)
      const own = runPorts(request, ports)
      const place = { tenantId, customerId }
      const note = await addNote(own, place, request.body.text, runOriginOf(request))
      const [shown] = await views(ports, tenantId, [note])
      if (!shown) throw new Error('one note gives one view')
      void reply.code(201)
      return { note: shown }
    },
  )
}

function removeRoute(app: ZodApp, ports: Ports<'db' | 'execute' | 'now'>): void {
  app.delete(
    '/v1/customers/:id/notes/:noteId',
    {
      config: { scope: 'customers:write', dryRun: true },
      schema: {
        operationId: 'removeCustomerNote',
        tags: ['Customers'],
        summary: 'Remove a note about a customer; repeating it changes nothing',
        description:
          'The log keeps that there was a note, and its text encrypted until the person is erased.',
        params: z.strictObject({ id: z.string(), noteId }),
        response: {
          200: answer(
            'The note is not there',
            z.object({
              removed: z.literal(true).meta({ description: 'Always true', example: true }),
            }),
          ),
          ...errors(400, 403, 404),
        },
      },
    },
    async (request) => {
      const { tenantId, customerId } = placeIn(request)
      await removeNote(ports, { tenantId, customerId }, request.params.noteId, originOf(request))
      return { removed: true as const }
    },
  )
}
