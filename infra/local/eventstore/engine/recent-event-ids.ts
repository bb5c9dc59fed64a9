/** About as many as EventStoreDB remembers. */
const generationSize = 50_000

/**
 * The ids of recent events, for the best-effort idempotence of `any` and `stream_exists`. As in EventStoreDB it
 * starts empty and forgets ids, so nothing may rely on it.
 */
export type RecentEventIds = {
  add(stream: string, id: string, revision: number): void
  revision(stream: string, id: string): number | undefined
  clear(): void
}

/** Drops a whole generation at a time, because deleting the oldest entries of a `Map` one by one is slow. */
export function createRecentEventIds(): RecentEventIds {
  let young = new Map<string, number>()
  let old = new Map<string, number>()

  return {
    add(stream, id, revision) {
      young.set(key(stream, id), revision)
      if (young.size < generationSize) return
      old = young
      young = new Map()
    },
    revision(stream, id) {
      const wanted = key(stream, id)
      return young.get(wanted) ?? old.get(wanted)
    },
    clear() {
      young.clear()
      old.clear()
    },
  }
}

/** Ids have a fixed length, so keys are unique. */
function key(stream: string, id: string): string {
  return id + stream
}
