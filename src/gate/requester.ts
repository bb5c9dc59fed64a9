import { isId } from '../credentials/id.ts'

/**
 * Whoever asks for something dangerous is a program with its token or, in the dashboard, a member. Recorded requests
 * name either by its id where they say `tokenId`, and the two can be told apart.
 */
export const isMember = (requesterId: string): boolean => isId('mem', requesterId)

/** As the metadata of events name them. */
export const actorOfRequester = (requesterId: string): string =>
  `${isMember(requesterId) ? 'member' : 'token'}:${requesterId}`
