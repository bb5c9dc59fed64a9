import { z } from 'zod'
import { type Category, eventsOf } from '../domain/events.ts'
import { EventMetadata, type LogEntry, type Recorded } from '../domain/recorded.ts'
import { categoryOf } from '../domain/streams.ts'
import { type Upcasters, upcasters } from './upcasters.ts'

/** An event as the store returns it, before validation. */
export type StoredEvent = {
  id: string
  stream: string
  revision: number
  position: bigint
  type: string
  data: unknown
  metadata: unknown
}

export type Codec = {
  /** The current schema number of an event type. */
  schemaOf(type: string): number
  /** Parses an event read from the log, upcasting an old shape first. Never throws: see {@link LogEntry}. */
  decode(stored: StoredEvent): LogEntry
}

/** Wraps the metadata, so that a validation error names it. */
const Envelope = z.object({ metadata: EventMetadata })

export function createCodec(known: Upcasters): Codec {
  const upcastersOf = (type: string) => (Object.hasOwn(known, type) ? known[type] : undefined) ?? []
  const schemaOf = (type: string): number => upcastersOf(type).length + 1

  function upcast(type: string, data: unknown, schema: number): unknown {
    if (schema > schemaOf(type)) {
      throw new Error(`${type} has schema ${schema}, newer than this version of keyledger knows`)
    }
    try {
      return upcastersOf(type)
        .slice(schema - 1)
        .reduce((older, upcaster) => upcaster(older), data)
    } catch {
      // The upcaster's error may quote a value of the event.
      throw new Error(`${type} of schema ${schema} could not be brought up to date`)
    }
  }

  function decodeIn(category: Category, stored: StoredEvent): LogEntry {
    const { id, stream, revision, position, type } = stored
    const { metadata } = Envelope.parse({ metadata: stored.metadata })
    const shape = { type, data: upcast(type, stored.data, metadata.schema) }
    const place = { readable: true, id, stream, revision, position, metadata } as const
    return parsedIn(category, place, shape)
  }

  return {
    schemaOf,
    decode(stored) {
      const { id, stream, revision, position, type } = stored
      try {
        const category = categoryOf(stream)
        if (category === undefined) throw new Error(`${stream} is in no known category`)
        return decodeIn(category, stored)
      } catch (error) {
        return { readable: false, id, stream, revision, position, type, problem: problemOf(error) }
      }
    },
  }
}

type EventHeader = Pick<Recorded, 'readable' | 'id' | 'stream' | 'revision' | 'position' | 'metadata'>

/** @throws ZodError for an event that the category's schema does not allow */
function parsedIn(category: Category, place: EventHeader, shape: { type: string; data: unknown }): Recorded {
  switch (category) {
    case 'tenant':
      return { ...place, category: 'tenant', event: eventsOf.tenant.parse(shape) }
    case 'member':
      return { ...place, category: 'member', event: eventsOf.member.parse(shape) }
    case 'product':
      return { ...place, category: 'product', event: eventsOf.product.parse(shape) }
    case 'license':
      return { ...place, category: 'license', event: eventsOf.license.parse(shape) }
    case 'token':
      return { ...place, category: 'token', event: eventsOf.token.parse(shape) }
    case 'login':
      return { ...place, category: 'login', event: eventsOf.login.parse(shape) }
    case 'customer':
      return { ...place, category: 'customer', event: eventsOf.customer.parse(shape) }
    case 'reseller':
      return { ...place, category: 'reseller', event: eventsOf.reseller.parse(shape) }
    case 'webhook':
      return { ...place, category: 'webhook', event: eventsOf.webhook.parse(shape) }
    case 'mail':
      return { ...place, category: 'mail', event: eventsOf.mail.parse(shape) }
    case 'wording':
      return { ...place, category: 'wording', event: eventsOf.wording.parse(shape) }
    case 'portal':
      return { ...place, category: 'portal', event: eventsOf.portal.parse(shape) }
    case 'integration':
      return { ...place, category: 'integration', event: eventsOf.integration.parse(shape) }
    case 'role':
      return { ...place, category: 'role', event: eventsOf.role.parse(shape) }
    case 'signin':
      return { ...place, category: 'signin', event: eventsOf.signin.parse(shape) }
    case 'scim':
      return { ...place, category: 'scim', event: eventsOf.scim.parse(shape) }
    case 'testpurchase':
      return { ...place, category: 'testpurchase', event: eventsOf.testpurchase.parse(shape) }
    case 'trial':
      return { ...place, category: 'trial', event: eventsOf.trial.parse(shape) }
    case 'confirmation':
      return { ...place, category: 'confirmation', event: eventsOf.confirmation.parse(shape) }
    case 'signing':
      return { ...place, category: 'signing', event: eventsOf.signing.parse(shape) }
    case 'sale':
      return { ...place, category: 'sale', event: eventsOf.sale.parse(shape) }
    case 'notice':
      return { ...place, category: 'notice', event: eventsOf.notice.parse(shape) }
    case 'delivery':
      return { ...place, category: 'delivery', event: eventsOf.delivery.parse(shape) }
    case 'replay':
      return { ...place, category: 'replay', event: eventsOf.replay.parse(shape) }
    case 'audit':
      return { ...place, category: 'audit', event: eventsOf.audit.parse(shape) }
    case 'subject':
      return { ...place, category: 'subject', event: eventsOf.subject.parse(shape) }
    case 'ledger':
      return { ...place, category: 'ledger', event: eventsOf.ledger.parse(shape) }
    case 'notary':
      return { ...place, category: 'notary', event: eventsOf.notary.parse(shape) }
    case 'meter':
      return { ...place, category: 'meter', event: eventsOf.meter.parse(shape) }
    default:
      throw new Error(`no schema for the category ${String(category satisfies never)}`)
  }
}

/** Names the invalid fields, but not their values: an unreadable event may hold personal data or secrets. */
function problemOf(error: unknown): string {
  if (!(error instanceof z.ZodError)) return error instanceof Error ? error.message : 'unreadable'
  const fields = error.issues.flatMap((issue) => {
    const paths =
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path]
    return paths.map((path) => `${path.join('.') || 'event'} (${issue.code})`)
  })
  return `does not fit its schema: ${fields.join(', ')}`
}

export const codec: Codec = createCodec(upcasters)
