import { monitorEventLoopDelay } from 'node:perf_hooks'
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

/** How often the delay of the event loop is judged. */
const sampleMs = 1000
/** How often it is measured. Each measurement wakes the process, so none is made while no requests come. */
const resolutionMs = 10

/**
 * Refuses with 503 while the event loop is late, until it has caught up. The first sample begins with the first request,
 * so it does not measure the start.
 * @param maxDelayMs how late, in the mean of a sample; 0 never refuses
 */
export function refuseWhenLate(app: FastifyInstance, maxDelayMs: number): void {
  if (maxDelayMs === 0) return
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  let sampling: NodeJS.Timeout | undefined
  let isCalled = false
  let isLate = false

  function judge(): void {
    // There is no mean when the loop stood still for the whole sample.
    isLate = isCalled && !(delays.mean / 1e6 - resolutionMs <= maxDelayMs)
    delays.reset()
    if (isCalled) sampling?.refresh()
    else rest()
    isCalled = false
  }

  function rest(): void {
    clearTimeout(sampling)
    sampling = undefined
    delays.disable()
  }

  app.addHook('onRequest', ({ routeOptions }, _reply, done) => {
    isCalled = true
    if (!sampling) {
      delays.enable()
      sampling = setTimeout(judge, sampleMs).unref()
    }
    if (isLate && !routeOptions.config.probe) done(unavailable('the server is overloaded; retry'))
    else done()
  })
  app.addHook('onClose', async () => rest())
}
