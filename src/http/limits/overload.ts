import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { unavailable } from '../problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * A probe of the process, which is answered under any load. A refusal could get the process killed when it is
     * needed most.
     */
    probe?: boolean
  }
}

/** How often the delay of the event loop is measured. */
const sampleMs = 1000

/**
 * Refuses with 503 while the event loop is late, until it has caught up.
 * @param maxDelayMs 0 never refuses
 */
export async function refuseWhenLate(app: FastifyInstance, maxDelayMs: number): Promise<void> {
  let from = Number.POSITIVE_INFINITY
  app.server.once('connection', () => {
    // The first sample may measure the start itself, and counts until the second one.
    from = performance.now() + 2 * sampleMs
  })
  await app.register(underPressure, {
    maxEventLoopDelay: maxDelayMs,
    sampleInterval: sampleMs,
    pressureHandler: async ({ routeOptions }) => {
      if (performance.now() < from || routeOptions.config.probe) return
      throw unavailable('the server is overloaded; retry')
    },
  })
}
