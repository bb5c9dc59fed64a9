import { listErasures } from '../../projections/subjects.ts'
import { type ErasurePorts, eraseSubject } from '../commands/customers/erasure.ts'
import { graceAt } from './confirmations.ts'
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

type Options = {
  /** How long the request that began an erasure has to finish it before its process manager does. */
  graceMs?: number
  onFailure: (failure: Failure) => void
}

/** Finishes erasures whose process died. */
export function resumeErasures(ports: ErasurePorts, { graceMs = 10_000, onFailure }: Options): Poller {
  return processOf<{ tenantId: string; subjectId: string }>(ports, onFailure, {
    name: 'erasures.resume',
    everyMs: 1000,
    due: (wanted) => listErasures(ports.db, graceAt(ports.now(), graceMs), wanted),
    idOf: ({ subjectId }) => subjectId,
    async advance({ tenantId, subjectId }) {
      await eraseSubject(ports, tenantId, subjectId, originOfProcess())
    },
  })
}
