import { listRunningReplays } from '../../projections/replays.ts'
import { advanceReplay } from '../commands/replays.ts'
import type { KnownReplay } from '../domain/replays/replay.ts'
import type { Ports } from '../ports.ts'
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

/** Works through every running replay, a few deliveries of each per poll. */
export const runReplays = (
  ports: Ports<'db' | 'deriveId' | 'execute' | 'ledger' | 'now'>,
  onFailure: (failure: Failure) => void,
): Poller =>
  processOf<KnownReplay>(ports, onFailure, {
    name: 'webhooks.replay',
    everyMs: 1000,
    lanes: 4,
    due: (wanted) => listRunningReplays(ports.db, wanted),
    idOf: ({ replayId }) => replayId,
    advance: (replay) => advanceReplay(ports, replay, originOfProcess()),
  })
