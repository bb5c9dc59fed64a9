import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../files/durable-file.ts'
import { ownStatement, type Place } from '../signing/own-statements.ts'
import { signOwn } from '../signing/paseto.ts'

/** The key cannot be used. The message says what to do. */
export class KeyUnusable extends Error {}

/** The key pair of a relay, which never leaves its directory. */
export type RelayKey = {
  /** The raw public key, base64url. */
  pk: string
  /** Signs a token of the kind `v4.public`. @param assertion for whom it is: signed, but not sent */
  signed: (claims: object, footer: object, assertion: string) => string
  /** Says something to the vendor of a product. */
  said: (kind: 'RELAY REQUEST' | 'RELAY RELEASE', place: Place, claims: object) => string
  /** Hashes what a device or a user is recognized by, so that it cannot be read from the files of the relay. */
  hashed: (mark: string) => string
}

const pathIn = (directory: string): string => join(directory, 'relay.key')

/** Opens the key of a relay, or makes it at the first enrollment. @throws KeyUnusable */
export function openOrMakeKey(directory: string): RelayKey {
  const path = pathIn(directory)
  if (existsSync(path)) return openKey(directory)
  const { privateKey } = generateKeyPairSync('ed25519')
  replaceFile(path, String(privateKey.export({ format: 'pem', type: 'pkcs8' })))
  return keyOf(privateKey)
}

/** @throws KeyUnusable when it is absent, damaged, or readable by other users */
export function openKey(directory: string): RelayKey {
  const path = pathIn(directory)
  return keyOf(readKey(path))
}

function readKey(path: string): KeyObject {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) throw new KeyUnusable(`${path} is missing. Enroll the relay again: keyledger relay enroll.`)
  if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0)
    throw new KeyUnusable(`Other users may read ${path}. Run: chmod 600 ${path}`)
  try {
    const key = createPrivateKey(readFileSync(path))
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch (error) {
    throw new KeyUnusable(`${path} cannot be read. Restore it, or enroll the relay again.`, { cause: error })
  }
  throw new KeyUnusable(`${path} is no key of a relay. Restore it, or enroll the relay again.`)
}

function keyOf(privateKey: KeyObject): RelayKey {
  const { x: pk = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' })
  const hashKey = Buffer.from(hkdfSync('sha256', seed, '', 'keyledger relay: marks of devices', 32))
  return {
    pk,
    signed: (claims, footer, assertion) => signOwn(claims, footer, assertion, privateKey),
    said: (kind, place, claims) => ownStatement(kind, place, claims, { publicKey: pk, privateKey }),
    hashed: (mark) => createHmac('sha256', hashKey).update(mark).digest('base64url'),
  }
}
