import { logins } from '../../src/domain/logins/login.ts'
import { defineDocuments, evolvedBy, projectorOf } from '../document.ts'

const documents = defineDocuments(evolvedBy(logins), {
  table: 'logins',
  begun: (login) => (login.status === 'pending' ? undefined : login),
  columns: {
    tenantId: 'text not null',
  },
})

export const loginsProjector = projectorOf(documents)
