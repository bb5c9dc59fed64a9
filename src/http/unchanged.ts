import type { FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '../credentials/sha256.ts'

/** The ETag of an answer that depends on this text alone. */
export const etagOf = (text: string): string => `"${sha256(text).slice(0, 32)}"`

/** Names the version of a public answer and how long it may be passed on. @returns whether the caller has it: the answer is 304 */
export function hasVersion(
  request: FastifyRequest,
  reply: FastifyReply,
  { etag, seconds }: { etag: string; seconds: number },
): boolean {
  reply.header('cache-control', `public, max-age=${seconds}`).header('etag', etag)
  return request.headers['if-none-match']?.includes(etag) ?? false
}
