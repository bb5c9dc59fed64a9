import { withTimeout } from '../../async/timeout.ts'
import { licenseStream } from '../../domain/streams.ts'
import type { Covering } from '../../notary/covering.ts'
import { coveringCheckpoint } from '../../notary/covering.ts'
import type { Ports } from '../../ports.ts'

/** Whether an event is in the signed log. */
export type EventProof =
  | { state: 'proved'; in: Covering }
  /** No checkpoint covers it yet. */
  | { state: 'waiting' }
  /** The event store does not answer in time. */
  | { state: 'unknown' }

/** The page must load while the event store hangs. */
const timeLimitMs = 1000

/** Looks up which checkpoint covers an event of a license. */
export async function proofOfEvent(
  ports: Ports<'db' | 'ledger'>,
  licenseId: string,
  revision: number,
): Promise<EventProof> {
  const event = await withTimeout(
    ports.ledger.eventOf(licenseStream(licenseId), revision),
    timeLimitMs,
  ).catch(() => undefined)
  if (!event) return { state: 'unknown' }
  const covering = await coveringCheckpoint(ports.db, event.position)
  return covering ? { state: 'proved', in: covering } : { state: 'waiting' }
}
