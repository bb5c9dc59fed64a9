/** Why the event store could not handle a request. */
export type UnavailableReason =
  /** No node of the cluster accepts writes, or none answers. */
  | 'no_node'
  /** The connection failed or broke. */
  | 'unreachable'
  /** This process does not trust the node's certificate. */
  | 'certificate'
  /** Connected, but no answer within the time limit. */
  | 'no_answer'
  /** The node is starting, or it is not the leader. */
  | 'not_ready'
  /** The node does not know the user, or the password is wrong. */
  | 'unauthenticated'
  /** The user has no right to do this. */
  | 'denied'
  /** The log is not the one that the read models were built from. */
  | 'wrong_log'
  /** The node failed, or ended the call early. */
  | 'failed'

const synchronize = 'synchronize the clocks (timedatectl set-ntp true, or chrony)'

/**
 * The event store, or the read models behind it, did not answer in time. Whether the command was recorded is
 * not known; the command can safely be sent again.
 */
export class LedgerUnavailable extends Error {
  /** Undefined when the event store is not the cause. */
  readonly reason: UnavailableReason | undefined
  /**
   * How this machine's clock differs from the event store's, if that may be the cause. The message includes it.
   */
  readonly clocks: string | undefined

  constructor(what: string, cause?: unknown, reason?: UnavailableReason, clocks?: string) {
    super(clocks === undefined ? what : `${what}; ${clocks}: ${synchronize}`, { cause })
    this.name = 'LedgerUnavailable'
    this.reason = reason
    this.clocks = clocks
  }
}

/** The operator has frozen the ledger: nothing is recorded until it is unfrozen. Reads still work. */
export class LedgerFrozen extends LedgerUnavailable {
  constructor() {
    super('the ledger is frozen: it accepts no writes until the operator unfreezes it')
    this.name = 'LedgerFrozen'
  }
}
