import type { FastifyInstance } from 'fastify'

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
 * its stores; repeating the request is harmless.
 *
 * Fastify's own `handlerTimeout` does not work here: it ends when the request closes, which is as soon as its body
 * has been read.
 */
export function limitRequests(app: FastifyInstance, limitMs = defaultLimitMs): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { noRequestTimeout, slowBody, probe } = request.routeOptions.config
    if (!noRequestTimeout && !slowBody && !probe) {
      const timer = setTimeout(() => {
        if (!reply.sent) void reply.send(new OutOfTime())
      }, limitMs)
      for (const end of ['finish', 'close']) reply.raw.once(end, () => clearTimeout(timer))
    }
    done()
  })
}
