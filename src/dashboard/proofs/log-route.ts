import type { FastifyInstance } from 'fastify'
import { withTimeout } from '../../async/timeout.ts'
import { licenseStream } from '../../domain/streams.ts'
import { readAuditHistory } from '../../notary/audit/runs.ts'
import { type Covering, coveringCheckpoint, listCheckpoints } from '../../notary/covering.ts'
import { readNotaryLog } from '../../notary/signing-log.ts'
import { readSuspension } from '../../notary/suspension.ts'
import { listWitnesses } from '../../notary/witnesses.ts'
import type { Ports } from '../../ports.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { logProofView } from './log-view.ts'

const maxCheckpoints = 20
/** The page must load while the event store hangs. */
const timeLimitMs = 2000

/** The signed log of the installation: its name, its keys, its checkpoints, and the last audit. */
export function logProofPage(app: FastifyInstance, { ports, baseUrl, show }: PageContext): void {
  app.get('/system/proof', pageRoute({ page: 'usage:read' }), async (_request, reply) => {
    const { db } = ports
    const [log, checkpoints, suspension, audits, witnesses] = await Promise.all([
      withTimeout(readNotaryLog(ports), timeLimitMs).catch(() => undefined),
      listCheckpoints(db, maxCheckpoints),
      readSuspension(db),
      readAuditHistory(db),
      listWitnesses(db),
    ])
    return show(reply, {
      title: 'Provable history',
      nav: 'system',
      content: (view) =>
        logProofView(view, {
          log,
          checkpoints,
          isSuspended: suspension !== undefined,
          audits,
          witnesses,
          baseUrl,
        }),
    })
  })
}

/** Whether an event is in the signed log. */
export type EventProof =
  | { state: 'proved'; in: Covering }
  /** No checkpoint covers it yet. */
  | { state: 'waiting' }
  /** The event store does not answer in time. */
  | { state: 'unknown' }

/** The page must load while the event store hangs. */
const proofTimeLimitMs = 1000

/** Looks up which checkpoint covers an event of a license. */
export async function proofOfEvent(
  ports: Ports<'db' | 'ledger'>,
  licenseId: string,
  revision: number,
): Promise<EventProof> {
  const event = await withTimeout(
    ports.ledger.eventOf(licenseStream(licenseId), revision),
    proofTimeLimitMs,
  ).catch(() => undefined)
  if (!event) return { state: 'unknown' }
  const covering = await coveringCheckpoint(ports.db, event.position)
  return covering ? { state: 'proved', in: covering } : { state: 'waiting' }
}
