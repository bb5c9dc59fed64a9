import { subjects } from '../../src/domain/subjects/subject.ts'
import { defineDocuments, evolvedBy, projectorOf } from '../document.ts'

const documents = defineDocuments(evolvedBy(subjects), {
  table: 'subjects',
  begun: (subject) => (subject.status === 'present' ? undefined : subject),
  columns: {
    tenantId: 'text not null',
    subjectId: 'text not null',
    status: 'text not null',
    begunAt: 'timestamptz not null',
  },
  indexes: {
    // What a reaction goes on with; next to nothing stands in it for long.
    subjects_erasing: "(begun_at) where status = 'erasing'",
  },
})

/** The people whose erasure has begun or finished. */
export const subjectsProjector = projectorOf(documents)
