import { trials } from '../../src/domain/trials/trial.ts'
import { defineDocuments, evolvedBy, projectorOf } from '../document.ts'

const documents = defineDocuments(evolvedBy(trials), {
  table: 'trials',
  begun: (trial) => (trial.status === 'unknown' ? undefined : trial),
  columns: {
    tenantId: 'text not null',
    productId: 'text not null',
  },
  computed: {
    shared: ['boolean not null', (trial) => trial.sharedAt !== null],
  },
  indexes: {
    trials_shared: '(tenant_id, product_id) where shared',
  },
})

/** The trial of each machine for a product. */
export const trialsProjector = projectorOf(documents)
