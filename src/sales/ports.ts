import type { Ports } from '../ports.ts'

/** What every step of a sale may use. */
export type AdvancePorts = Ports<
  'db' | 'execute' | 'findProduct' | 'keptKeys' | 'keyTypes' | 'ledger' | 'now' | 'randomBytes' | 'secrets'
>

/** What a replay uses: its steps, and one wait for the read models at the end. */
export type ReplayPorts = AdvancePorts & Ports<'untilVisible'>

/** What a sale needs on its way from a notification to its license. */
export type SalePorts = ReplayPorts & Ports<'deriveId' | 'newId' | 'subjects'>
