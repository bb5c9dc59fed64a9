import type { Ports } from '../ports.ts'

/** The ports of a gated operation, from the request for approval to its execution. */
export type ApprovalPorts = Ports<
  | 'checkTarget'
  | 'db'
  | 'execute'
  | 'findProduct'
  | 'idempotency'
  | 'keyTypes'
  | 'ledger'
  | 'mailing'
  | 'now'
  | 'planCapacity'
  | 'randomBytes'
  | 'secrets'
  | 'subjects'
  | 'untilVisible'
>
