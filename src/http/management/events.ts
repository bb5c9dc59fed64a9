import { z } from 'zod'
import type { Services } from '../../commands/services.ts'
import { FedEvent } from '../../webhooks/payloads.ts'
import { type FeedPlace, readPublicEvents } from '../../webhooks/public-events.ts'
import { callerIn } from '../authenticate.ts'
import type { Cursors } from '../cursor.ts'
import { answer, errors, pageQuery } from '../schemas.ts'
import type { ZodApp } from '../zod-app.ts'

const cursorOut = z.string().nullable()

const eventsOut = z.object({
  items: z.array(FedEvent),
  nextCursor: cursorOut.meta({ description: 'Where to read on now; null when these were the last so far' }),
  cursor: cursorOut.meta({
    description: 'Where to read on whenever: behind the last event here; null while there has been none',
  }),
})

/** What webhooks are sent, to be fetched instead. */
export function eventRoutes(app: ZodApp, services: Services, cursors: Cursors): void {
  app.get(
    '/v1/events',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listEvents',
        tags: ['Webhook'],
        summary: "Read the tenant's events in the order in which they happened, oldest first",
        description:
          'Every event that a webhook can be sent, with the same id and the same body, whether or not a webhook takes it; ' +
          'of a key only its masked form. Keep `cursor`, and ask with `after` for what has happened since: nothing is ' +
          'left out, and a cursor is good for ever.',
        querystring: z.strictObject({
          after: pageQuery.cursor.meta({
            description: '`cursor` or `nextCursor` of an answer; the first events when absent',
          }),
          limit: pageQuery.limit,
        }),
        response: { 200: answer('Events, oldest first', eventsOut), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { after, limit } = request.query
      const { items, more } = await readFeed(services, cursors, callerIn(request).tenantId, { after, limit })
      const cursor = items.at(-1)?.cursor ?? after ?? null
      return { items: items.map(({ event }) => event), nextCursor: more ? cursor : null, cursor }
    },
  )
}

/**
 * Each event with the cursor that leads on from it.
 * @throws Problem 400 for a cursor of anything else
 */
export async function readFeed(
  services: Services,
  cursors: Cursors,
  tenantId: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<{ items: { event: FedEvent; cursor: string | null }[]; more: boolean }> {
  const feed = [tenantId, 'events']
  const from = cursors.read(feed, after)
  const { items, more } = await readPublicEvents(services, tenantId, {
    after: from && { position: BigInt(from.id), at: from.createdAt },
    limit,
  })
  const cursorAt = ({ position, at }: FeedPlace) =>
    cursors.write(feed, { createdAt: at, id: String(position) })
  return { items: items.map(({ event, place }) => ({ event, cursor: cursorAt(place) })), more }
}
