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

/** Commits concurrent writes together. A write is acknowledged only after its commit. */
export type GroupCommit = {
  /** Queues a write. It must check before it writes: its writes are kept unless the whole group fails. */
  submit<T>(work: () => T): Promise<T>
  flush(): void
}

/** Uses one transaction per event-loop tick, so that its writes share one flush to disk. */
export function createGroupCommit(database: DatabaseSync, hooks: Hooks): GroupCommit {
  let queued: Job[] = []

  function flush(): void {
    const jobs = queued
    if (jobs.length === 0) return
    queued = []
    try {
      database.exec('begin immediate')
      for (const job of jobs) job.run()
      database.exec('commit')
    } catch (error) {
      if (database.isTransaction) database.exec('rollback')
      hooks.onRollback()
      for (const job of jobs) job.fail(error)
      return
    }
    hooks.beforeAnswers()
    for (const job of jobs) job.acknowledge()
    hooks.onCommit()
  }

  function submit<T>(work: () => T): Promise<T> {
    if (!database.isOpen) return Promise.reject(new Error('the store is closed'))
    return new Promise((resolve, reject) => {
      if (queued.length === 0) setImmediate(flush)
      let result: T
      queued.push({
        run: () => {
          result = work()
        },
        acknowledge: () => resolve(result),
        fail: reject,
      })
    })
  }

  return { submit, flush }
}
