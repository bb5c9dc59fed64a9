import { replays } from '../../src/domain/replays/replay.ts'
import { defineDocuments, evolvedBy, projectorOf } from '../document.ts'

const documents = defineDocuments(evolvedBy(replays), {
  table: 'replays',
  begun: (replay) => (replay.status === 'absent' ? undefined : replay),
  columns: {
    replayId: 'text not null unique',
    tenantId: 'text not null',
    status: 'text not null',
    requestedAt: 'timestamptz not null',
  },
  indexes: {
    replays_by_age: '(tenant_id, requested_at desc, replay_id desc)',
    replays_running: "(requested_at) where status = 'running'",
  },
})

/** Every replay of webhook deliveries. */
export const replaysProjector = projectorOf(documents)
