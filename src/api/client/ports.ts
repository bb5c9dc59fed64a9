import type { Ports } from '../../ports.ts'

/** What the routes of the client interface use. */
export type ClientPorts = Ports<
  | 'db'
  | 'execute'
  | 'findForInstanceValidate'
  | 'findInstall'
  | 'findInstance'
  | 'installs'
  | 'keyHashing'
  | 'machines'
  | 'newId'
  | 'now'
  | 'planCapacity'
  | 'randomBytes'
  | 'receipts'
  | 'refusals'
  | 'secrets'
  | 'signSettings'
  | 'signer'
  | 'telemetry'
  | 'usage'
>
