import { hash } from 'node:crypto'
import { portals } from '../../src/domain/portal/portal.ts'
import { defineDocuments, evolvedBy, projectorOf } from '../document.ts'

const documents = defineDocuments(evolvedBy(portals), {
  table: 'portals',
  begun: ({ tenantId, updatedAt, ...portal }) =>
    tenantId === undefined || updatedAt === null ? undefined : { ...portal, tenantId, updatedAt },
  columns: {
    tenantId: 'text not null unique',
    settings: 'jsonb not null',
    updatedAt: 'timestamptz not null',
  },
  computed: {
    logoType: ['text', ({ logo }) => logo?.type ?? null],
    logoHash: ['text', ({ logo }) => (logo === null ? null : hash('sha256', logo.data, 'hex').slice(0, 16))],
  },
})

/** The portals of the vendors' customers. A page reads the columns; the picture itself is in the state alone. */
export const portalProjector = projectorOf(documents)
