import { type Member, members } from '../../src/domain/members/member.ts'
import { applyToDocuments, type DocumentModel, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'

const model: DocumentModel<Member> = {
  table: 'members',
  ...evolvedBy(members),
  columns: (member) =>
    member.status === 'absent'
      ? {}
      : {
          member_id: member.memberId,
          tenant_id: member.tenantId,
          subject_id: member.subjectId,
          status: member.status,
          role: member.role,
          created_at: member.createdAt,
        },
}

export const membersProjector: Projector = {
  name: 'members',
  tables: ['members'],
  ddl: `
    create table members (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      member_id text not null unique,
      tenant_id text not null,
      subject_id text not null,
      status text not null,
      role text not null,
      created_at timestamptz not null
    );
    create index members_of_tenant on members (tenant_id, created_at);
    create index members_by_subject on members (tenant_id, subject_id)`,
  apply: (db, entries) => applyToDocuments(db, model, entries),
}
