/** A provider that cannot be reached, or does not answer as OpenID Connect requires. */
export class ProviderUnreachable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ProviderUnreachable'
  }
}

/** The answer of a provider does not fit, or is not the provider's. The reason is for the log and holds no personal data. */
export class NotProven extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'NotProven'
  }
}
