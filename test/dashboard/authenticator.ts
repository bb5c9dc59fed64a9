import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { Pool } from 'pg'
import { addPasskey } from '../../src/access/passkeys.ts'

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest()

/** An authenticator without a counter, as passkeys that are synchronized between devices; it signs anything. */
export type Authenticator = {
  /** The form field `credential` that a browser sends for a challenge. */
  assertion(challenge: string): string
}

/** Registers a passkey for a member without a ceremony. */
export async function passkeyOf(
  db: Pool,
  memberId: string,
  { host = 'localhost', origin = 'http://localhost:8080' } = {},
): Promise<Authenticator> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  // COSE: {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}
  const cose = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ])
  const id = randomBytes(16).toString('base64url')
  const added = { credentialId: id, memberId, publicKey: cose, counter: 0, transports: [], name: 'A passkey' }
  if (!(await addPasskey(db, { ...added, createdAt: '2026-03-01T12:00:00.000Z' })))
    throw new Error('there is such a passkey already')
  return {
    assertion(challenge) {
      const client = Buffer.from(
        JSON.stringify({ type: 'webauthn.get', challenge, origin, crossOrigin: false }),
      )
      // Flags: user present and verified; the counter is 0.
      const data = Buffer.concat([sha256(host), Buffer.from('0500000000', 'hex')])
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      return JSON.stringify({
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
        },
      })
    },
  }
}
