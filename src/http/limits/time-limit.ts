import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The route has its own limit: it streams, waits for a payment provider, or only queries read models, whose
     * statements have a limit.
     */
    noRequestTimeout?: boolean
  }
}

/** No request that waits for a store takes longer than 10 seconds. */
const defaultLimitMs = 9500

/** A request has not finished in time. */
export class OutOfTime extends Error {}

/**
 * Answers 503 when a request has not finished in time. Its work continues in the background, within the limits of
 * its stores; the answer says whether it is safe to repeat the request.
 *
 * Fastify's own `handlerTimeout` does not work here: it ends when the request closes, which is as soon as its body
 * has been read.
 */
export function limitRequests(app: FastifyInstance, limitMs = defaultLimitMs): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { noRequestTimeout, slowBody, probe } = request.routeOptions.config
    if (!noRequestTimeout && !slowBody && !probe) {
      const timer = setTimeout(() => {
        if (reply.sent) return
        reply.log = logAfterAnswer(request)
        void reply.send(new OutOfTime())
      }, limitMs)
      for (const end of ['finish', 'close']) reply.raw.once(end, () => clearTimeout(timer))
    }
    done()
  })
}

/**
 * The log of a reply that the time limit has answered. What its handler still returns or throws, Fastify would report as mistakes
 * of the handler: an answer of its own is no longer of use, and an error is logged as what ended the work in the background.
 */
function logAfterAnswer(request: FastifyRequest): FastifyBaseLogger {
  const silent = request.log.child({}, { level: 'silent' })
  return Object.assign(silent, {
    error: ({ err }: { err: unknown }) =>
      request.log.warn({ err, request_id: request.id }, 'request.failed_late'),
  })
}
