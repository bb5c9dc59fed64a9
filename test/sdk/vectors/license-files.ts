import { type Case, keyset, licenseKeyHash, now, place, sha256, stranger } from './keys.ts'
import { claims, device, time } from './leases2.ts'
import { tokenOf } from './tokens.ts'

/** The nonce of the request that is to be answered. */
const nonce = '00112233445566778899aabbccddeeff'
const file = { ...claims, file: 'fil_01k9m3v5q7e8ra9c1d3f5g7h9j', nonce }
const hash = (what: string) => Buffer.from(sha256(what), 'hex').toString('base64url')

type Made = {
  name: string
  why: string
  claims: object
  reason?: string
  in?: typeof place
  by?: typeof stranger
}

const caseOf = ({ name, why, claims: signed, reason, ...signing }: Made): Case => ({
  name,
  valid: reason === undefined,
  ...(reason !== undefined && { reason }),
  why,
  token: tokenOf(signed, signing),
})

/** License files, as the device that asked reads them. */
export function licenseFiles() {
  const { nonce: _, ...unanswered } = file
  const { device: __, ...anybody } = file
  const other = { machine_hash: hash('other'), components: { board: hash('x'), disk: hash('y') } }
  const cases = [
    { name: 'answer', why: 'it was made for this machine, and has the nonce of its request', claims: file },
    {
      name: 'in its last second',
      why: 'the end itself is within the file',
      claims: { ...file, exp: time(now) },
    },
    {
      name: 'unknown claim',
      why: 'claims that a verifier does not know are ignored',
      claims: { ...file, color: 'blue' },
    },
    {
      name: 'another request',
      reason: 'not_asked',
      why: 'the nonce is that of another request',
      claims: { ...file, nonce: 'ffeeddccbbaa99887766554433221100' },
    },
    {
      name: 'another license key',
      reason: 'not_asked',
      why: 'the request was made with another key',
      claims: { ...file, license_key_hash: sha256('OTHER') },
    },
    {
      name: 'another machine',
      reason: 'another_device',
      why: 'no component is equal',
      claims: { ...file, device: other },
    },
    { name: 'no machine', reason: 'another_device', why: 'a file is for one machine', claims: anybody },
    { name: 'a lease', reason: 'malformed', why: 'it answers no request', claims: unanswered },
    { name: 'over', reason: 'over', why: 'now is after exp', claims: { ...file, exp: time(now - 1) } },
    {
      name: 'not yet',
      reason: 'not_yet',
      why: 'now is before nbf: the clock was set back',
      claims: { ...file, nbf: time(now + 1) },
    },
    {
      name: 'given back',
      reason: 'outdated',
      why: 'its serial is not above that of the file that was given back',
      claims: { ...file, serial: claims.serial - 1000 },
    },
    {
      name: 'another product',
      reason: 'bad_signature',
      why: 'signed for acme-player',
      claims: file,
      in: { ...place, productId: 'acme-player' },
    },
    {
      name: 'unknown key',
      reason: 'unknown_key',
      why: 'the kid is not in the keyset',
      claims: file,
      by: stranger,
    },
  ].map(caseOf)
  const releasedSerial = claims.serial - 1000
  return { keyset, now, ...place, licenseKeyHash, nonce, releasedSerial, device, cases }
}
