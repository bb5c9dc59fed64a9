/** As many as EventStoreDB remembers in its own cache, to the order of magnitude. */
const CAPACITY = 100_000

/**
 * The ids of the events written lately, for the best-effort idempotence of `any` and `stream_exists`. It starts
 * empty and forgets the oldest, as in EventStoreDB, so nothing may rely on it.
 */
export class RecentEventIds {
  readonly #revisions = new Map<string, number>()

  add(stream: string, id: string, revision: number): void {
    this.#revisions.set(key(stream, id), revision)
    if (this.#revisions.size <= CAPACITY) return
    const [oldest] = this.#revisions.keys()
    if (oldest !== undefined) this.#revisions.delete(oldest)
  }

  revision(stream: string, id: string): number | undefined {
    return this.#revisions.get(key(stream, id))
  }

  clear(): void {
    this.#revisions.clear()
  }
}

/** Ids have a fixed length, so no two pairs make the same key. */
function key(stream: string, id: string): string {
  return id + stream
}
