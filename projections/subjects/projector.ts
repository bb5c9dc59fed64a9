import { type Subject, subjects } from '../../src/domain/subjects/subject.ts'
import { applyToDocuments, type DocumentModel, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'

const model: DocumentModel<Subject> = {
  table: 'subjects',
  ...evolvedBy(subjects),
  columns: (subject) =>
    subject.status === 'present'
      ? {}
      : {
          tenant_id: subject.tenantId,
          subject_id: subject.subjectId,
          status: subject.status,
          begun_at: subject.begunAt,
        },
}

/** The people whose erasure has begun or finished. */
export const subjectsProjector: Projector = {
  name: 'subjects',
  tables: ['subjects'],
  ddl: `
    create table subjects (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      tenant_id text not null,
      subject_id text not null,
      status text not null,
      begun_at timestamptz not null
    );
    -- What a reaction goes on with; next to nothing stands in it for long.
    create index subjects_erasing on subjects (begun_at) where status = 'erasing'`,
  apply: (db, entries) => applyToDocuments(db, model, entries),
}
