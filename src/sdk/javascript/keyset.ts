/** The response of `/{tenantId}/.well-known/service-keys`: raw Ed25519 public keys in base64, by `kid`. */
export type Keyset = { keys: Readonly<Record<string, string>> }

/** The tenant and the product whose signature is expected. */
export type Place = { tenantId: string; productId: string }

/** The key with that id. */
export const keyIn = ({ keys }: Keyset, kid: string): string | undefined => ownIn(keys, kid)

/** What has that name. `Object.hasOwn` excludes inherited names such as `constructor`. */
export const ownIn = <T>(all: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(all, name) ? all[name] : undefined

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Unix seconds, in the only notation that a signed string uses. */
export const isSeconds = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** Text without the separator of signed strings. */
export const isField = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !value.includes('|')
