/** A tenant's public keys, base64, by `kid`: those whose signatures may be valid. */
export type KeysById = Record<string, string>

/** What apps verify with: the current and next signing keys, and those whose signatures are still valid. */
export const keysById = (keys: readonly { kid: string; publicKey: string; status?: string }[]): KeysById =>
  Object.fromEntries(
    keys.filter(({ status }) => status !== 'retired').map(({ kid, publicKey }) => [kid, publicKey]),
  )
