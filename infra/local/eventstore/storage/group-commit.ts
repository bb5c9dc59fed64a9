import type { DatabaseSync } from 'node:sqlite'

type Job = {
  run(): void
  acknowledge(): void
  fail(error: unknown): void
}

type Hooks = {
  /** After the commit, before any answer. */
  beforeAnswers(): void
  onCommit(): void
  onRollback(): void
}

/**
 * Commits concurrent writes together, in one transaction per event-loop tick, so that they share one flush to
 * disk. A write is acknowledged only after its commit.
 */
export class GroupCommit {
  readonly #database: DatabaseSync
  readonly #hooks: Hooks
  #jobs: Job[] = []

  constructor(database: DatabaseSync, hooks: Hooks) {
    this.#database = database
    this.#hooks = hooks
  }

  /** Queues a write. It must check before it writes: its writes are kept unless the whole group fails. */
  submit<T>(work: () => T): Promise<T> {
    if (!this.#database.isOpen) return Promise.reject(new Error('the store is closed'))
    return new Promise((resolve, reject) => {
      if (this.#jobs.length === 0) setImmediate(() => this.flush())
      let result: T
      this.#jobs.push({
        run: () => {
          result = work()
        },
        acknowledge: () => resolve(result),
        fail: reject,
      })
    })
  }

  flush(): void {
    const jobs = this.#jobs
    if (jobs.length === 0) return
    this.#jobs = []
    try {
      this.#database.exec('begin immediate')
      for (const job of jobs) job.run()
      this.#database.exec('commit')
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback')
      this.#hooks.onRollback()
      for (const job of jobs) job.fail(error)
      return
    }
    this.#hooks.beforeAnswers()
    for (const job of jobs) job.acknowledge()
    this.#hooks.onCommit()
  }
}
