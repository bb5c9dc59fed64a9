import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { callerOf } from '../../limits/address.ts'
import type { Limiter } from '../../limits/limiter.ts'
import { spend } from '../limits/rate-limit.ts'
import { etagOf, hasVersion } from '../unchanged.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A large public document: rate limited by address. */
    document?: boolean
  }
}

/** The path of the API reference and its assets. */
export const docsPath = '/docs'

/** Limits how often one address may read documents. Register routes after this. */
export function limitDocuments(app: FastifyInstance, limiter: Limiter | undefined): void {
  if (!limiter) return
  const admit = async ({ ip }: FastifyRequest): Promise<void> => spend(limiter, callerOf(ip))
  const limit: onRequestHookHandler = (request, _reply, done) => {
    admit(request).then(() => done(), done)
  }
  app.addHook('onRoute', (route) => {
    if (!route.config?.document && !route.url.startsWith(docsPath)) return
    route.onRequest = [limit, ...[route.onRequest ?? []].flat()]
  })
}

/**
 * Serves a document that does not change while the process runs. It is built on first use.
 * @returns a handler that answers 304 when the caller has the document
 */
export function cachedDocument(
  type: string,
  make: () => string,
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  let cached: { body: Buffer; etag: string } | undefined
  return (request, reply) => {
    if (!cached) {
      const body = make()
      cached = { body: Buffer.from(body), etag: etagOf(body) }
    }
    const { body, etag } = cached
    reply.type(type)
    return hasVersion(request, reply, { etag, seconds: 60 }) ? reply.code(304).send() : reply.send(body)
  }
}
