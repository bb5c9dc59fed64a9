import { checkRecipient } from '../backup/encryption.ts'
import { ConfigError } from '../config.ts'

/** @throws ConfigError when the recipient is not an age public key */
export function refuseNoRecipient(recipient: string): void {
  try {
    checkRecipient(recipient)
  } catch {
    throw new ConfigError(
      `${recipient} is not an age public key. Copy the whole key, which begins with age1.`,
    )
  }
}
