import { members } from '../../src/domain/members/member.ts'
import { defineDocuments, evolvedBy, projectorOf } from '../document.ts'

const documents = defineDocuments(evolvedBy(members), {
  table: 'members',
  begun: (member) => (member.status === 'absent' ? undefined : member),
  columns: {
    memberId: 'text not null unique',
    tenantId: 'text not null',
    subjectId: 'text not null',
    status: 'text not null',
    role: 'text not null',
    createdAt: 'timestamptz not null',
  },
  indexes: {
    members_of_tenant: '(tenant_id, created_at)',
    members_by_subject: '(tenant_id, subject_id)',
  },
})

export const membersProjector = projectorOf(documents)
