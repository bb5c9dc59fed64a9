/** A backup cannot be written, or a file cannot be restored. The message says why and what to do. */
export class BackupError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'BackupError'
  }
}

/** The target is not empty. Nothing in it was changed. */
export class TargetNotEmpty extends Error {
  constructor(what: string) {
    super(
      `${what}. A restore never overwrites data: set KEYLEDGER_DATA_DIR to an empty data directory, or use an empty database and event store.`,
    )
    this.name = 'TargetNotEmpty'
  }
}
