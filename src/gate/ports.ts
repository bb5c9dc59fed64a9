import type { Ports } from '../ports.ts'

/** What a gated operation may use, from the request for approval to its execution. */
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
