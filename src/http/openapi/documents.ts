import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { sha256 } from '../../credentials/sha256.ts'
import { callerOf } from '../../limits/address.ts'
import type { Limiter } from '../../limits/limiter.ts'
import { rateLimited } from '../problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Read by anybody, and large: limited by address. */
    document?: boolean
  }
}

/** Under which the page to read the description on is served, with everything that it loads. */
export const docsPath = '/docs'

/** Limits how often one address may read documents. Routes are to be registered after this. */
export function limitDocuments(app: FastifyInstance, limiter: Limiter | undefined): void {
  if (!limiter) return
  const admit = async ({ ip }: FastifyRequest): Promise<void> => {
    const waitMs = await limiter.take(callerOf(ip))
    if (waitMs) throw rateLimited(waitMs)
  }
  const limit: onRequestHookHandler = (request, _reply, done) => {
    admit(request).then(() => done(), done)
  }
  app.addHook('onRoute', (route) => {
    if (!route.config?.document && !route.url.startsWith(docsPath)) return
    route.onRequest = [limit, ...[route.onRequest ?? []].flat()]
  })
}

/**
 * Serves a document that stays the same for as long as the process runs: it is made once, when it is first asked for.
 * @returns what answers with it, or with 304 when the caller has it already
 */
export function cachedDocument(
  type: string,
  make: () => string,
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  let cached: { body: Buffer; etag: string } | undefined
  return (request, reply) => {
    if (!cached) {
      const body = make()
      cached = { body: Buffer.from(body), etag: `"${sha256(body).slice(0, 32)}"` }
    }
    const { body, etag } = cached
    reply.header('etag', etag).header('cache-control', 'public, max-age=60').type(type)
    return request.headers['if-none-match']?.includes(etag) ? reply.code(304).send() : reply.send(body)
  }
}
