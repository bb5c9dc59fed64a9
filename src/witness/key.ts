import { type KeyObject, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../files/durable-file.ts'
import { isKeyName, privateKeyOf, publicBytesOf, signatureTypes } from '../transparency/note/keys.ts'
import { parseBase64 } from '../transparency/note/note.ts'
import { type VerifierKey, verifierKey } from '../transparency/note/verifier.ts'

/** Who a witness is: its name, and the key that it signs with. */
export type WitnessIdentity = { privateKey: KeyObject; key: VerifierKey }

/** The key cannot be used. The message says what to do. */
export class KeyUnusable extends Error {}

const seedBytes = 32
const prefix = 'PRIVATE+KEY+'

/**
 * Reads the key of a witness from its directory. At the first start it is made.
 * @throws KeyUnusable when it is of another name, damaged, or readable by other users
 */
export function openIdentity(directory: string, name: string): WitnessIdentity {
  if (!isKeyName(name))
    throw new KeyUnusable(
      `${name} is no name of a key. Use one without spaces and plus signs, such as example.com/witness.`,
    )
  const path = join(directory, 'witness.key')
  if (!existsSync(path)) replaceFile(path, `${keyText(name, randomBytes(seedBytes))}\n`)
  else if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
    throw new KeyUnusable(`Other users may read ${path}. Run: chmod 600 ${path}`)
  return parseKey(readFileSync(path, 'utf8').trim(), name, path)
}

/** The form in which Go's note package writes a private key. */
function keyText(name: string, seed: Uint8Array): string {
  const { key } = identityOf(name, seed)
  const bytes = Buffer.concat([Uint8Array.of(signatureTypes.cosignature), seed])
  return `${prefix}${name}+${Buffer.from(key.keyId).toString('hex')}+${bytes.toString('base64')}`
}

function identityOf(name: string, seed: Uint8Array): WitnessIdentity {
  const privateKey = privateKeyOf(seed)
  return { privateKey, key: verifierKey(name, signatureTypes.cosignature, publicBytesOf(privateKey)) }
}

function parseKey(text: string, name: string, path: string): WitnessIdentity {
  const [known = '', id = '', ...encoded] = text.slice(prefix.length).split('+')
  const bytes = parseBase64(encoded.join('+'))
  if (!text.startsWith(prefix) || bytes?.length !== seedBytes + 1 || bytes[0] !== signatureTypes.cosignature)
    throw new KeyUnusable(`${path} is not the key of a witness. Restore it from a backup.`)
  if (known !== name)
    throw new KeyUnusable(
      `${path} is the key of ${known}. Start the witness with that name, or give ${name} a directory of its own.`,
    )
  const identity = identityOf(name, bytes.subarray(1))
  if (Buffer.from(identity.key.keyId).toString('hex') !== id)
    throw new KeyUnusable(`${path} is damaged. Restore it from a backup.`)
  return identity
}
