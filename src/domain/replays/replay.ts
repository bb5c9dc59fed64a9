import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import { Refusal } from '../refusal.ts'
import type { ReplayEvent, ReplayPlace } from './events.ts'

type Requested = Extract<ReplayEvent, { type: 'ReplayRequested' }>['data']

/** Deliveries of a range of events to one endpoint, made again. */
export type KnownReplay = Omit<Requested, 'at'> & {
  status: 'running' | 'paused' | 'finished' | 'canceled'
  /** The last event whose delivery was made due again; null before the first. */
  through: ReplayPlace | null
  /** How many deliveries were made due again. */
  done: number
  requestedAt: string
  endedAt: string | null
  /** Why it was canceled; null while it is not. */
  canceledFor: 'requested' | 'endpoint_removed' | null
}

export type Replay = { status: 'absent' } | KnownReplay

export type ReplayCommand =
  | ({ type: 'RequestReplay' } & Requested)
  | {
      type: 'AdvanceReplay'
      /** The place that the step began after, so that two processes that took the same step record it once. */
      after: ReplayPlace | null
      /** The last event of the step; null when nothing was left. */
      through: ReplayPlace | null
      count: number
      /** Whether nothing follows. */
      isLast: boolean
      at: string
    }
  | { type: 'PauseReplay'; at: string }
  | { type: 'ResumeReplay'; at: string }
  | { type: 'CancelReplay'; reason: 'requested' | 'endpoint_removed'; at: string }

export const absentReplay: Replay = { status: 'absent' }

/**
 * Requesting a known replay, recording a recorded step, and pausing, resuming or canceling twice change nothing.
 * @throws Refusal `webhook_replay_not_found`, `webhook_replay_ended`
 */
export function decideReplay(replay: Replay, command: ReplayCommand): ReplayEvent[] {
  if (command.type === 'RequestReplay') {
    const { type: _, ...data } = command
    return replay.status === 'absent' ? [{ type: 'ReplayRequested', data }] : []
  }
  if (replay.status === 'absent') throw new Refusal('webhook_replay_not_found')
  const { at } = command
  switch (command.type) {
    case 'AdvanceReplay':
      return advanced(replay, command)
    case 'PauseReplay':
      refuseEnded(replay)
      return replay.status === 'running' ? [{ type: 'ReplayPaused', data: { at } }] : []
    case 'ResumeReplay':
      refuseEnded(replay)
      return replay.status === 'paused' ? [{ type: 'ReplayResumed', data: { at } }] : []
    case 'CancelReplay':
      if (replay.status === 'canceled') return []
      refuseEnded(replay)
      return [{ type: 'ReplayCanceled', data: { reason: command.reason, at } }]
  }
}

/** A step that ran while the replay was paused or canceled has made its deliveries due, so it counts. */
function advanced(
  replay: KnownReplay,
  { after, through, count, isLast, at }: Extract<ReplayCommand, { type: 'AdvanceReplay' }>,
): ReplayEvent[] {
  if (isEnded(replay) || !sameJson(after, replay.through)) return []
  return [
    ...(through === null ? [] : [{ type: 'ReplayAdvanced', data: { through, count, at } } as const]),
    ...(isLast && replay.status === 'running' ? [{ type: 'ReplayFinished', data: { at } } as const] : []),
  ]
}

const isEnded = ({ status }: KnownReplay): boolean => status === 'finished' || status === 'canceled'

function refuseEnded(replay: KnownReplay): void {
  if (isEnded(replay)) throw new Refusal('webhook_replay_ended')
}

/** Never refuses: what is recorded has happened. */
export function evolveReplay(replay: Replay, event: ReplayEvent): Replay {
  if (event.type === 'ReplayRequested') {
    const { at, ...requested } = event.data
    const fresh = { through: null, done: 0, requestedAt: at, endedAt: null, canceledFor: null }
    return { ...requested, ...fresh, status: 'running' }
  }
  if (replay.status === 'absent') return replay
  switch (event.type) {
    case 'ReplayAdvanced':
      return { ...replay, through: event.data.through, done: replay.done + event.data.count }
    case 'ReplayPaused':
      return { ...replay, status: 'paused' }
    case 'ReplayResumed':
      return { ...replay, status: 'running' }
    case 'ReplayFinished':
      return { ...replay, status: 'finished', endedAt: event.data.at }
    case 'ReplayCanceled':
      return { ...replay, status: 'canceled', endedAt: event.data.at, canceledFor: event.data.reason }
  }
}

/** The rules of replay streams. */
export const replays: Decider<Replay, ReplayCommand, 'replay'> = {
  category: 'replay',
  initial: absentReplay,
  decide: decideReplay,
  evolve: evolveReplay,
}
