import type { Pool } from 'pg'
import type { EventPlace } from './tree-store.ts'

/** Why nothing is signed. */
export type Suspension = { message: string; since: string }

/** Records why nothing can be signed, for the health page and `doctor`. One that goes on keeps its beginning. */
export async function recordSuspension(db: Pool, message: string, now: Date): Promise<void> {
  await db.query(
    `insert into notary.trouble (message, since) values ($1, $2)
     on conflict (only_row) do update set message = $1, since = $2 where trouble.message <> $1`,
    [message, now],
  )
}

export async function clearSuspension(db: Pool): Promise<void> {
  await db.query('delete from notary.trouble')
}

export async function readSuspension(db: Pool): Promise<Suspension | undefined> {
  const { rows } = await db.query<Suspension>('select message, since from notary.trouble')
  return rows[0]
}

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
