import type { Ports } from '../ports.ts'

/** What every step of a sale may use. */
export type AdvancePorts = Ports<
  'db' | 'execute' | 'findProduct' | 'keyTypes' | 'ledger' | 'now' | 'randomBytes' | 'secrets'
>

/** What a sale needs on its way from a notification to its license. */
export type SalePorts = AdvancePorts & Ports<'deriveId' | 'newId' | 'subjects' | 'untilVisible'>
