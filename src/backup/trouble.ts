/** A backup cannot be written, or a file cannot be restored. The message says why, and what to do. */
export class BackupTrouble extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'BackupTrouble'
  }
}

/** The target holds something already. Nothing of it was changed. */
export class TargetNotEmpty extends Error {
  constructor(what: string) {
    super(
      `${what}. A restore overwrites nothing: give an empty data directory with KEYLEDGER_DATA_DIR, or an empty database and event store.`,
    )
    this.name = 'TargetNotEmpty'
  }
}
