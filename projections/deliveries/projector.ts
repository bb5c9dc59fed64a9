import { type Delivery, deliveries, keyKeptUntil } from '../../src/domain/deliveries/delivery.ts'
import { applyToDocuments, type DocumentModel, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'
import { endpointsDdl } from './endpoints.ts'
import { applyToPending, pendingDdl, removeScheduled } from './pending.ts'
import { publicEventsDdl } from './public-events.ts'
import { writesOfTurns } from './turns.ts'

const model: DocumentModel<Delivery> = {
  table: 'deliveries',
  ...evolvedBy(deliveries),
  columns: (delivery) =>
    delivery.status === 'absent'
      ? {}
      : {
          delivery_id: delivery.deliveryId,
          tenant_id: delivery.tenantId,
          channel: delivery.channel,
          endpoint_id: delivery.endpointId ?? '',
          event: delivery.event,
          license_id: delivery.licenseId,
          license_revision: delivery.licenseRevision,
          status: delivery.status,
          tries: delivery.attempts.length,
          next_attempt_at: delivery.nextAttemptAt,
          key_until: keyKeptUntil(delivery),
          replay_id: delivery.replayIds.at(-1) ?? null,
          place: delivery.place,
          // See writesOfTurns.
          waits: false,
          created_at: delivery.scheduledAt,
        },
}

/** Every pending, scheduled or ended delivery. `next_attempt_at` is the schedule. */
export const deliveriesProjector: Projector = {
  name: 'deliveries',
  tables: ['deliveries', 'owed_deliveries', 'delivery_sequences', 'delivery_endpoints', 'public_events'],
  ddl: `
    create table deliveries (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      delivery_id text not null unique,
      tenant_id text not null,
      channel text not null,
      -- Of the webhook; empty for a mail.
      endpoint_id text not null,
      event text not null,
      license_id text not null,
      license_revision int not null,
      status text not null,
      tries int not null,
      next_attempt_at timestamptz,
      -- Until when the key that it carries is kept, since it was given up.
      key_until timestamptz,
      -- The last replay that made it due again.
      replay_id text,
      -- Its place among the deliveries of its license to its endpoint: in_turn, asked or none.
      place text not null,
      -- In turn, while one before it is pending. Whether it is held back then, the endpoint's settings say.
      waits boolean not null,
      created_at timestamptz not null,
      -- An event goes to a receiver once: to each endpoint, and to the one customer of the license.
      unique (license_id, license_revision, channel, endpoint_id)
    ) with (fillfactor = 80);
    create index deliveries_by_age on deliveries (tenant_id, channel, created_at desc, delivery_id desc);
    create index deliveries_due on deliveries (channel, tenant_id, endpoint_id, waits, next_attempt_at)
      where next_attempt_at is not null;
    create index deliveries_in_turn on deliveries (license_id, endpoint_id, license_revision)
      where place <> 'none';
    create index deliveries_by_endpoint on deliveries (tenant_id, endpoint_id, created_at desc, delivery_id desc)
      where channel = 'webhook';
    create index deliveries_replayed on deliveries (replay_id) where replay_id is not null;
    create index deliveries_abandoned on deliveries (tenant_id, created_at) where status = 'abandoned';
    ${pendingDdl};
    ${endpointsDdl};
    ${publicEventsDdl}`,
  applyIndexes: ['deliveries_in_turn'],
  async apply(db, entries) {
    const [pending, changed] = await Promise.all([
      applyToPending(db, entries),
      applyToDocuments(db, model, entries),
    ])
    return [...pending, ...changed, ...removeScheduled(entries), ...writesOfTurns(entries)]
  },
}
