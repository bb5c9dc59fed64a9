import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Tracing } from '../tracing/tracing.ts'

/**
 * Starts a trace for each request; all work that it causes belongs to it. Probes are not traced. Add this hook
 * before every other one.
 */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  const ends = new WeakMap<FastifyRequest, (status: number) => void>()
  app.addHook('onRequest', (request, _reply, done) => {
    const { url: route = 'unknown', config } = request.routeOptions
    if (config.probe) return done()
    const { id: requestId, method, headers } = request
    const { traceparent } = headers
    ends.set(request, tracing.beginRequest({ requestId, method, route, traceparent }, done))
  })
  app.addHook('onResponse', (request, reply, done) => {
    ends.get(request)?.(reply.statusCode)
    done()
  })
}
