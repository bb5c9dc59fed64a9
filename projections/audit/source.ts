import type { EventMetadata } from '../../src/domain/recorded.ts'

/** The columns of where an event came from: the address stays sealed under the key of this person. */
export const sourceIn = ({ from }: EventMetadata) => ({
  subject_id: from?.subjectId ?? null,
  address: from?.address ?? null,
})
