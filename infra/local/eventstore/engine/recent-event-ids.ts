/** About as many as EventStoreDB remembers. */
const generationSize = 50_000

/**
 * The ids of recent events, for the best-effort idempotence of `any` and `stream_exists`. As in EventStoreDB it
 * starts empty and forgets ids, so nothing may rely on it.
 *
 * It drops a whole generation at a time, because deleting the oldest entries of a `Map` one by one is slow.
 */
export class RecentEventIds {
  #young = new Map<string, number>()
  #old = new Map<string, number>()

  add(stream: string, id: string, revision: number): void {
    this.#young.set(key(stream, id), revision)
    if (this.#young.size < generationSize) return
    this.#old = this.#young
    this.#young = new Map()
  }

  revision(stream: string, id: string): number | undefined {
    const wanted = key(stream, id)
    return this.#young.get(wanted) ?? this.#old.get(wanted)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }
}

/** Ids have a fixed length, so keys are unique. */
function key(stream: string, id: string): string {
  return id + stream
}
