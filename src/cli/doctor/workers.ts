import { z } from 'zod'
import type { Config } from '../../config.ts'
import { type Check, codeOf } from './check.ts'
import { urlOf } from './port.ts'

const Ready = z.object({
  parts: z.looseObject({ workers: z.object({ ok: z.boolean(), detail: z.string().optional() }).optional() }),
})

/** Reports the workers of the running server, and which have died. */
export const workersCheck = ({ host, port }: Pick<Config, 'host' | 'port'>): Check => ({
  name: 'workers',
  async run(signal) {
    const within = AbortSignal.any([signal, AbortSignal.timeout(5000)])
    try {
      const answer = await fetch(`${urlOf(host, port)}/readyz`, { signal: within, redirect: 'manual' })
      const { workers } = Ready.parse(await answer.json()).parts
      if (!workers) return { ok: true, required: false, detail: 'one process serves, or none' }
      const { ok, detail = '' } = workers
      const remedy = "look for worker.died in the server's log"
      return { ok, required: false, detail, ...(!ok && { remedy }) }
    } catch (error) {
      const detail =
        codeOf(error) === 'ECONNREFUSED' ? 'no server is running' : 'the server does not report it'
      return { ok: true, required: false, detail }
    }
  },
})
