import type { ClientProduct, KnownClient } from '../../../projections/clients.ts'

/** The calls of the client interface, named by the last segment of their paths. */
export type ClientRoute =
  | 'activate'
  | 'validate'
  | 'heartbeat'
  | 'deactivate'
  | 'browser-activations'
  | 'poll'
  | 'consume'
  | 'uses'
  | 'allowance'
  | 'free-tier'
  | 'keyless'
  | 'config'
  | 'relay'

/** An app that sent its tenant's SDK key. */
export type Client = Pick<KnownClient, 'tenantStatus' | 'plan' | 'signing'> & {
  tenantId: string
  productId: string
  product: ClientProduct
}
