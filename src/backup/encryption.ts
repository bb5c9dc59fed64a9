import { Decrypter, Encrypter } from 'age-encryption'
import { BackupError } from './errors.ts'

/**
 * The key that a backup is encrypted with; undefined for no encryption. A passphrase uses 2^workFactor steps of
 * scrypt; the default is age's.
 */
export type EncryptionKey =
  | { recipients: readonly string[] }
  | { passphrase: string; workFactor?: number }
  | undefined
/** The key that an encrypted backup is decrypted with. */
export type DecryptionKey = { identities: readonly string[] } | { passphrase: string } | undefined

type Bytes = ReadableStream<Uint8Array>

/** The first bytes of every encrypted file. */
const ageMagic = Buffer.from('age-encryption.org/v1')

/** Whether a file that begins with these bytes is encrypted with age. */
export const isEncrypted = (start: Uint8Array): boolean =>
  Buffer.from(start).subarray(0, ageMagic.length).equals(ageMagic)

/** How many bytes {@link isEncrypted} reads. */
export const magicLength: number = ageMagic.length

/** @throws Error for an invalid recipient */
export function checkRecipient(recipient: string): void {
  new Encrypter().addRecipient(recipient)
}

/** @throws Error for an invalid identity */
export function checkIdentity(identity: string): void {
  new Decrypter().addIdentity(identity)
}

/** Encrypts a stream. Without a key it returns the stream unchanged. */
export async function encrypted(plain: Bytes, key: EncryptionKey): Promise<Bytes> {
  if (key === undefined) return plain
  const encrypter = new Encrypter()
  if ('passphrase' in key) {
    encrypter.setPassphrase(key.passphrase)
    if (key.workFactor !== undefined) encrypter.setScryptWorkFactor(key.workFactor)
  } else for (const recipient of key.recipients) encrypter.addRecipient(recipient)
  return encrypter.encrypt(plain)
}

/**
 * Decrypts a stream.
 * @param name the file name for error messages
 * @throws BackupError when the key is missing or does not decrypt it
 */
export async function decrypted(sealed: Bytes, key: DecryptionKey, name: string): Promise<Bytes> {
  if (key === undefined) {
    throw new BackupError(
      `${name} is encrypted. Pass the key with --identity <file>, or the passphrase with --passphrase or --passphrase-file <file>.`,
    )
  }
  const decrypter = new Decrypter()
  if ('passphrase' in key) decrypter.addPassphrase(key.passphrase)
  else for (const identity of key.identities) decrypter.addIdentity(identity)
  try {
    return await decrypter.decrypt(sealed)
  } catch (error) {
    const what = 'passphrase' in key ? 'passphrase' : 'identity'
    throw new BackupError(
      `${name} cannot be decrypted with this ${what}. Use the one that it was encrypted for; if this is the right one, the file is damaged.`,
      error,
    )
  }
}
