import { isId } from '../credentials/id.ts'

/**
 * Whether the requester of a gated operation is a member rather than a token. Recorded requests hold either
 * id in `tokenId`; the prefix distinguishes them.
 */
export const isMember = (requesterId: string): boolean => isId('mem', requesterId)

/** The requester in the form of event metadata. */
export const actorOfRequester = (requesterId: string): string =>
  `${isMember(requesterId) ? 'member' : 'token'}:${requesterId}`
