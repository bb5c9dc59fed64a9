import type { Ports } from '../ports.ts'

/** The ports with which a gated operation runs. */
export type OperationPorts = Ports<
  | 'db'
  | 'deriveId'
  | 'execute'
  | 'idempotency'
  | 'keyTypes'
  | 'ledger'
  | 'mailing'
  | 'now'
  | 'planCapacity'
  | 'randomBytes'
  | 'refusals'
  | 'secrets'
  | 'subjects'
  | 'untilVisible'
>

/** The ports of a gated operation, from the request for approval to its execution. */
export type ApprovalPorts = OperationPorts & Ports<'checkTarget' | 'findProduct'>

/** What a request for approval is made and shown with. */
export type RequestPorts = Ports<
  'checkTarget' | 'db' | 'findProduct' | 'ledger' | 'now' | 'secrets' | 'subjects'
>
