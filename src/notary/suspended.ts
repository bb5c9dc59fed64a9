import type { EventPlace } from './tree-store.ts'

/** The notary cannot sign without contradicting what it may have published. The message says what to do. */
export class NotarySuspended extends Error {
  static signedElsewhere(origin: string): NotarySuspended {
    return new NotarySuspended(
      `the log ${origin} was signed with another database, so checkpoints may be published that this one does not know. ` +
        'If you have the last one that was signed: keyledger notary resume --checkpoint FILE. ' +
        'Otherwise start another log: keyledger notary new-log',
    )
  }

  static keptIsNewer(place: string, kept: number, size: number): NotarySuspended {
    return new NotarySuspended(
      `the checkpoint in ${place} covers ${String(kept)} events, and the event store has ${String(size)}: an older copy of the stores ` +
        'was put back. Bring the others back, or start another log: keyledger notary new-log',
    )
  }

  static logLacks({ stream, revision }: Pick<EventPlace, 'stream' | 'revision'>): NotarySuspended {
    return new NotarySuspended(
      `the event store lacks the event ${stream} at revision ${String(revision)}, which is in the published tree: it is an ` +
        'older copy, or events were removed. Bring them back, or start another log: keyledger notary new-log',
    )
  }

  static contradicts(size: number): NotarySuspended {
    return new NotarySuspended(
      `a checkpoint of ${String(size)} events was signed, and the first ${String(size)} events of the log are other ones now: events ` +
        'were changed. keyledger audit verify names the first of them. To start another log: keyledger notary new-log',
    )
  }

  static keyMissing(key: string): NotarySuspended {
    return new NotarySuspended(
      `the private key of ${key} is not in the vault. Restore the vault, or start another log: keyledger notary new-log`,
    )
  }
}
