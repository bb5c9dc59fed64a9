/** What `/{tenantId}/.well-known/service-keys` answers: raw Ed25519 public keys in base64, by `kid`. */
export type Keyset = { keys: Readonly<Record<string, string>> }

/** Whose answers are expected. */
export type Place = { tenantId: string; productId: string }

/** The key of that id; none for a name that every object has. */
export const keyIn = ({ keys }: Keyset, kid: string): string | undefined =>
  Object.hasOwn(keys, kid) ? keys[kid] : undefined

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Unix seconds as they stand in signed strings: nothing that would be written differently. */
export const isSeconds = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** Text that cannot be taken for the end of its field in a signed string. */
export const isField = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !value.includes('|')
