import { deliveries, keyKeptUntil } from '../../src/domain/deliveries/delivery.ts'
import { applyToDocuments, defineDocuments, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'
import { deliveryEndpoints } from './endpoints.ts'
import { applyToPending, deliverySequences, owedDeliveries, removeScheduled } from './pending.ts'
import { publicEvents } from './public-events.ts'
import { writesOfTurns } from './turns.ts'

const documents = defineDocuments(evolvedBy(deliveries), {
  table: 'deliveries',
  begun: (delivery) => (delivery.status === 'absent' ? undefined : delivery),
  columns: {
    deliveryId: 'text not null unique',
    tenantId: 'text not null',
    channel: 'text not null',
    event: 'text not null',
    licenseId: 'text not null',
    licenseRevision: 'int not null',
    status: 'text not null',
    nextAttemptAt: 'timestamptz',
    // Its place among the deliveries of its license to its endpoint: in_turn, asked or none.
    place: 'text not null',
  },
  computed: {
    // Of the webhook; empty for a mail.
    endpointId: ['text not null', (delivery) => delivery.endpointId ?? ''],
    tries: ['int not null', (delivery) => delivery.attempts.length],
    // What the sender of a mail told last: permanent, transient or complaint.
    bounce: ['text', (delivery) => delivery.bounces.at(-1)?.kind ?? null],
    // Until when the key that it carries is kept, since it was given up.
    keyUntil: ['timestamptz', (delivery) => keyKeptUntil(delivery)],
    // The last replay that made it due again.
    replayId: ['text', (delivery) => delivery.replayIds.at(-1) ?? null],
    // In turn, while one before it is pending. Whether it is held back then, the endpoint's settings say.
    // See writesOfTurns.
    waits: ['boolean not null', () => false],
    createdAt: ['timestamptz not null', (delivery) => delivery.scheduledAt],
  },
  constraints: [
    // An event goes to a receiver once: to each endpoint, and to the one customer of the license.
    'unique (license_id, license_revision, channel, endpoint_id)',
  ],
  fillFactor: 80,
  indexes: {
    deliveries_by_age: '(tenant_id, channel, created_at desc, delivery_id desc)',
    deliveries_due:
      '(channel, tenant_id, endpoint_id, waits, next_attempt_at) where next_attempt_at is not null',
    deliveries_in_turn: "(license_id, endpoint_id, license_revision) where place <> 'none'",
    deliveries_by_endpoint:
      "(tenant_id, endpoint_id, created_at desc, delivery_id desc) where channel = 'webhook'",
    deliveries_replayed: '(replay_id) where replay_id is not null',
    deliveries_bounced: '(tenant_id, created_at desc, delivery_id desc) where bounce is not null',
    deliveries_abandoned: "(tenant_id, created_at) where status = 'abandoned'",
  },
})

/** Every pending, scheduled or ended delivery. `next_attempt_at` is the schedule. */
export const deliveriesProjector: Projector = {
  name: 'deliveries',
  tables: [documents, owedDeliveries, deliverySequences, deliveryEndpoints, publicEvents],
  applyIndexes: ['deliveries_in_turn'],
  async apply(db, entries) {
    const [pending, changed] = await Promise.all([
      applyToPending(db, entries),
      applyToDocuments(documents, db, entries),
    ])
    return [...pending, ...changed, ...removeScheduled(entries), ...writesOfTurns(entries)]
  },
}
