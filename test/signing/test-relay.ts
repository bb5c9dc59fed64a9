import { generateKeyPairSync, hash } from 'node:crypto'
import { readKey } from '../../src/credentials/license-key.ts'
import { ownStatement, type Place } from '../../src/signing/own-statements.ts'

type Head = { length: number; hash: string }
export type Minute = [minute: number, peak: number, taken: number, denied: number]

/** A relay with a key of its own and the chain of its takings. {@link TestRelay.copy} is a cloned machine. */
export type TestRelay = ReturnType<typeof testRelay>

type Chain = { counter: number; known: Head[]; head: Head; relayId: string | undefined; minutes: Minute[] }

export function testRelay(place: Place, licenseKey: string, { seats = 2, name = 'Farm' } = {}) {
  const pair = generateKeyPairSync('ed25519')
  const { x: publicKey = '' } = pair.publicKey.export({ format: 'jwk' })
  const keyHash = readKey(licenseKey)?.keyHash
  const keys = { publicKey, privateKey: pair.privateKey }
  const empty = { length: 0, hash: '0'.repeat(64) }

  function relayWith(chain: Chain) {
    const heads = () => [...chain.known, chain.head]
    return {
      publicKey,
      /** Seats are taken or given back: the chain goes on. */
      work(what: string) {
        const { length, hash: before } = chain.head
        chain.head = { length: length + 1, hash: hash('sha256', `${before} ${what}`) }
      },
      report(...minutes: Minute[]) {
        chain.minutes.push(...minutes)
      },
      /** @param own claims that are set in the request */
      request(own: object = {}): string {
        chain.counter++
        const claims = {
          nonce: hash('sha256', `${publicKey} ${chain.counter} ${chain.head.hash}`).slice(0, 24),
          counter: chain.counter,
          license_key_hash: keyHash,
          name,
          seats,
          iat: '2026-11-27T10:00:00Z',
          ...(chain.relayId !== undefined && { relay_id: chain.relayId }),
          heads: heads(),
          minutes: chain.minutes,
          ...own,
        }
        chain.known.push(chain.head)
        return ownStatement('RELAY REQUEST', place, claims, keys)
      },
      /** The answer to the last request has arrived. */
      take(relayId: string) {
        chain.relayId = relayId
        chain.known = [chain.head]
        chain.minutes = []
      },
      release(): string {
        const claims = { relay_id: chain.relayId, heads: heads(), minutes: chain.minutes }
        return ownStatement('RELAY RELEASE', place, claims, keys)
      },
      copy: () => relayWith(structuredClone(chain)),
    }
  }
  return relayWith({ counter: 0, known: [], head: empty, relayId: undefined, minutes: [] })
}
