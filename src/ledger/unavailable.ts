/**
 * The event store, or the read models behind it, did not answer in time. Whether the command was recorded is not
 * known; sending it again is harmless.
 */
export class LedgerUnavailable extends Error {
  constructor(what: string, cause?: unknown) {
    super(what, { cause })
    this.name = 'LedgerUnavailable'
  }
}
