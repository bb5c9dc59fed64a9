import { z } from 'zod'
import { findPublicEvent, isPublicEvent } from '../../../projections/deliveries/public-events.ts'
import type { After } from '../../../projections/page.ts'
import type { Services } from '../../commands/services.ts'
import { FedEvent } from '../../webhooks/payloads.ts'
import { type FeedPlace, readPublicEvents } from '../../webhooks/public-events.ts'
import { callerIn } from '../authenticate.ts'
import type { Cursors } from '../cursor.ts'
import { invalid } from '../problem.ts'
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
          'left out, and a cursor is good for ever, also when the installation moves to other servers. A cursor whose event ' +
          'the log does not have, since it was restored from a backup, is answered 400.',
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
 * @throws Problem 400 for a cursor of anything else, or behind an event that the log does not have
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
    after: from && (await positionOf(services, tenantId, from)),
    limit,
  })
  const cursorAt = ({ licenseId, revision, at }: FeedPlace) =>
    cursors.write(feed, { createdAt: at, id: `${licenseId}@${revision}` })
  return { items: items.map(({ event, place }) => ({ event, cursor: cursorAt(place) })), more }
}

/** Earlier versions wrote the position itself, which is the event's only in the log that it was written for. */
async function positionOf({ db }: Services, tenantId: string, { id, createdAt: at }: After): Promise<bigint> {
  const [licenseId = '', revision] = id.split('@')
  if (revision === undefined) {
    const position = BigInt(id)
    if (await isPublicEvent(db, tenantId, { position, at })) return position
  } else {
    const position = await findPublicEvent(db, tenantId, { licenseId, revision: Number(revision), at })
    if (position !== undefined) return position
  }
  throw invalid(
    'after leads to an event that the log does not have: it was moved or restored. Read from the first event on; an ' +
      'event that you have already has the same id',
  )
}
