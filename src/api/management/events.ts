import { z } from 'zod'
import {
  findLastPublicEvent,
  findPublicEvent,
  isPublicEvent,
} from '../../../projections/deliveries/public-events.ts'
import type { PageStart } from '../../../projections/page.ts'
import { licenseStream } from '../../domain/streams.ts'
import { WebhookEventName } from '../../domain/webhooks/events.ts'
import { callerIn } from '../../http/authenticate.ts'
import type { Cursors } from '../../http/cursor.ts'
import { licenseAloneOut, licenseAloneView } from '../../http/licenses/license.ts'
import { invalid } from '../../http/problem.ts'
import { answer, errors, pageQuery, text } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import { type PlacedEvent, receiptOf } from '../../notary/receipt.ts'
import { tellsKey } from '../../notary/withheld.ts'
import type { Ports } from '../../ports.ts'
import { payloadOf } from '../../webhooks/payloads.ts'
import { type FedContent, type FeedPlace, readPublicEvents } from '../../webhooks/public-events.ts'

/** An event in the feed: the body of its delivery with the key masked, its number in the feed, and the license after it. */
const fedEventOf = (event: WebhookEventName) =>
  payloadOf(event).extend({
    sequence: z.int().positive().meta({
      description: '1, 2, 3… over all events of the license in the feed, whatever any endpoint gets',
      example: 1,
    }),
    /** Right after the event. */
    license: licenseAloneOut,
    record: z.string().nullable().optional().meta({
      description:
        'The recorded event as canonical JSON (RFC 8785), to the byte; null until a checkpoint covers it, absent without `proof=true`',
    }),
    proof: z.string().nullable().optional().meta({
      description:
        'Its place in the log, and the signed checkpoint: C2SP tlog-proof; null until a checkpoint covers it, absent without `proof=true`',
    }),
  })

const created = 'license.created'

export const FedEvent = z
  .discriminatedUnion('event', [
    fedEventOf(created).extend({
      key: z.string().meta({ description: 'The key, masked', example: 'ACME…HJ6C' }),
    }),
    ...WebhookEventName.exclude([created]).options.map(fedEventOf),
  ])
  .meta({
    id: 'PublicEvent',
    description: 'An event of a license as its delivery has it, and the license after it',
  })
export type FedEvent = z.infer<typeof FedEvent>

function fedEvent({ payload, license, place }: FedContent): FedEvent {
  return FedEvent.parse({ ...payload, license: licenseAloneView(license, payload.customer_email, place.at) })
}

const cursorOut = z.string().nullable()

const eventsOut = z.object({
  items: z.array(FedEvent).meta({ description: 'The events of this page, oldest first' }),
  nextCursor: cursorOut.meta({
    description: 'The cursor of the next page; null on the last page so far',
    example: null,
  }),
  cursor: cursorOut.meta({
    description:
      'The cursor to continue from later: after the last event here; null if there are no events yet',
    example: 'eyJhdCI6IjIwMjYtMTEtMjEifQ',
  }),
})

/** Every event of the tenant's licenses, for polling. */
export function eventRoutes(
  app: ZodApp,
  ports: Ports<'db' | 'deriveId' | 'receipts' | 'subjects'>,
  cursors: Cursors,
): void {
  app.get(
    '/v1/events',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listEvents',
        tags: ['Webhook'],
        summary: "Read the tenant's events in log order, oldest first",
        description:
          'Every event of the licenses, with the id and the body of its delivery, whether or not a webhook subscribes to it; ' +
          'keys are masked, and `license` is the license after the event, so a copy of all licenses can be kept from the feed. Store `cursor` and pass it as `cursor` to get what has happened since: no event is ' +
          'left out, and a cursor never expires, even when the installation moves to other servers. A cursor whose event ' +
          'is missing because the log was restored from a backup gets 400.',
        querystring: z.strictObject({
          cursor: pageQuery.cursor.meta({
            description:
              '`cursor` or `nextCursor` of an earlier response; `end` returns no events and the cursor after the last one so far; starts at the first event when absent',
          }),
          after: pageQuery.cursor.meta({ description: 'Another name for `cursor`; send one of them' }),
          license: text(100).optional().meta({
            description: 'Only events of this license; a cursor belongs to the license that it was read with',
            example: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc',
          }),
          limit: pageQuery.limit,
          proof: z.enum(['true', 'false']).optional().meta({
            description:
              'With `true`, each event carries its `record` and the `proof` that it stands in the signed log, for `keyledger verify receipt`',
          }),
        }),
        response: { 200: answer('Events, oldest first', eventsOut), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { license, limit, proof } = request.query
      const after = startIn(request.query)
      const { tenantId } = callerIn(request)
      if (after === 'end') return endOfFeed(ports, cursors, tenantId, license)
      const { items, more } = await readFeed(ports, cursors, tenantId, { after, license, limit })
      const cursor = items.at(-1)?.cursor ?? after ?? null
      const events = proof === 'true' ? await withProofs(ports, items) : items.map(({ event }) => event)
      return { items: events, nextCursor: more ? cursor : null, cursor }
    },
  )
}

/** @throws Problem 400 when the cursor is sent under both names */
function startIn({ cursor, after }: { cursor?: string | undefined; after?: string | undefined }) {
  if (cursor !== undefined && after !== undefined)
    throw invalid('after is another name for cursor; send only cursor')
  return cursor ?? after
}

/**
 * Reads public events, each with the cursor that continues after it.
 * @throws Problem 400 for a foreign cursor, or one after the end of the log
 */
export async function readFeed(
  ports: Ports<'db' | 'deriveId' | 'subjects'>,
  cursors: Cursors,
  tenantId: string,
  { after, license, limit }: { after: string | undefined; license?: string | undefined; limit: number },
): Promise<{ items: FedItem[]; more: boolean }> {
  const feed = feedOf(tenantId, license)
  const from = cursors.read(feed, after)
  const { items, more } = await readPublicEvents(ports, tenantId, {
    after: from && (await positionOf(ports, tenantId, from)),
    licenseId: license,
    limit,
  })
  return {
    items: items.map((content) => {
      const { place, position } = content
      const { licenseId, revision } = place
      const recorded = { stream: licenseStream(licenseId), revision, position }
      return { event: fedEvent(content), cursor: cursors.write(feed, startAt(place)), recorded }
    }),
    more,
  }
}

/** An event of the feed, the cursor that continues after it, and where it is recorded. */
type FedItem = { event: FedEvent; cursor: string | null; recorded: PlacedEvent }

/** The events, each with its record and proof; null for those that no checkpoint covers yet, and for withheld ones. */
async function withProofs({ receipts }: Ports<'receipts'>, items: readonly FedItem[]): Promise<FedEvent[]> {
  const prover = await receipts.open()
  const proved = (await prover?.prove(items.map(({ recorded }) => recorded))) ?? []
  return items.map(({ event }, at) => {
    const inclusion = proved[at]
    const isShown = prover && inclusion && !tellsKey(inclusion.record)
    const receipt = isShown ? receiptOf(inclusion, prover) : undefined
    return { ...event, record: receipt?.record ?? null, proof: receipt?.proof ?? null }
  })
}

/** What a cursor is bound to. */
const feedOf = (tenantId: string, license: string | undefined): readonly unknown[] =>
  license === undefined ? [tenantId, 'events'] : [tenantId, 'events', license]

const startAt = ({ licenseId, revision, at }: FeedPlace): PageStart => ({
  createdAt: at,
  id: `${licenseId}@${revision}`,
})

/** No events, and the cursor after the last one of the tenant. */
async function endOfFeed(
  { db }: Ports<'db'>,
  cursors: Cursors,
  tenantId: string,
  license: string | undefined,
) {
  const last = await findLastPublicEvent(db, tenantId)
  const cursor = cursors.write(feedOf(tenantId, license), last && startAt(last))
  return { items: [], nextCursor: null, cursor }
}

/** Cursors of earlier versions contain the log position, which is only valid in the log they were made for. */
async function positionOf(
  { db }: Ports<'db'>,
  tenantId: string,
  { id, createdAt: at }: PageStart,
): Promise<bigint> {
  const [licenseId = '', revision] = id.split('@')
  if (revision === undefined) {
    const position = BigInt(id)
    if (await isPublicEvent(db, tenantId, { position, at })) return position
  } else {
    const position = await findPublicEvent(db, tenantId, { licenseId, revision: Number(revision), at })
    if (position !== undefined) return position
  }
  throw invalid(
    'the log no longer has this event because it was moved or restored; read from the first event, and ' +
      'skip events whose id you already have',
  )
}
