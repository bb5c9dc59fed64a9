/**
 * Runs one piece of work for each key at a time within this process, in the order of arrival. Commands use it by stream: it
 * decides nothing, since the exact revision does, between processes and within one. It only spares attempts that would
 * lose the race.
 */
export function createKeyedMutex() {
  const last = new Map<string, Promise<unknown>>()

  return {
    /** @param work is told whether it had to wait, so that what it knew before may be out of date */
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
