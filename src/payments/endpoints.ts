/** An endpoint at a provider that has the address of a connection. */
type KnownEndpoint = {
  id: string
  /** What its notifications are signed with; null where the provider does not show it again. */
  secret: string | null
  /** It is enabled, and sends every event that is needed. */
  isComplete: boolean
  /** It has the name that keyledger gives to its own, where the provider stores one. */
  isNamedSo: boolean
}

/** What an endpoint is created with. */
type EndpointInput = {
  address: string
  events: readonly string[]
  /** Made by keyledger, for a provider that does not make one of its own. */
  secret: string
}

/**
 * The webhook endpoints of a vendor's account at a provider. Each call throws ProviderRefused for a key that may not, and
 * ProviderUnavailable.
 */
export type ProviderEndpoints = {
  /**
   * The endpoints with exactly this address.
   * @throws StoreWanted
   */
  find(address: string, events: readonly string[]): Promise<KnownEndpoint[]>
  /** @throws ProviderRefused `endpoint` where the provider does not take the address, or has no room for another */
  create(input: EndpointInput): Promise<{ id: string; secret: string }>
  remove(id: string): Promise<void>
}

/** What keyledger's endpoints are called at the providers. */
export const endpointName = 'keyledger'

export const hasAll = (has: readonly string[], wanted: readonly string[]): boolean =>
  has.includes('*') || wanted.every((event) => has.includes(event))
