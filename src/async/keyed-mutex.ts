/**
 * Runs one piece of work per key at a time within this process, in order of arrival. Commands use it per stream
 * to avoid attempts that would lose a race. Correctness does not depend on it: the expected revision decides,
 * also between processes.
 */
export function createKeyedMutex() {
  const last = new Map<string, Promise<unknown>>()

  return {
    /** @param work gets whether it had to wait; if so, earlier reads may be out of date */
    async run<T>(name: string, work: (waited: boolean) => Promise<T>): Promise<T> {
      const before = last.get(name)
      const run = (async () => {
        await before
        return work(before !== undefined)
      })()
      const settled = run.catch(() => undefined)
      last.set(name, settled)
      try {
        return await run
      } finally {
        if (last.get(name) === settled) last.delete(name)
      }
    },
  }
}

export type KeyedMutex = ReturnType<typeof createKeyedMutex>
