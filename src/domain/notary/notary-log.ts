import type { Decider } from '../decider.ts'
import { Refusal } from '../refusal.ts'
import type { NotaryEvent } from './events.ts'

/** In whose name checkpoints are signed, and by which keys. */
export type NotaryLog = {
  /** Undefined before the first start. */
  origin: string | undefined
  /** Public keys, the oldest first. Each signs every checkpoint. */
  keys: readonly string[]
  /** Logs that are not continued, the newest first, each with its last known checkpoint. */
  predecessors: readonly Predecessor[]
}

type Predecessor = { origin: string; checkpoint: string | null }

export type NotaryCommand =
  /** Starts the first log, or the one after a log that cannot be continued. */
  | { type: 'StartNotaryLog'; origin: string; key: string; lastCheckpoint: string | null; at: string }
  | { type: 'AddNotaryKey'; key: string; at: string }
  | { type: 'RetireNotaryKey'; key: string; at: string }

const noLog: NotaryLog = { origin: undefined, keys: [], predecessors: [] }

/**
 * What is already so changes nothing.
 * @throws Refusal `notary_origin_used`, `notary_not_started`, `notary_key_unknown`, `notary_key_is_last`
 */
function decide(log: NotaryLog, command: NotaryCommand): NotaryEvent[] {
  const { at } = command
  switch (command.type) {
    case 'StartNotaryLog':
      return start(log, command)
    case 'AddNotaryKey':
      if (log.origin === undefined) throw new Refusal('notary_not_started')
      return log.keys.includes(command.key)
        ? []
        : [{ type: 'NotaryKeyAdded', data: { key: command.key, at } }]
    case 'RetireNotaryKey':
      if (!log.keys.includes(command.key)) throw new Refusal('notary_key_unknown')
      if (log.keys.length === 1) throw new Refusal('notary_key_is_last')
      return [{ type: 'NotaryKeyRetired', data: { key: command.key, at } }]
  }
}

function start(log: NotaryLog, command: Extract<NotaryCommand, { type: 'StartNotaryLog' }>): NotaryEvent[] {
  const { origin, key, lastCheckpoint, at } = command
  if (log.origin === origin && log.keys.includes(key)) return []
  if (log.origin === origin || log.predecessors.some((earlier) => earlier.origin === origin))
    throw new Refusal('notary_origin_used')
  const predecessor = log.origin === undefined ? null : { origin: log.origin, checkpoint: lastCheckpoint }
  return [{ type: 'NotaryLogStarted', data: { origin, key, predecessor, at } }]
}

/** Never refuses: what is recorded has happened. */
function evolve(log: NotaryLog, event: NotaryEvent): NotaryLog {
  switch (event.type) {
    case 'NotaryLogStarted': {
      const { origin, key, predecessor } = event.data
      return {
        origin,
        keys: [key],
        predecessors: [...(predecessor ? [predecessor] : []), ...log.predecessors],
      }
    }
    case 'NotaryKeyAdded':
      return { ...log, keys: [...log.keys, event.data.key] }
    case 'NotaryKeyRetired':
      return { ...log, keys: log.keys.filter((key) => key !== event.data.key) }
  }
}

/** The rules of the stream `notary-log`, of which each ledger has one. */
export const notaryLogs: Decider<NotaryLog, NotaryCommand, 'notary'> = {
  category: 'notary',
  initial: noLog,
  decide,
  evolve,
}
