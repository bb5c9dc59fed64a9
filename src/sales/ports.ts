import type { Ports } from '../ports.ts'

/** What a sale needs on its way from a notification to its license. */
export type SalePorts = Ports<
  | 'db'
  | 'deriveId'
  | 'execute'
  | 'findProduct'
  | 'keyTypes'
  | 'ledger'
  | 'newId'
  | 'now'
  | 'randomBytes'
  | 'secrets'
  | 'subjects'
  | 'untilVisible'
>
