/**
 * Where a device keeps its journal: texts with rising revisions. Any number of processes may share one, since a text is only written
 * over the revision that it was made from.
 */
export type JournalStorage = {
  /** @returns the newest text and its revision; revision 0 before the first */
  read(): Stored | Promise<Stored>
  /**
   * Writes the revision after `revision`, completely or not at all, and lasting before it returns.
   * @returns false when another has written it meanwhile
   */
  write(text: string, revision: number): boolean | Promise<boolean>
}

export type Stored = { text: string | undefined; revision: number }

/** Remembers until the program ends. */
export function memoryJournal(): JournalStorage {
  let stored: Stored = { text: undefined, revision: 0 }
  return {
    read: () => stored,
    write(text, revision) {
      if (revision !== stored.revision) return false
      stored = { text, revision: revision + 1 }
      return true
    },
  }
}
