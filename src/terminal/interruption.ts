import { outputCut } from './output.ts'

/** A signal that is aborted by Ctrl-C until `end` gives Ctrl-C its usual meaning back, and when nothing reads the output any more. */
export function untilInterrupted(): { signal: AbortSignal; end: () => void } {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop)
  return {
    signal: AbortSignal.any([stopping.signal, outputCut]),
    end() {
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, stop)
    },
  }
}
