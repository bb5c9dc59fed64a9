import type { EventMetadata } from '../../src/domain/recorded.ts'

/** The fields of where an event came from: the address stays sealed under the key of this person. */
export const sourceIn = ({ from }: EventMetadata) => ({
  subjectId: from?.subjectId ?? null,
  address: from?.address ?? null,
})
