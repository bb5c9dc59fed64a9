import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * For an answer that streams, a route that waits for a payment provider, and one that asks the read models alone,
     * whose statements have a limit: no other limit is set.
     */
    ownTime?: boolean
  }
}

/** Nobody who waits for a store waits longer than 10 seconds. */
const defaultLimitMs = 9500

/** A request has not come to its end in time. */
export class OutOfTime extends Error {}

/**
 * Answers 503 when a request has not come to its end in time. What it has begun goes on behind the answer, within the
 * limits of its stores; sending the request again is harmless.
 *
 * Fastify's own `handlerTimeout` is of no use here: it ends when the request closes, which is as soon as its body is read.
 */
export function limitRequests(app: FastifyInstance, limitMs = defaultLimitMs): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { ownTime, slowBody, probe } = request.routeOptions.config
    if (!ownTime && !slowBody && !probe) {
      const timer = setTimeout(() => {
        if (!reply.sent) void reply.send(new OutOfTime())
      }, limitMs)
      for (const end of ['finish', 'close']) reply.raw.once(end, () => clearTimeout(timer))
    }
    done()
  })
}
