/** Both implementations, the one that signs and the one that apps check with, are Ed25519 as others know it. */
import { createPublicKey, randomBytes, sign, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keyHashOf, newLicenseKey } from '../../src/credentials/license-key.ts'
import { verifyBytes } from '../../src/sdk/javascript/ed25519.ts'
import { licenseKeyHash } from '../../src/sdk/javascript/index.ts'
import { keyPairOf } from '../../src/signing/signer.ts'

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'))

/** RFC 8032, section 7.1. */
const rfc8032 = [
  {
    name: 'TEST 1',
    seed: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    name: 'TEST 2',
    seed: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: '72',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  },
  {
    name: 'TEST 3',
    seed: 'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    publicKey: 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    message: 'af82',
    signature:
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  },
]

test.each(rfc8032)('RFC 8032 $name', ({ seed, publicKey, message, signature }) => {
  const pair = keyPairOf(Buffer.from(seed, 'hex').toString('base64'))
  expect(Buffer.from(pair.publicKey, 'base64').toString('hex')).toBe(publicKey)
  expect(sign(null, hex(message), pair.privateKey).toString('hex')).toBe(signature)
  expect(verifyBytes(hex(message), hex(signature), hex(publicKey))).toBe(true)
})

const { tests } = z
  .object({
    tests: z.array(
      z.object({ tcId: z.int(), pk: z.string(), msg: z.string(), sig: z.string(), result: z.string() }),
    ),
  })
  .parse(JSON.parse(readFileSync(new URL('wycheproof-ed25519.json', import.meta.url), 'utf8')))

describe('Wycheproof', () => {
  test.each(tests)('$tcId is $result', ({ pk, msg, sig, result }) => {
    expect(verifyBytes(hex(msg), hex(sig), hex(pk))).toBe(result === 'valid')
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), hex(pk)])
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
    expect(verify(null, hex(msg), key, hex(sig))).toBe(result === 'valid')
  })
})

describe('a license key is hashed as the server hashes it', () => {
  const made = Array.from({ length: 50 }, () => newLicenseKey('ACME', randomBytes).licenseKey)

  test.each([
    ['as it was made', (key: string) => key],
    ['in small letters, with spaces', (key: string) => ` ${key.toLowerCase().replaceAll('-', ' ')} `],
    ['with O for 0 and L for 1', (key: string) => key.replaceAll('0', 'O').replaceAll('1', 'l')],
    ['without hyphens, in wide letters', (key: string) => key.replaceAll('-', '').replaceAll('A', 'Ａ')],
  ])('%s', (_, typed) => {
    for (const key of made) expect(licenseKeyHash(typed(key))).toBe(keyHashOf(key))
  })

  test.each(['ABC-123', 'legacy key 0O1Il', '0123456789ABCDEF0123456789ABCDEF'])('%s of elsewhere', (key) =>
    expect(licenseKeyHash(key)).toBe(keyHashOf(key)),
  )
})
