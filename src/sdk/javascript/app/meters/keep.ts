import { type Journal, journalFrom, textOf } from './journal.ts'
import type { JournalStorage } from './storage.ts'

/** Reads and changes a journal that other windows or processes may change as well. */
export type Keep = {
  read(): Promise<Journal>
  /**
   * Stores what a step makes of the newest journal; the step is run again when another process was first.
   * @returns the journal as it is stored, and what the step returned with it
   * @throws Error when the storage cannot be read or written
   */
  change<T>(step: (journal: Journal) => { journal: Journal; value: T }): Promise<T>
}

export function createKeep(storage: JournalStorage): Keep {
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(step: () => Promise<T>): Promise<T> => {
    const turn = last.then(step)
    last = turn.catch(() => undefined)
    return turn
  }
  return {
    read: async () => journalFrom((await storage.read()).text),
    change: (step) =>
      inTurn(async () => {
        for (;;) {
          const { text, revision } = await storage.read()
          const before = journalFrom(text)
          const { journal, value } = step(before)
          if (journal === before || (await storage.write(textOf(journal), revision))) return value
        }
      }),
  }
}
