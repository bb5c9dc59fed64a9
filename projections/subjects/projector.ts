import { folding } from '../../src/domain/recorded.ts'
import { evolveSubject, presentSubject, type Subject } from '../../src/domain/subject/subject.ts'
import { type DocumentModel, foldDocuments } from '../document.ts'
import type { Projector } from '../projector.ts'

const subjects: DocumentModel<Subject> = {
  table: 'subjects',
  category: 'subject',
  absent: presentSubject,
  fold: folding('subject', evolveSubject),
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

/** The people who are erased, or about to be. */
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
  fold: (db, entries) => foldDocuments(db, subjects, entries),
}
