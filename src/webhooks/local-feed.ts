import { setTimeout } from 'node:timers/promises'
import type { DueAttempt } from '../../projections/deliveries/due.ts'
import { type DispatchFeed, type Handler, jobName } from './feed.ts'

type Consumer = { handler: Handler; free: number; idle: () => void }

/** A feed within one process, whose jobs end with it. */
export function createLocalFeed({ pauseMs = 1000 } = {}): DispatchFeed {
  let waiting: DueAttempt[] = []
  const known = new Set<string>()
  let consumer: Consumer | undefined

  function handOut(): void {
    while (consumer && consumer.free > 0) {
      const job = waiting.shift()
      if (!job) return
      consumer.free--
      void run(job, consumer)
    }
  }

  async function run(job: DueAttempt, by: Consumer): Promise<void> {
    try {
      await by.handler(job)
      known.delete(jobName(job))
    } catch {
      void setTimeout(pauseMs, undefined, { ref: false }).then(() => {
        waiting.push(job)
        handOut()
      })
    }
    by.free++
    by.idle()
    handOut()
  }

  return {
    async publish(jobs) {
      const fresh = jobs.filter((job) => !known.has(jobName(job)))
      for (const job of fresh) known.add(jobName(job))
      waiting = waiting.concat(fresh)
      handOut()
    },
    async consume(handler, atOnce, signal) {
      const { promise: ended, resolve } = Promise.withResolvers<void>()
      const own: Consumer = {
        handler,
        free: atOnce,
        idle: () => {
          if (signal.aborted && own.free === atOnce) resolve()
        },
      }
      const stop = () => {
        consumer = undefined
        own.idle()
      }
      if (signal.aborted) return
      signal.addEventListener('abort', stop, { once: true })
      consumer = own
      handOut()
      await ended
    },
  }
}
