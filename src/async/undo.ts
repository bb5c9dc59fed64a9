/** What ends the parts that were started, in the reverse order. */
export type Undo = {
  push(step: () => unknown): void
  /**
   * Runs every step once, the last one first, also when one of them fails: a connection that stays open would keep the
   * process alive.
   * @throws what the first failing step threw, once all have run
   */
  run(): Promise<void>
}

export function createUndo(): Undo {
  const steps: (() => unknown)[] = []
  return {
    push: (step) => void steps.push(step),
    async run() {
      const failures: unknown[] = []
      for (const step of steps.splice(0).reverse()) {
        try {
          await step()
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}
