/**
 * Lets work on one stream take turns within this process, in the order of arrival. It decides nothing: the exact
 * revision does, between processes and within one. It only spares those who would lose the race the useless try.
 */
export function createTurns() {
  const last = new Map<string, Promise<unknown>>()

  return {
    /** @param work is told whether it had to wait, so that what it knew before may be out of date */
    async take<T>(name: string, work: (waited: boolean) => Promise<T>): Promise<T> {
      const before = last.get(name)
      const turn = (async () => {
        await before
        return work(before !== undefined)
      })()
      const settled = turn.catch(() => undefined)
      last.set(name, settled)
      try {
        return await turn
      } finally {
        if (last.get(name) === settled) last.delete(name)
      }
    },
  }
}

export type Turns = ReturnType<typeof createTurns>
